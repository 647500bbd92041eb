# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares cases for run_cases.py: compiles functions and computes what they
have to give by the reference, so that the GPU machine needs no LLVM.

Each .mlir file is compiled for every --schedule-tokens value, which selects
different kernels, and executed with every --tokens value.
"""

import itertools
import json
import pathlib
import shutil
import sys

import case_folder


def make(args, source, tokens):
    """[(folder name, error or None)] of one file and number of tokens, one per
    schedule."""
    reference = args.output / f"{source.stem}-t{tokens}.reference"
    options = [f"--tokens={tokens}"] if tokens >= 0 else []
    report, error = case_folder.call(
        args.bin / "moe-run", source, f"--inputs=seed:{args.seed}", "--f32-intermediates",
        f"--outputs={reference}", "--json", *options)
    if error:
        return [(reference.stem, error)]
    report, found = json.loads(report), []
    for schedule in args.schedule_tokens:
        folder = args.output / f"{source.stem}-t{tokens}-s{schedule}-{args.arch}"
        error = case_folder.compile_case(folder, source, args.arch, schedule, args.bin)
        found.append((folder.name, error))
        if error:
            continue
        shutil.copytree(reference, folder / "expected", dirs_exist_ok=True)
        case_folder.write_facts(
            folder, source=source.name, seed=args.seed, tokens=tokens,
            arguments=report["arguments"], results=len(report["outputs"]),
            near_ties=report["near_tie_tokens"], types=[o["type"] for o in report["outputs"]])
        print(folder.name, flush=True)
    shutil.rmtree(reference)
    return found


def main():
    parser = case_folder.argument_parser(__doc__)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--arch", default="sm_90a",
                        help="chip to compile for (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the random inputs (default: %(default)s)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 33],
                        help="numbers of tokens to run with (default: %(default)s)")
    parser.add_argument("--schedule-tokens", type=int, nargs="+", default=[4, 8192],
                        help="numbers of tokens to choose schedules for (default: %(default)s)")
    args = parser.parse_args()
    _, failed = case_folder.make_all(lambda item: make(args, *item),
                                     itertools.product(args.sources, args.tokens), args.jobs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
