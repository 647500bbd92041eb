# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %parse_test 2000 | FileCheck %s
"""Bundles that must be refused, each with a message that names the place, and
random damage that must at worst be refused. Nothing may end the process."""

# CHECK: the good bundle: variant 1, workspace 13824, last argument 200
# CHECK: {{^}}[[#%u,N:]] bundles refused as they must be
# CHECK: 2000 damaged texts, seed 20240607: {{[0-9]+}} refused, {{[0-9]+}} parsed, 0 crashes
# CHECK: 2000 damaged values, seed 20240607: {{[0-9]+}} refused, {{[0-9]+}} parsed, 0 crashes

import copy
import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from hostile_table import EDITS, PTX, REMOVE, TEXTS  # noqa: E402
from parse import MANIFEST, PTX as GOOD_PTX, ask  # noqa: E402

program, count = sys.argv[1], int(sys.argv[2])


def edited(place, value):
    """The good manifest with the value at a place such as "a[1].b" replaced."""
    document = copy.deepcopy(json.loads(MANIFEST))
    steps = [int(s[1:-1]) if s[0] == "[" else s for s in re.findall(r"\w+|\[\d+\]", place)]
    target = document
    for step in steps[:-1]:
        target = target[step]
    if value is REMOVE:
        del target[steps[-1]]
    else:
        target[steps[-1]] = value(target[steps[-1]]) if callable(value) else value
    return json.dumps(document).encode()


def expected_cases():
    for place, value, message, *other in EDITS:
        start = other[0] if other else place
        name = "removed" if value is REMOVE else repr(value)[:60]
        yield f"{place} = {name}", edited(place, value), GOOD_PTX, f"manifest: {start or 'the document'}", message
    for name, make, message in TEXTS:
        yield name, make(MANIFEST), GOOD_PTX, "manifest: ", message
    for name, make, message in PTX:
        yield f"kernels.ptx: {name}", MANIFEST, make(GOOD_PTX), "manifest: ", message


def damaged(generator):
    """A few bytes changed, removed, doubled or taken from elsewhere."""
    text = bytearray(MANIFEST)
    for _ in range(generator.choice((1, 1, 2, 5))):
        at = generator.randrange(len(text))
        kind = generator.randrange(5)
        if kind == 0:
            text[at] = generator.randrange(256)
        elif kind == 1:
            text[at] = generator.choice(b"0123456789-[]{},:\"nulltrue.eE")
        elif kind == 2:
            del text[at:at + generator.randrange(1, 20)]
        elif kind == 3:
            text[at:at] = text[at:at + generator.randrange(1, 200)]
        else:
            text[at:at] = generator.choice((b"9" * 30, b"-", b"[" * 200, b"null", b"1e400", b"\"\\u0000\""))
    return bytes(text)


ODD = (0, 1, -1, 2, 3, 64, 255, 256, 257, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -2**63, 2**64 - 1,
       2**64, 0.5, None, True, "", "dim", "add", "bf16", "sm_90a", [], {}, [1], ["dim", 0, 0], ["dim", 4, 0],
       ["mul", ["dim", 0, 0], 2**62], ["mul", ["dim", 0, 0], -1], ["floordiv", ["dim", 0, 0], ["dim", 4, 0]],
       ["mod", 7, ["mul", ["dim", 0, 0], -1]], [1, None])


def odd(generator):
    """A few values of the document replaced by odd ones."""
    document = json.loads(MANIFEST)
    for _ in range(generator.choice((1, 1, 2))):
        value = document
        while True:
            key = generator.choice(list(value) if isinstance(value, dict) else range(len(value)))
            inner = value[key]
            if not isinstance(inner, (dict, list)) or not inner or generator.random() < 0.15:
                value[key] = copy.deepcopy(generator.choice(ODD))
                break
            value = inner
        if not document:
            break
    return json.dumps(document).encode()


def damage(what, make):
    seed = 20240607
    generator = random.Random(seed)
    answers = ask(program, [(make(generator), GOOD_PTX, generator.choice((0, 1, 16, 17, 100)))
                            for _ in range(count)])
    refused = sum(status != 0 for status, _, _ in answers)
    print(f"{count} damaged {what}, seed {seed}: {refused} refused, {count - refused} parsed, 0 crashes")


good = ask(program, [(MANIFEST, GOOD_PTX, 100)])[0]
print("the good bundle:", good[2])
cases = list(expected_cases())
answers = ask(program, [(manifest, ptx, 100) for _, manifest, ptx, _, _ in cases])
wrong = 0
for (name, _, _, start, message), (status, _, text) in zip(cases, answers):
    if status != 2 or not text.startswith(start) or message not in text:
        wrong += 1
        print(f"{name}\n  expected 2 {start}...{message}\n  but got  {status} {text[:300]}")
if wrong == 0:
    print(len(cases), "bundles refused as they must be")
assert len(cases) >= 150
damage("texts", damaged)
damage("values", odd)
sys.exit(wrong != 0)
