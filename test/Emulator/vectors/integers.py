# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer arithmetic, bit operations, moves and selections."""

import numpy as np

from operands import operand, operands
from snippet import EXACT, THREADS, elementwise

TYPES = ["u16", "s16", "u32", "s32", "u64", "s64"]


def bits(type_):
    return int(type_.lstrip("busf"))


def simple(group, name, type_, arity, body=None, result=None, **more):
    """`name d, a, b, ...` on registers of the type."""
    width = bits(type_)
    result = result or f"b{width}"
    arguments = ", ".join(["%d", "%a", "%b", "%c"][: arity + 1])
    values = operands([f"b{width}"] * arity, name)
    return elementwise(group, name, body or f"{name} {arguments}",
                       [(f"b{width}", v) for v in values], [(result, result, EXACT)], **more)


def division(name, type_):
    """Divisors are never 0, and not -1 under the least number: both unspecified."""
    width = bits(type_)
    a, b = operands([f"b{width}"] * 2, name)
    ones, top = np.uint64((1 << width) - 1), np.uint64(1 << (width - 1))
    b = np.where(b == 0, np.uint64(3), b)
    if type_[0] == "s":
        b = np.where((b == ones) & (a == top), np.uint64(5), b)
    return elementwise("integer", name, f"{name} %d, %a, %b",
                       [(f"b{width}", a), (f"b{width}", b)], [(f"b{width}", f"b{width}", EXACT)])


def arithmetic():
    for t in TYPES:
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            yield simple("integer", f"{op}.{t}", t, 2)
        for op in ("mad.lo", "mad.hi", "sad"):
            yield simple("integer", f"{op}.{t}", t, 3)
        for op in ("div", "rem"):
            yield division(f"{op}.{t}", t)
        if t[0] == "s":
            yield simple("integer", f"abs.{t}", t, 1)
            yield simple("integer", f"neg.{t}", t, 1)
    for op in ("add", "sub"):
        yield simple("integer", f"{op}.sat.s32", "s32", 2)
    yield simple("integer", "mad.hi.sat.s32", "s32", 3)
    for op in ("add", "min", "max"):
        for t in ("u16x2", "s16x2"):
            yield simple("integer", f"{op}.{t}", "b32", 2)
    for name, t in (("min.relu.s32", "b32"), ("max.relu.s32", "b32"),
                    ("min.relu.s16x2", "b32"), ("max.relu.s16x2", "b32")):
        yield simple("integer", name, t, 2)
    for t in ("u32", "s32"):
        for op in ("mul24.lo", "mul24.hi"):
            yield simple("integer", f"{op}.{t}", "b32", 2)
        for op in ("mad24.lo", "mad24.hi"):
            yield simple("integer", f"{op}.{t}", "b32", 3)
    yield simple("integer", "mad24.hi.sat.s32", "b32", 3)
    for a in "us":
        for b in "us":
            yield simple("integer", f"dp4a.{a}32.{b}32", "b32", 3)
            for half in ("lo", "hi"):
                yield simple("integer", f"dp2a.{half}.{a}32.{b}32", "b32", 3)


def wide():
    for t in ("u16", "s16", "u32", "s32"):
        width = bits(t)
        yield simple("integer", f"mul.wide.{t}", t, 2, result=f"b{2 * width}")
        name = f"mad.wide.{t}"
        a, b = operands([f"b{width}"] * 2, name)
        c = operand(f"b{2 * width}", name, 2)
        yield elementwise("integer", name, f"{name} %d, %a, %b, %c",
                          [(f"b{width}", a), (f"b{width}", b), (f"b{2 * width}", c)],
                          [(f"b{2 * width}", f"b{2 * width}", EXACT)])


def carries():
    for t in ("u32", "s32", "u64"):
        register = f"b{bits(t)}"

        def chain(name, body, inputs):
            values = operands([register] * inputs, name)
            return elementwise("integer", name, body, [(register, v) for v in values],
                               [(register, register, EXACT)] * 2)

        yield chain(f"add.cc.{t} addc.{t}", f"add.cc.{t} %d, %a, %b; addc.{t} %e, %c, %w", 4)
        yield chain(f"sub.cc.{t} subc.{t}", f"sub.cc.{t} %d, %a, %b; subc.{t} %e, %c, %w", 4)
        yield chain(f"mad.lo.cc.{t} madc.hi.{t}",
                    f"mad.lo.cc.{t} %d, %a, %b, %c; madc.hi.{t} %e, %a, %b, %w", 4)
        yield chain(f"add.cc.{t} addc.cc.{t}",
                    f"add.cc.{t} %d, %a, %b; addc.cc.{t} %d, %c, %w; addc.{t} %e, 0, 0", 4)
        yield chain(f"sub.cc.{t} subc.cc.{t}",
                    f"sub.cc.{t} %d, %a, %b; subc.cc.{t} %d, %c, %w; subc.{t} %e, 0, 0", 4)
        yield chain(f"madc.lo.cc.{t} mad.hi.cc.{t}",
                    f"mad.hi.cc.{t} %d, %a, %b, %c; madc.lo.cc.{t} %d, %a, %c, %w; "
                    f"addc.{t} %e, 0, 0", 4)


