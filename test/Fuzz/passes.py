# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid modules through the passes: each is compiled.

The modules are those of fuzz.py. A pipeline must accept every one and leave IR
that verifies and prints; a crash, a hang or an error is a failure.

  passes.py FOLDER PIPELINE... [--count=N] [--seed=N]

PIPELINE is the text inside builtin.module(...).
"""

import argparse
import concurrent.futures
import subprocess
import sys
from pathlib import Path

import fuzz
from moe_cases import JOBS, Program

SECONDS = 60
BATCH = 10


def run(pipeline, cases, folder):
    """[(name, complaint)] of the cases, which run alone when they fail together."""
    program = Program()
    for name, build in cases:
        program.begin_case()
        build(program, name)
    file = folder / f"{cases[0][0]}-{len(cases)}.mlir"
    file.write_text(program.module())
    command = ["moe-opt", f"--pass-pipeline=builtin.module({pipeline})", str(file),
               "-o", "/dev/null"]
    try:
        result = subprocess.run(command, capture_output=True, timeout=SECONDS,
                                check=False)
        status = result.returncode
        text = result.stderr.decode(errors="replace").strip()[:600]
    except subprocess.TimeoutExpired:
        status, text = None, f"no end after {SECONDS} s"
    if status == 0:
        file.unlink()
        return []
    if len(cases) == 1:
        return [(cases[0][0], f"exit status {status}: {text}\n  see {file}")]
    alone = [found for case in cases for found in run(pipeline, [case], folder)]
    if alone:
        file.unlink()
        return alone
    return [(f"batch of {cases[0][0]}", f"exit status {status}: {text}\n  see {file}")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("pipelines", nargs="+")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}")
    cases = fuzz.all_cases(options.count, options.seed)
    batches = [cases[i:i + BATCH] for i in range(0, len(cases), BATCH)]
    failed = 0
    for pipeline in options.pipelines:
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            found = [item for batch in pool.map(
                lambda b: run(pipeline, b, options.folder), batches) for item in batch]
        for name, text in found:
            print(f"FAILED {name} in {pipeline}: {text}")
        print(f"passes: {len(cases)} cases, {len(found)} failed in {pipeline}")
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
