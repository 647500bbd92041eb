# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Malformed modules: every tool must end each with a located error.

Most entries edit Inputs/valid.mlir; the rest are texts or bytes of their own.
Ending well means: `FILE:LINE:COL: error:` with the words of the entry on stderr,
an exit status that is neither 0 nor a signal, within ten seconds. What does not
verify goes through moe-opt and moe-run; what verifies, through the pipeline or the
device that must refuse it.

  malformed.py FOLDER [--show]    FOLDER receives the modules; --show prints the
                                  first error of each
"""

import concurrent.futures
import re
import subprocess
import sys
from pathlib import Path

from malformed_table import (ATTRIBUTES, CONSTRAINTS, REFUSED, SYNTAX, TEXTS,
                             TYPES)

HERE = Path(__file__).parent
SECONDS = 10
JOBS = 2
# What a module that does not verify goes through.
EVERY_TOOL = (["moe-opt"],
              ["moe-run", "--device=reference", "--function=layer", "--tokens=3"])
LOCATED = r"^\S*?{file}:\d+:\d+: error: (.*)$"


def edited(text, edits):
    """The text with each (old, new) applied everywhere; old must occur."""
    for old, new in edits:
        if old not in text:
            raise ValueError(f"valid.mlir does not hold {old!r}")
        text = text.replace(old, new)
    return text


def bytecode(text, folder):
    """The module as MLIR bytecode."""
    source = folder / "valid.mlir"
    source.write_text(text)
    return subprocess.run(["moe-opt", "--emit-bytecode", str(source)],
                          check=True, capture_output=True).stdout


def entries(folder):
    """All (name, content, words, commands that must refuse it); an empty list
    stands for every tool."""
    valid = (HERE / "Inputs" / "valid.mlir").read_text()
    for table in (CONSTRAINTS, ATTRIBUTES, TYPES, SYNTAX):
        for name, words, *edits in table:
            yield name, edited(valid, edits).encode("utf-8", "surrogateescape"), words, []
    # A text that ends anywhere inside an op, never between two functions.
    for part in range(1, 13):
        cut = len(valid) * part // 13
        yield f"cut-{part}", valid[:cut].rstrip("\n}").encode(), "", []
    code = bytecode(valid, folder)
    for part in range(1, 7):
        yield f"bytecode-cut-{part}", code[:len(code) * part // 7], "", []
    yield "bytecode-garbage", b"ML\xefR" + bytes(range(256)), "bytecode", []
    yield "bytecode-tail", code + b"tail", "", []
    for name, words, text in TEXTS:
        yield name, text.encode(), words, []
    for name, words, command, text in REFUSED:
        yield name, text.encode(), words, [command]


def complaint(command, file, words):
    """(what is wrong or None, first error) of one run."""
    try:
        run = subprocess.run(command, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS} s", ""
    errors = run.stderr.decode(errors="replace")
    found = re.findall(LOCATED.format(file=re.escape(file.name)), errors, re.M)
    first = found[0] if found else errors.strip()[:300]
    if run.returncode < 0 or run.returncode >= 128:
        return f"ended by signal {abs(run.returncode)}", first
    if run.returncode == 0:
        return "exit status 0", first
    if not found:
        return "no located error", first
    if words and not any(words in line for line in found):
        return f"no error with the words {words!r}", first
    return None, first


def check(entry, folder):
    """[(tool, complaint)] and the first error of an entry."""
    name, content, words, commands = entry
    suffix = ".mlirbc" if content[:4] == b"ML\xefR" else ".mlir"
    file = folder / (name + suffix)
    file.write_bytes(content)
    wrong, first = [], ""
    for command in commands or EVERY_TOOL:
        bad, first = complaint([*command, str(file)], file, words)
        if bad:
            wrong.append((" ".join(command), f"{bad}: {first}"))
    return wrong, first


def main(target, *options):
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    table = list(entries(folder))
    names = [entry[0] for entry in table]
    assert len(set(names)) == len(names), "names must differ"
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(lambda entry: check(entry, folder), table))
    failed = 0
    for name, (wrong, first) in zip(names, results):
        if "--show" in options:
            print(f"{name}: {first}")
        for tool, text in wrong:
            print(f"FAILED {name} in {tool}: {text}")
        failed += bool(wrong)
    print(f"malformed: {len(table)} modules, {failed} ended badly")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