def counts():
    for width in (32, 64):
        t = f"b{width}"
        for op in ("popc", "clz"):
            yield simple("bits", f"{op}.{t}", t, 1, result="b32")
        yield simple("bits", f"brev.{t}", t, 1)
        for sign in "us":
            for shift in ("", ".shiftamt"):
                name = f"bfind{shift}.{sign}{width}"
                yield simple("bits", name, t, 1, result="b32")
    name = "fns.b32"
    a = operand("b32", name, 0)
    start = operand("b32", name, 1) % np.uint64(32)
    which = (operand("b32", name, 2) % np.uint64(17)) - np.uint64(8)
    inputs = [("b32", a), ("b32", start), ("b32", which & np.uint64(0xFFFFFFFF))]
    yield elementwise("bits", name, "fns.b32 %d, %a, %b, %c", inputs, [("b32", "b32", EXACT)])


def fields():
    for width in (32, 64):
        for sign in "us":
            for positions in ("any", "small"):
                name = f"bfe.{sign}{width}"
                a = operand(f"b{width}", name, 0)
                b, c = operand("b32", name + positions, 1), operand("b32", name + positions, 2)
                if positions == "small":
                    b, c = b % np.uint64(width + 4), c % np.uint64(width + 4)
                yield elementwise("bits", f"{name} {positions}", f"{name} %d, %a, %b, %c",
                                  [(f"b{width}", a), ("b32", b), ("b32", c)],
                                  [(f"b{width}", f"b{width}", EXACT)])
        for positions in ("any", "small"):
            name = f"bfi.b{width}"
            a, b = operands([f"b{width}"] * 2, name)
            c, w = operand("b32", name + positions, 2), operand("b32", name + positions, 3)
            if positions == "small":
                c, w = c % np.uint64(width + 4), w % np.uint64(width + 4)
            yield elementwise("bits", f"{name} {positions}", f"{name} %d, %a, %b, %c, %w",
                              [(f"b{width}", a), (f"b{width}", b), ("b32", c), ("b32", w)],
                              [(f"b{width}", f"b{width}", EXACT)])
    for mode in ("clamp", "wrap"):
        for sign in "us":
            yield simple("bits", f"szext.{mode}.{sign}32", "b32", 2)
        yield simple("bits", f"bmsk.{mode}.b32", "b32", 2)


def logic():
    for width in (16, 32, 64):
        for op in ("and", "or", "xor"):
            yield simple("bits", f"{op}.b{width}", f"b{width}", 2)
        for op in ("not", "cnot"):
            yield simple("bits", f"{op}.b{width}", f"b{width}", 1)
    tables = (0x00, 0x01, 0x17, 0x1E, 0x2D, 0x3C, 0x40, 0x57, 0x69, 0x78, 0x80, 0x96, 0xA8, 0xB2,
              0xC0, 0xCA, 0xD8, 0xE8, 0xEA, 0xF8, 0xFE, 0xFF)
    for table in tables:
        yield simple("bits", f"lop3.b32 0x{table:02x}", "b32", 3,
                     f"lop3.b32 %d, %a, %b, %c, 0x{table:02x}")
    for combine in ("or", "and"):
        yield simple("bits", f"lop3.{combine}.b32", "b32", 3, f"""
            setp.lt.u32 %q, %a, %b
            lop3.{combine}.b32 %d|%p, %a, %b, %c, 0x60, %q
            @%p or.b32 %d, %d, 1
            @!%p and.b32 %d, %d, 0xfffffffe""")


