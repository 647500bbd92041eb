# RUN: %python %s %moe_src_root

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every constraint (Cn) that the documentation of an op numbers has a negative
test, and every number that a negative test cites is documented.

A negative test is a line of an invalid-*.mlir that holds `expected-error` and
`(Cn)`; the op is the one on the next line that is not a comment.
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
OP = re.compile(r'^def \w+ : (?:MoE_Op<|Op<MoE_Dialect, )"(\w+)"', re.M)
NUMBER = re.compile(r"^    - \(C(\d+)\) ", re.M)


def documented():
    """{op: [constraint numbers in the order of the documentation]}."""
    text = (root / "dialect/MoE/MoEOps.td").read_text()
    starts = list(OP.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return {
        match[1]: [int(n) for n in NUMBER.findall(text[match.start():end])]
        for match, end in zip(starts, ends)
    }


def tested():
    """{op: set of constraint numbers that a negative test expects}."""
    found = {}
    for path in sorted((root / "test/MoE").glob("invalid-*.mlir")):
        pending = []
        for line in path.read_text().splitlines():
            if "expected-error" in line:
                pending += [int(n) for n in re.findall(r"\(C(\d+)\)", line)]
            elif not line.strip().startswith("//"):
                op = re.search(r"\bmoe\.(\w+)", line)
                if pending and op:
                    found.setdefault(op[1], set()).update(pending)
                pending = []
    return found


def main():
    errors = []
    docs, tests = documented(), tested()
    if not docs:
        errors.append("no op found in MoEOps.td")
    for op, numbers in docs.items():
        if not numbers:
            errors.append(f"moe.{op} numbers no constraint")
        if numbers != list(range(1, len(numbers) + 1)):
            errors.append(f"moe.{op} numbers its constraints {numbers}")
        for n in sorted(set(numbers) - tests.get(op, set())):
            errors.append(f"moe.{op} (C{n}) has no negative test")
        for n in sorted(tests.get(op, set()) - set(numbers)):
            errors.append(f"moe.{op} (C{n}) is tested but not documented")
    for op in sorted(tests.keys() - docs.keys()):
        errors.append(f"moe.{op} is tested but not documented")
    sys.exit("\n".join(errors) if errors else 0)


main()
