# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares random valid functions, the ones of test/Fuzz, for run_cases.py.

Several cases share one function, with their own hostile integers as inputs.
"""

import pathlib
import shutil
import sys

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST), str(TEST / "Models"), str(TEST / "Fuzz"), str(TEST / "GPU")]

import case_folder  # noqa: E402
import fuzz  # noqa: E402
from moe_cases import Program  # noqa: E402


def expect_wide_layers(args, folder, source, program):
    """Takes the expected results of whole layers, whose kernels round fewer
    intermediates than the ops do one by one, from f32 intermediates."""
    wide = folder / "wide"
    _, error = case_folder.call(args.bin / "moe-run", source, "--f32-intermediates",
                                f"--inputs={folder / 'inputs'}", f"--outputs={wide}")
    for i, (name, *_) in enumerate(program.expected):
        if not error and name.startswith("layer_case"):
            shutil.move(wide / f"{i}.npy", folder / "expected" / f"{i}.npy")
    shutil.rmtree(wide, ignore_errors=True)
    return error


def make(args, index, cases):
    """[(folder name, error or None)] of the function of `cases`."""
    program = Program().add_cases(cases)
    folder = args.output / f"fuzz{args.seed}-{index:02}-{args.arch}"
    shutil.rmtree(folder, ignore_errors=True)
    case_folder.write_arrays(folder, "inputs", program.arrays)
    source = folder / "case.mlir"
    source.write_text(program.module())
    _, error = case_folder.call(args.bin / "moe-run", source, f"--inputs={folder / 'inputs'}",
                                f"--outputs={folder / 'expected'}")
    error = error or expect_wide_layers(args, folder, source, program)
    error = error or case_folder.compile_case(folder, source, args.arch,
                                              args.schedule_tokens, args.bin)
    if not error:
        case_folder.write_facts(
            folder, source=source.name, arguments=[{} for _ in program.arrays],
            results=len(program.expected), names=[name for name, *_ in program.expected],
            types=[value.element for _, value, *_ in program.expected],
            tolerances=[tolerance for *_, tolerance in program.expected])
    return [(folder.name, error)]


def main():
    parser = case_folder.argument_parser(__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--schedule-tokens", type=int, default=512)
    args = parser.parse_args()
    cases = fuzz.all_cases(args.count, args.seed)
    batches = [cases[i:i + args.batch] for i in range(0, len(cases), args.batch)]
    _, failed = case_folder.make_all(lambda item: make(args, *item), enumerate(batches),
                                     args.jobs)
    print(f"{len(cases)} cases in {len(batches)} functions, {failed} functions failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
