# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares random valid functions, the ones of test/Fuzz, for run_cases.py.

Several cases share one function, with their own hostile integers as inputs.
"""

import argparse
import json
import pathlib
import shutil
import sys

import numpy as np

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "Models"), str(TEST / "Fuzz")]

import fuzz  # noqa: E402
from moe_cases import Program, run_command  # noqa: E402


def make(args, index, cases):
    """One folder with the function of `cases`; an error text, or None."""
    program = Program()
    for name, case in cases:
        program.begin_case()
        case(program, name)
    folder = args.output / f"fuzz{args.seed}-{index:02}-{args.arch}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "inputs").mkdir(parents=True)
    source = folder / "case.mlir"
    source.write_text(program.module())
    for i, array in enumerate(program.arrays):
        np.save(folder / "inputs" / f"{i}.npy", array)
    commands = [[args.bin / "moe-run", source, f"--inputs={folder / 'inputs'}",
                 f"--outputs={folder / 'expected'}"]]
    pipeline = f"--moe-to-ptx=arch={args.arch} tokens={args.schedule_tokens}"
    for what, name in (("ptx", "kernels.ptx"), ("manifest", "manifest.json")):
        commands.append([args.bin / "moe-opt", source, pipeline, f"--emit={what}", "-o", folder / name])
    for command in commands:
        error = run_command([str(part) for part in command])
        if error:
            return error
    outputs = [(name, value.element, tolerance)
               for name, value, _, tolerance in program.expected]
    (folder / "case.json").write_text(json.dumps({
        "source": "case.mlir", "arguments": [{} for _ in program.arrays],
        "results": len(outputs), "names": [o[0] for o in outputs],
        "types": [o[1] for o in outputs], "tolerances": [o[2] for o in outputs]}, indent=1))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(),
                        help="folder of moe-run and moe-opt (default: as on PATH)")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--schedule-tokens", type=int, default=512)
    args = parser.parse_args()
    cases = fuzz.all_cases(args.count, args.seed)
    failed = 0
    for index in range(0, len(cases), args.batch):
        error = make(args, index // args.batch, cases[index:index + args.batch])
        if error:
            failed += 1
            print(f"{index}: {error}", file=sys.stderr)
    functions = -(-len(cases) // args.batch)
    print(f"{len(cases)} cases in {functions} functions, {failed} functions failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