def shifts():
    for width in (16, 32, 64):
        for op, sign in (("shl", "b"), ("shr", "b"), ("shr", "u"), ("shr", "s")):
            for amounts in ("any", "small"):
                name = f"{op}.{sign}{width}"
                a = operand(f"b{width}", name, 0)
                b = operand("b32", name + amounts, 1)
                if amounts == "small":
                    b %= np.uint64(width + 2)
                yield elementwise("bits", f"{name} {amounts}", f"{name} %d, %a, %b",
                                  [(f"b{width}", a), ("b32", b)],
                                  [(f"b{width}", f"b{width}", EXACT)])
    for way in "lr":
        for mode in ("clamp", "wrap"):
            for amounts in ("any", "small"):
                name = f"shf.{way}.{mode}.b32"
                a, b = operands(["b32"] * 2, name)
                c = operand("b32", name + amounts, 2)
                if amounts == "small":
                    c %= np.uint64(40)
                yield elementwise("bits", f"{name} {amounts}", f"{name} %d, %a, %b, %c",
                                  [("b32", a), ("b32", b), ("b32", c)],
                                  [("b32", "b32", EXACT)])
    yield simple("bits", "shl.b32 immediate", "b32", 1, "shl.b32 %d, %a, 5")
    yield simple("bits", "shr.s64 immediate", "b64", 1, "shr.s64 %d, %a, 33")


def permutes():
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield simple("bits", f"prmt.b32{mode}", "b32", 3)
    for selector in (0x5410, 0x7632, 0x3210, 0x0123, 0xBA98, 0x7531, 0x8888):
        yield simple("bits", f"prmt.b32 0x{selector:04x}", "b32", 2,
                     f"prmt.b32 %d, %a, %b, 0x{selector:04x}")


def moves():
    yield simple("bits", "mov.b64 unpack", "b64", 1,
                 "mov.b64 {%t0, %t1}, %a; mov.b64 %d, {%t1, %t0}")
    yield simple("bits", "mov.b32 unpack", "b32", 1,
                 "mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0}")
    yield simple("bits", "mov.b64 unpack 4", "b64", 1,
                 "mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %d, {%h2, %h0, %h3, %h1}")
    yield simple("bits", "mov.b32 unpack sink", "b32", 1,
                 "mov.b32 {_, %h1}, %a; cvt.u32.u16 %d, %h1")
    for t in ("b16", "b32", "b64"):
        yield simple("bits", f"mov.{t}", t, 1, f"mov.{t} %d, %a")
        yield simple("bits", f"selp.{t}", t, 2,
                     f"setp.lt.s32 %p, %i, {THREADS // 3}; selp.{t} %d, %a, %b, %p")
        yield simple("bits", f"selp.{t} immediate", t, 1,
                     f"setp.lt.s32 %p, %i, {THREADS // 3}; selp.{t} %d, %a, -2, !%p")
    for t in ("b32", "b64", "s16"):
        name = f"slct.{t}.s32"
        register = f"b{bits(t)}"
        a, b = operands([register] * 2, name)
        yield elementwise("bits", name, f"{name} %d, %a, %b, %c",
                          [(register, a), (register, b), ("b32", operand("b32", name, 2))],
                          [(register, register, EXACT)])


def predicates():
    for op in ("and", "or", "xor"):
        yield simple("bits", f"{op}.pred", "b32", 2, f"""
            setp.lt.s32 %p, %a, 5; setp.ne.b32 %q, %b, 7; {op}.pred %r, %p, %q
            selp.b32 %d, 1, 0, %r""")
    yield simple("bits", "not.pred", "b32", 1,
                 "setp.lt.s32 %p, %a, 5; not.pred %q, %p; selp.b32 %d, 1, 0, %q")
    yield simple("bits", "mov.pred", "b32", 1,
                 "setp.lt.s32 %p, %a, 5; mov.pred %q, %p; mov.pred %r, 1; and.pred %q, %q, %r; "
                 "selp.b32 %d, 1, 0, %q")
    yield simple("bits", "guards", "b32", 1, """
        setp.lt.s32 %p, %a, 5; mov.b32 %d, 11
        @%p add.s32 %d, %d, %a
        @!%p sub.s32 %d, %d, %a
        @%p mov.b32 %t0, %d
        @!%p mov.b32 %t0, 3
        add.s32 %d, %d, %t0""")


def immediates():
    for name in ("add.s32 %d, %a, -7", "sub.s32 %d, 12, %a", "mul.lo.s32 %d, %a, -3",
                 "mad.lo.s32 %d, %a, 9, -1", "min.s32 %d, %a, -1", "and.b32 %d, %a, 0xff00",
                 "xor.b32 %d, %a, -1", "div.u32 %d, %a, 7", "rem.s32 %d, %a, 10"):
        yield simple("integer", name.replace("%", ""), "b32", 1, name)
    yield simple("integer", "mul.wide.s32 immediate", "b32", 1, "mul.wide.s32 %d, %a, -5",
                 result="b64")
    yield simple("integer", "add.s64 immediate", "b64", 1, "add.s64 %d, %a, -4294967297")


def snippets():
    for family in (arithmetic, wide, carries, counts, fields, logic, shifts, permutes, moves,
                   predicates, immediates):
        yield from family()
