# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""setp, set, slct and selp, with every comparison, ordered and unordered."""

from operands import FLOATS, operand, operands, packed
from snippet import EXACT, elementwise

EQUAL = ("eq", "ne")
ORDER = ("lt", "le", "gt", "ge")
UNSIGNED = ("lo", "ls", "hi", "hs")
UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def comparisons(type_):
    if type_[0] == "b" and not type_.startswith("bf"):
        return EQUAL
    if type_[0] == "s":
        return EQUAL + ORDER
    if type_[0] == "u":
        return EQUAL + ORDER + UNSIGNED
    return EQUAL + ORDER + UNORDERED


def pair(type_, name):
    """(register, [a, b])"""
    if type_.endswith("x2"):
        return "b32", [packed(type_[:-2], name, i) for i in range(2)]
    if type_ in FLOATS:
        return f"b{1 + sum(FLOATS[type_])}", operands([type_] * 2, name)
    return f"b{type_[1:]}", operands([f"b{type_[1:]}"] * 2, name)


def predicates():
    for type_ in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64",
                  "f16", "bf16"):
        for what in comparisons(type_):
            yield setp(f"setp.{what}.{type_}", type_)
    for what in comparisons("f32"):
        yield setp(f"setp.{what}.ftz.f32", "f32")
    for what in ("lt", "neu"):
        yield setp(f"setp.{what}.ftz.f16", "f16")


def setp(name, type_):
    register, values = pair(type_, name)
    return elementwise("compare", name, f"{name} %p, %a, %b; selp.b32 %d, 1, 0, %p",
                       [(register, v) for v in values], [("b32", "b32", EXACT)])


def combined():
    for type_ in ("s32", "f32", "u64"):
        for combine in ("and", "or", "xor"):
            name = f"setp.lt.{combine}.{type_}"
            register, values = pair(type_, name)
            yield elementwise("compare", name, f"""
                setp.ne.b32 %r, %c, 0
                {name} %p|%q, %a, %b, %r
                selp.b32 %d, 1, 0, %p; selp.b32 %t0, 2, 0, %q; or.b32 %d, %d, %t0""",
                [(register, v) for v in values] + [("b32", operand("b32", name, 2) % 2)],
                [("b32", "b32", EXACT)])
            name = f"setp.ge.{combine}.{type_} negated"
            yield elementwise("compare", name, f"""
                setp.ne.b32 %r, %c, 0
                setp.ge.{combine}.{type_} %p, %a, %b, !%r
                selp.b32 %d, 1, 0, %p""",
                [(register, v) for v in values] + [("b32", operand("b32", name, 2) % 2)],
                [("b32", "b32", EXACT)])
    for type_ in ("u32", "f32"):
        name = f"setp.le.{type_} pair"
        register, values = pair(type_, name)
        yield elementwise("compare", name, f"""
            setp.le.{type_} %p|%q, %a, %b
            selp.b32 %d, 1, 0, %p; selp.b32 %t0, 2, 0, %q; or.b32 %d, %d, %t0""",
            [(register, v) for v in values], [("b32", "b32", EXACT)])
    name = "setp.eq.s32 sink"
    yield elementwise("compare", name, "setp.eq.s32 _|%q, %a, %b; selp.b32 %d, 1, 0, %q",
                      [("b32", v) for v in operands(["b32"] * 2, name)], [("b32", "b32", EXACT)])
    for name in ("setp.gt.s32 %p, %a, 31", "setp.lt.u32 %p, %a, -5",
                 "setp.eq.f32 %p, %a, 0f00000000"):
        yield elementwise("compare", name.replace("%", ""), name + "; selp.b32 %d, 1, 0, %p",
                          [("b32", operand("f32" if "f32" in name else "b32", name))],
                          [("b32", "b32", EXACT)])


def pairs():
    for type_ in ("f16x2", "bf16x2"):
        for what in comparisons(type_):
            name = f"setp.{what}.{type_}"
            register, values = pair(type_, name)
            yield elementwise("compare", name, f"""{name} %p|%q, %a, %b
                selp.b32 %d, 1, 0, %p; selp.b32 %t0, 2, 0, %q; or.b32 %d, %d, %t0""",
                [(register, v) for v in values], [("b32", "b32", EXACT)])
    name = "setp.lt.and.f16x2"
    register, values = pair("f16x2", name)
    yield elementwise("compare", name, f"""setp.ne.b32 %r, %c, 0
        {name} %p|%q, %a, %b, %r
        selp.b32 %d, 1, 0, %p; selp.b32 %t0, 2, 0, %q; or.b32 %d, %d, %t0""",
        [(register, v) for v in values] + [("b32", operand("b32", name, 2) % 2)],
        [("b32", "b32", EXACT)])


def sets():
    for type_ in ("u16", "s32", "u32", "s64", "f32", "f64"):
        for to in ("u32", "s32", "f32"):
            for what in ("eq", "lt", "ge") + (("neu", "gtu", "nan") if type_[0] == "f" else ()):
                yield one_set(f"set.{what}.{to}.{type_}", type_, "b32")
    for type_ in ("f16", "bf16"):
        for to, register in (("u32", "b32"), ("s32", "b32"), ("u16", "b16"), ("s16", "b16"),
                             (type_, "b16")):
            for what in ("eq", "gt", "ltu", "num"):
                yield one_set(f"set.{what}.{to}.{type_}", type_, register)
        for what in ("eq", "gt", "ltu", "num"):
            yield one_set(f"set.{what}.{type_}x2.{type_}x2", f"{type_}x2", "b32")
            yield one_set(f"set.{what}.u32.{type_}x2", f"{type_}x2", "b32")
    for combine in ("and", "or", "xor"):
        name = f"set.gt.{combine}.u32.s32"
        register, values = pair("s32", name)
        yield elementwise("compare", name, f"setp.ne.b32 %r, %c, 0; {name} %d, %a, %b, %r",
                          [(register, v) for v in values] +
                          [("b32", operand("b32", name, 2) % 2)], [("b32", "b32", EXACT)])


def one_set(name, type_, to_register):
    register, values = pair(type_, name)
    return elementwise("compare", name, f"{name} %d, %a, %b", [(register, v) for v in values],
                       [(to_register, to_register, EXACT)])


def choices():
    for type_ in ("f32", "f64"):
        width = int(type_[1:])
        name = f"selp.{type_}"
        register, values = pair(type_, name)
        yield elementwise("compare", name, f"setp.ne.b32 %p, %c, 0; {name} %d, %a, %b, %p",
                          [(register, v) for v in values] +
                          [("b32", operand("b32", name, 2) % 2)],
                          [(f"b{width}", f"b{width}", EXACT)])
        for ftz in ("", ".ftz"):
            name = f"slct{ftz}.{type_}.f32"
            register, values = pair(type_, name)
            yield elementwise("compare", name, f"{name} %d, %a, %b, %c",
                              [(register, v) for v in values] +
                              [("b32", operand("f32", name, 2))],
                              [(f"b{width}", f"b{width}", EXACT)])


def snippets():
    for family in (predicates, combined, pairs, sets, choices):
        yield from family()
