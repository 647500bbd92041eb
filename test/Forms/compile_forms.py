# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the forms for every chip and has NVIDIA's assembler judge the kernels.

  compile_forms.py FOLDER --ptxas=PATH [--suites=gemms,ops,..] [--every=N] [--archs=A,B]

A refusal, a spill, a stack frame or a warning is a failure. --every=N takes the N-th
part of the forms. What fails stays in FOLDER.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

import form_suites
from form_program import FormProgram

SECONDS = 120
BAD_LINE = re.compile(r"C75\d\d|warning|error", re.I)
MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill")


def run(command):
    """(what it printed, what is wrong or None)"""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                              timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return "", f"{command[0]}: no end after {SECONDS} s"
    text = done.stdout + done.stderr
    return text, None if done.returncode == 0 else text.strip()[:600]


def assemble(ptxas, ptx, arch):
    """(number of kernels, what is wrong or None)"""
    kernels = ptx.read_text().count(".entry ")
    if not kernels:
        return 0, None
    text, wrong = run([ptxas, f"-arch={arch}", "-O3", "-v", ptx, "-o", "/dev/null"])
    if wrong:
        return kernels, wrong
    name = "?"
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '([^']+)'", line)
        name = entry.group(1) if entry else name
        memory = MEMORY.search(line)
        if BAD_LINE.search(line) or memory and any(int(n) for n in memory.groups()):
            return kernels, f"{name}: {line.strip()}"
    return kernels, None


def compile_batch(batch, arch, tokens, folder, ptxas):
    """(kernels, [(names, complaint)]); a batch that fails is tried case by case."""
    program = FormProgram().add_cases(batch.cases)
    stem = folder / f"{batch.name}-t{tokens}-{arch}-{len(batch.cases)}"
    source, ptx = stem.with_suffix(".mlir"), stem.with_suffix(".ptx")
    source.write_text(program.module())
    _, wrong = run(["moe-opt", source, f"--moe-to-ptx=arch={arch} tokens={tokens}",
                    "--emit=ptx", "-o", ptx])
    kernels = 0
    if not wrong:
        kernels, wrong = assemble(ptxas, ptx, arch)
    if not wrong:
        source.unlink()
        ptx.unlink()
        return kernels, []
    if len(batch.cases) == 1:
        return kernels, [(batch.cases[0][0], f"{arch}: {wrong}\n  see {source}")]
    kernels, found = 0, []
    for i, case in enumerate(batch.cases):
        alone = form_suites.Batch(f"{batch.name}.{i}", [case], (tokens,), (arch,))
        count, complaints = compile_batch(alone, arch, tokens, folder, ptxas)
        kernels += count
        found += complaints
    return kernels, found


def thin(batches, every):
    """Every `every`-th case of the batches, counted through all of them."""
    count = 0
    for batch in batches:
        kept = [case for i, case in enumerate(batch.cases, count) if i % every == 0]
        count += len(batch.cases)
        if kept:
            yield form_suites.Batch(batch.name, kept, batch.tokens, batch.archs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--suites", default="gemms,ops,layers,schedules")
    parser.add_argument("--archs", default=",".join(form_suites.ALL_CHIPS))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for suite in args.suites.split(","):
        batches = list(thin(form_suites.SUITES[suite](), args.every))
        jobs = [(batch, arch, tokens, args.folder, args.ptxas) for batch in batches
                for arch in args.archs.split(",") if arch in batch.archs
                for tokens in batch.tokens]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda job: compile_batch(*job), jobs))
        complaints = [c for _, found in results for c in found]
        for name, text in complaints:
            print(f"FAILED {name}: {text}")
        failed += len(complaints)
        print(f"{suite}: {sum(len(job[0].cases) for job in jobs)} compilations, "
              f"{sum(count for count, _ in results)} kernels, {len(complaints)} failed",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
