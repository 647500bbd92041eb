# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembles PTX files and fails on what would make a kernel slow or wrong.

Every kernel has to assemble without a spill, without a stack frame and without
a C75xx message (serialised wgmma, ignored setmaxnreg). Prints a line per
kernel with its registers.
"""

import argparse
import re
import subprocess
import sys
import tempfile


def assemble(ptxas, path):
    """(lines to print, problems) for one file."""
    text = open(path).read()
    arch = re.search(r"^\.target\s+(\w+)", text, re.M)
    if not arch:
        return [], [f"{path}: no .target"]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        done = subprocess.run([ptxas, f"-arch={arch.group(1)}", "-O3", "-v", path, "-o", cubin.name],
                              capture_output=True, text=True)
    lines, problems, kernel = [], [], "?"
    if done.returncode:
        problems.append(f"{path}: ptxas failed\n{done.stderr}")
    for line in done.stderr.splitlines():
        entry = re.search(r"Compiling entry function '([^']+)'", line)
        kernel = entry.group(1) if entry else kernel
        if re.search(r"\bC75\d\d\b", line):
            problems.append(f"{kernel}: {line.strip()}")
        memory = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if memory and any(int(n) for n in memory.groups()):
            problems.append(f"{kernel}: {line.strip()}")
        used = re.search(r"Used (\d+) registers", line)
        if used:
            lines.append(f"{kernel} {arch.group(1)} {used.group(1)} registers")
    if not lines and not problems:
        problems.append(f"{path}: no kernel")
    return lines, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    failed = False
    for path in args.files:
        lines, problems = assemble(args.ptxas, path)
        print("\n".join(lines))
        for problem in problems:
            failed = True
            print(f"problem: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
