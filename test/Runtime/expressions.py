# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %parse_test 4000 | FileCheck %s
"""Expressions against Python's integers, which have no limit."""

# CHECK: 5 // 3 = 1
# CHECK: -5 // 3 = -2
# CHECK: 5 // -3 = -2
# CHECK: -5 // -3 = 1
# CHECK: 5 ceildiv 3 = 2
# CHECK: -5 ceildiv 3 = -1
# CHECK: 5 ceildiv -3 = -1
# CHECK: -5 ceildiv -3 = 2
# CHECK: 5 % 3 = 2
# CHECK: -5 % 3 = 1
# CHECK: 5 % -3 = -1
# CHECK: -5 % -3 = -2
# CHECK: argument 2, dimension 0: floordiv of 5 by zero
# CHECK: argument 2, dimension 0: mul of 9223372036854775807 and 2 exceeds 64 bits
# CHECK: argument 2, dimension 0: add of 9223372036854775807 and 1 exceeds 64 bits
# CHECK: argument 2, dimension 0: ceildiv of -9223372036854775808 and -1 exceeds 64 bits
# CHECK: {{^}}4000 random expressions as Python has them, {{[1-9][0-9]+}} of them failures

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from parse import ask  # noqa: E402

program, count = sys.argv[1], int(sys.argv[2])
MAX = 2**63 - 1
# Numbers are extents of argument 1: constants would be folded when parsed.
NUMBERS = (0, 1, 2, 3, 5, 7, 64, 2**31, 2**32, 2**62, MAX)


def number(value):
    """An expression for a number, negative ones as sums and products."""
    if value == -MAX - 1:
        return ["add", number(-MAX), ["mul", number(1), -1]]
    if value < 0:
        return ["mul", number(-value), -1]
    return ["dim", 1, NUMBERS.index(value)]


def bundle(expression):
    """A bundle whose result has two extents: the positive and negative part."""
    manifest = {
        "version": 2, "function": "f", "arch": "sm_80", "tokens": ["dim", 0, 0], "kernels": [],
        "arguments": [{"type": "i8", "shape": [["dim", 0, 0]], "result": False},
                      {"type": "i8", "shape": list(NUMBERS[:8]), "result": False},
                      {"type": "i8", "shape": [["max", expression, 0], ["max", ["mul", expression, -1], 0]],
                       "result": True},
                      {"type": "i8", "shape": list(NUMBERS[8:]), "result": False}],
        "variants": [{"tokens": [0, None], "workspace": [], "maps": [], "launches": []}]}
    # What the program prints is the last argument: the result goes there.
    manifest["arguments"][2], manifest["arguments"][3] = manifest["arguments"][3], manifest["arguments"][2]
    return json.dumps(rename(manifest)).encode(), b".version 7.0\n.target sm_80\n", 1


def rename(value):
    """Extents 8 and up of argument 1 are in argument 2: rank 8 is the limit."""
    if isinstance(value, dict):
        return {key: rename(inner) for key, inner in value.items()}
    if isinstance(value, list):
        if len(value) == 3 and value[:2] == ["dim", 1] and value[2] >= 8:
            return ["dim", 2, value[2] - 8]
        return [rename(inner) for inner in value]
    return value


class Failure(Exception):
    pass


def evaluate(expression):
    if isinstance(expression, int):
        return expression
    op, lhs, rhs = expression
    if op == "dim":
        return NUMBERS[rhs]
    a, b = evaluate(lhs), evaluate(rhs)
    if op in ("floordiv", "ceildiv", "mod") and b == 0:
        raise Failure
    result = {"add": lambda: a + b, "mul": lambda: a * b, "max": lambda: max(a, b), "min": lambda: min(a, b),
              "floordiv": lambda: a // b, "ceildiv": lambda: -(-a // b), "mod": lambda: a % b}[op]()
    if not -MAX - 1 <= result <= MAX:
        raise Failure
    return result


def expected(expression):
    try:
        value = evaluate(expression)
        evaluate(["mul", ["add", value, 0], -1])
        return value
    except Failure:
        return None


def random_expression(generator, depth):
    if depth == 0 or generator.random() < 0.2:
        return ["dim", 1, generator.randrange(len(NUMBERS))]
    op = generator.choice(("add", "mul", "mul", "max", "min", "floordiv", "ceildiv", "mod"))
    rhs = generator.choice((-1, 2, 64)) if generator.random() < 0.3 else random_expression(generator, depth - 1)
    return [op, random_expression(generator, depth - 1), rhs]


def value_of(answer):
    """What the result's two extents say, or None for a failure."""
    if answer[1] != 0:
        return None
    positive, negative = answer[2].split("last argument ")[1].split()
    return int(positive) - int(negative)


def show():
    for sign, op in (("//", "floordiv"), ("ceildiv", "ceildiv"), ("%", "mod")):
        for a, b in ((5, 3), (-5, 3), (5, -3), (-5, -3)):
            answer = ask(program, [bundle([op, number(a), number(b)])])[0]
            print(f"{a} {sign} {b} = {value_of(answer)}")
    for expression in (["floordiv", number(5), number(0)], ["mul", number(MAX), number(2)],
                       ["add", number(MAX), number(1)], ["ceildiv", number(-MAX - 1), number(-1)]):
        print(ask(program, [bundle(expression)])[0][2].replace("argument 3", "argument 2"))


show()
generator = random.Random(7)
expressions = [random_expression(generator, generator.randrange(1, 6)) for _ in range(count)]
wrong = failures = 0
for expression, answer in zip(expressions, ask(program, [bundle(e) for e in expressions])):
    value = expected(expression)
    failures += value is None
    if answer[0] != 0 or value_of(answer) != value or (value is None and answer[1] != 1):
        wrong += 1
        print(json.dumps(expression), "expected", value, "but got", answer)
if not wrong:
    print(count, "random expressions as Python has them,", failures, "of them failures")
sys.exit(wrong != 0)
