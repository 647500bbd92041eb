# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The acceptance cases of Inputs/*.json.

  cases.py run SUITE FOLDER [--full]   runs a suite (golden, align, layers,
                                       products, bugs) on every CPU device;
                                       --full adds the slow ones
  cases.py list                        every record: tested, slow tier, or why not
"""

import collections
import functools
import re
import sys
from pathlib import Path

import common  # noqa: F401, first: it puts test/Models on the path

import bugs
import golden
import grids
import refusals
from moe_cases import Program, run_cases

TESTS = Path(__file__).parent.parent

SUITES = {
    "golden": golden.cases,
    "align": grids.align_grid,
    "layers": grids.layer_grid,
    "products": grids.product_grid,
    "bugs": bugs.cases,
}
# Cases that share one function; fewer where their data is big.
BATCH = {"align": 20, "layers": 1, "products": 12, "golden": 12, "bugs": 8}


@functools.cache
def named(suite):
    """name -> case, slow ones included."""
    return {case.name: case for case in SUITES[suite]()}


def program(suite, names):
    """The function, inputs and expected results of some cases: the same anywhere."""
    return Program().add_cases([(name, named(suite)[name].build) for name in names])


def run(suite, target, full):
    cases = list(named(suite).values())
    chosen = [case for case in cases if full or not case.slow]
    failed = run_cases(suite, [(case.name, case.build) for case in chosen],
                       batch=BATCH[suite], target=target)
    if suite == "bugs":
        failed += refusals.run()
    left = len(cases) - len(chosen)
    print(f"{suite}: {left} cases left to the slow tier")
    return 1 if failed else 0


def listing():
    """Prints a count per outcome and file, and every record without a test."""
    status, found = 0, collections.Counter()
    for module in (golden, grids, bugs):
        records = list(module.records())
        slow, tested = set(), set()
        for case in module.cases():
            (slow if case.slow else tested).add(case.record)
        if module is bugs:
            tested |= refusals.records()
        elsewhere = getattr(module, "ELSEWHERE", {})
        for record, test in elsewhere.items():
            name = record.split("/")[1]
            if not re.search(rf"\b{name}\b", (TESTS / test).read_text()):
                print(f"WRONG {record}: {test} does not name it")
                status = 1
        excused = set(module.REASONS) | set(elsewhere)
        unknown = (slow | tested | excused) - set(records)
        both = excused & (slow | tested)
        for record in sorted(unknown | both):
            print(f"WRONG {record}: no such record, or tested and excused")
            status = 1
        for record in records:
            file = record.split("/")[0]
            if record in tested:
                found[file, "tested"] += 1
            elif record in slow:
                found[file, "tested in the slow tier"] += 1
            elif record in elsewhere:
                found[file, "tested by " + elsewhere[record]] += 1
            elif record in module.REASONS:
                found[file, "not here: " + module.REASONS[record]] += 1
            else:
                print(f"MISSING {record}: neither a test nor a reason")
                status = 1
    for (file, outcome), count in sorted(found.items()):
        print(f"{file}: {count} {outcome}")
    print(f"{sum(found.values())} records, {'incomplete' if status else 'all listed'}")
    return status


if __name__ == "__main__":
    if sys.argv[1] == "list":
        sys.exit(listing())
    sys.exit(run(sys.argv[2], sys.argv[3], "--full" in sys.argv[4:]))
