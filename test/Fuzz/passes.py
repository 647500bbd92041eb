# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid modules through the passes: each is compiled.

The modules are those of fuzz.py. A pipeline must accept every one and leave IR
that verifies and prints; a crash, a hang or an error is a failure.

  passes.py FOLDER PIPELINE... [--count=N] [--seed=N] [--ptxas=PATH]

PIPELINE is the text inside builtin.module(...). With --ptxas it must end in PTX
for sm_90a, which NVIDIA's assembler must accept.
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


def complaint(command):
    """What is wrong with a run of a tool, or None."""
    try:
        result = subprocess.run(command, capture_output=True, timeout=SECONDS,
                                check=False)
    except subprocess.TimeoutExpired:
        return f"{command[0]}: no end after {SECONDS} s"
    text = result.stderr.decode(errors="replace").strip()[:600]
    if result.returncode != 0:
        return f"{command[0]}: exit status {result.returncode}: {text}"
    return None


def compile_module(file, pipeline, ptxas):
    """What is wrong with the module in `file`, or None."""
    command = ["moe-opt", f"--pass-pipeline=builtin.module({pipeline})", str(file)]
    if not ptxas:
        return complaint([*command, "-o", "/dev/null"])
    ptx = file.with_suffix(".ptx")
    wrong = complaint([*command, "--emit=ptx", "-o", str(ptx)])
    wrong = wrong or complaint([ptxas, "-arch=sm_90a", str(ptx), "-o", "/dev/null"])
    if not wrong:
        ptx.unlink()
    return wrong


def run(pipeline, cases, folder, ptxas):
    """[(name, complaint)] of the cases, which run alone when they fail together."""
    program = Program()
    for name, build in cases:
        program.begin_case()
        build(program, name)
    file = folder / f"{cases[0][0]}-{len(cases)}.mlir"
    file.write_text(program.module())
    wrong = compile_module(file, pipeline, ptxas)
    if not wrong:
        file.unlink()
        return []
    if len(cases) == 1:
        return [(cases[0][0], f"{wrong}\n  see {file}")]
    alone = [found for case in cases for found in run(pipeline, [case], folder, ptxas)]
    if alone:
        file.unlink()
        return alone
    return [(f"batch of {cases[0][0]}", f"{wrong}\n  see {file}")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("pipelines", nargs="+")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--ptxas", default="")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}")
    cases = fuzz.all_cases(options.count, options.seed)
    batches = [cases[i:i + BATCH] for i in range(0, len(cases), BATCH)]
    failed = 0
    for pipeline in options.pipelines:
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            found = [item for batch in pool.map(
                lambda b: run(pipeline, b, options.folder, options.ptxas),
                batches) for item in batch]
        for name, text in found:
            print(f"FAILED {name} in {pipeline}: {text}")
        print(f"passes: {len(cases)} cases, {len(found)} failed in {pipeline}")
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
