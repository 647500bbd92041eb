# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run-doc.py ROOT FILE.md...: does what the pages say, and compares.

Fences in a page, by the words after the three backticks:

  sh            commands; all of a page run in one shell, from the root, and
                stop at the first failure
  sh no-run     shown only
  text          what the commands right before it print: its lines are in their
                output, in this order; `...` stands for any text, a line `...`
                for any lines
  text no-check shown only
  LANG PATH     an excerpt of the file PATH, line by line
  LANG, nothing shown only
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Fence:
    line: int
    words: list
    body: list


def fences(text):
    found, current = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if current:
                found.append(current)
                current = None
            else:
                current = Fence(number, line[3:].split(), [])
        elif current:
            current.body.append(line)
    if current:
        sys.exit(f"line {current.line}: the fence is not closed")
    return found


def run(root, commands):
    """The output of each fence of commands, until the first failure."""
    script = "exec 2>&1\nset -euo pipefail\n"
    for index, fence in enumerate(commands):
        script += f"echo '@@{index}@@'\n" + "\n".join(fence.body) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        # python3 is the python of the tests, which has numpy.
        os.symlink(sys.executable, os.path.join(folder, "python3"))
        path = folder + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["bash", "-c", script], cwd=root, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, PATH=path))
    outputs = re.split(r"^@@\d+@@\n", done.stdout, flags=re.M)[1:]
    return done.returncode, outputs


def missing_line(expected, output):
    """The first expected line that the output lacks, or None."""
    lines = iter(output.splitlines())
    for want in expected:
        if want.strip() in ("", "..."):
            continue
        pattern = ".*".join(re.escape(part) for part in want.strip().split("..."))
        if not any(re.fullmatch(pattern, line.strip()) for line in lines):
            return want
    return None


def is_excerpt(body, path):
    """Whether the lines of the body follow each other in the file."""
    lines = path.read_text().splitlines()
    return any(lines[i:i + len(body)] == body for i in range(len(lines)))


def excerpt(output):
    """The first lines of an output, for a message."""
    return "\n".join(line[:200] for line in output.splitlines()[:40])


def check(root, page):
    errors, commands, expected = [], [], []
    for fence in fences(page.read_text()):
        words = fence.words
        if words == ["sh"]:
            commands.append(fence)
        elif words == ["text"]:
            if not commands:
                errors.append(f"{page}:{fence.line}: no commands before this output")
            expected.append((len(commands) - 1, fence))
        elif words in (["sh", "no-run"], ["text", "no-check"]) or len(words) < 2:
            continue
        elif len(words) == 2 and (root / words[1]).is_file():
            if not is_excerpt(fence.body, root / words[1]):
                errors.append(f"{page}:{fence.line}: not an excerpt of {words[1]}")
        else:
            errors.append(f"{page}:{fence.line}: unknown fence {' '.join(words)!r}")
    status, outputs = run(root, commands)
    if status != 0:
        fence = commands[len(outputs) - 1]
        errors.append(f"{page}:{fence.line}: exit status {status}\n"
                      + excerpt(outputs[-1]))
    for index, fence in expected:
        if 0 <= index < len(outputs):
            line = missing_line(fence.body, outputs[index])
            if line is not None:
                errors.append(f"{page}:{fence.line}: the output lacks\n  {line}\n"
                              f"it is\n{excerpt(outputs[index])}")
    print(f"{page}: {len(commands)} commands, {len(expected)} outputs, "
          f"{len(errors)} errors")
    return errors


def main():
    root = Path(sys.argv[1])
    errors = [error for page in sys.argv[2:] for error in check(root, Path(page))]
    sys.exit("\n".join(errors) if errors else 0)


main()
