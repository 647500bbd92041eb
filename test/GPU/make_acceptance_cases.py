# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares the acceptance cases (test/Cases), slow ones included, for run_cases.py.

A folder holds a function of several cases, its kernels and the names of the cases:
run_cases.py makes inputs and expected results by the code of test/Cases, where it
runs.
"""

import pathlib
import re
import sys

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST / folder) for folder in ("GPU", "Cases")]

import case_folder  # noqa: E402
import cases  # noqa: E402

TOKENS = 512


def make(args, suite, index, names):
    """[(folder name, error or None)] of one function."""
    folder = args.output / f"{suite}-{index:02}-t{TOKENS}-{args.arch}"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "case.mlir"
    source.write_text(cases.program(suite, names).module())
    error = case_folder.compile_case(folder, source, args.arch, TOKENS, args.bin)
    if not error:
        case_folder.write_facts(folder, source=source.name, suite=suite, cases=names)
    return [(folder.name, error)]


def main():
    parser = case_folder.argument_parser(__doc__)
    parser.add_argument("--suites", default=",".join(cases.SUITES))
    parser.add_argument("--arch", default="sm_90a",
                        help="chip to compile for (default: %(default)s)")
    parser.add_argument("--filter", default="", help="cases whose name has a match of this "
                        "regular expression")
    args = parser.parse_args()
    made = failed = 0
    for suite in args.suites.split(","):
        names = [name for name in cases.named(suite) if re.search(args.filter, name)]
        size = cases.BATCH[suite]
        batches = [names[i:i + size] for i in range(0, len(names), size)]
        counts = case_folder.make_all(lambda item, suite=suite: make(args, suite, *item),
                                      enumerate(batches), args.jobs)
        made, failed = made + counts[0], failed + counts[1]
        print(f"{suite}: {len(names)} cases in {len(batches)} functions", flush=True)
    print(f"{made} folders, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
