# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cvt of every pair of types, with its roundings, saturation and packed forms."""

import numpy as np

from floats import ROUNDINGS
from operands import FLOATS, operand, operands, packed
from snippet import EXACT, NAN, THREADS, elementwise

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def width(type_):
    return int(type_.lstrip("busf"))


def register(type_):
    return f"b{max(16, width(type_))}"


def convert(name, from_, to, rule=EXACT, kind=None, to_register=None):
    values = operand(from_ if from_ in FLOATS else f"b{width(from_)}", name)
    to_register = to_register or register(to)
    return elementwise("cvt", name, f"{name} %d, %a", [(register(from_), values)],
                       [(to_register, kind or to_register, rule)])


def fits(from_, to):
    """Whether every value of `from_` is one of `to`."""
    if from_[0] == to[0]:
        return width(to) >= width(from_)
    return to[0] == "s" and width(to) > width(from_)


def integers():
    for from_ in INTEGERS:
        for to in INTEGERS:
            yield convert(f"cvt.{to}.{from_}", from_, to)
            if not fits(from_, to):  # .sat is not allowed where it has nothing to do
                yield convert(f"cvt.sat.{to}.{from_}", from_, to)
    # Registers wider than the types: the result is extended, the rest is ignored.
    for to in ("u8", "s8", "u16", "s16"):
        for from_ in ("u32", "s32"):
            name = f"cvt.{to}.{from_}"
            yield elementwise("cvt", f"{name} wide", f"{name} %d, %a",
                              [("b32", operand("b32", name))], [("b32", "b32", EXACT)])
    for from_ in ("u8", "s8", "u16", "s16"):
        name = f"cvt.s32.{from_}"
        yield elementwise("cvt", f"{name} wide", f"{name} %d, %a",
                          [("b32", operand("b32", name))], [("b32", "b32", EXACT)])


def to_float():
    for kind in FLOATS:
        for from_ in INTEGERS if kind != "bf16" else INTEGERS[2:]:
            for mode in ROUNDINGS:
                yield convert(f"cvt.{mode}.{kind}.{from_}", from_, kind.replace("bf", "b"))
        if kind != "bf16":
            yield convert(f"cvt.rn.sat.{kind}.s32", "s32", kind)


def to_integer():
    for kind in FLOATS:
        ftzs = ("", ".ftz") if kind == "f32" else ("",)
        for to in INTEGERS if kind != "bf16" else INTEGERS[2:]:
            for mode in ("rni", "rzi", "rmi", "rpi"):
                for ftz in ftzs if mode == "rpi" else ("",):
                    name = f"cvt.{mode}{ftz}.{to}.{kind}"
                    yield floating(name, kind, register(to))
        if kind != "bf16":
            yield floating(f"cvt.rni.sat.s32.{kind}", kind, "b32")


def floating(name, kind, to_register, rule=EXACT, result=None):
    from_register = f"b{1 + sum(FLOATS[kind])}"
    return elementwise("cvt", name, f"{name} %d, %a", [(from_register, operand(kind, name))],
                       [(to_register, result or to_register, rule)])


def between_floats():
    for from_, to in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f64", "bf16"),
                      ("f32", "bf16")):
        modes = ROUNDINGS if (from_, to) != ("f32", "bf16") else ("rn", "rz")
        for mode in modes:
            yield floating(f"cvt.{mode}.{to}.{from_}", from_, f"b{1 + sum(FLOATS[to])}", NAN, to)
    for name, from_, to in (
            ("cvt.rn.ftz.f16.f32", "f32", "f16"), ("cvt.rn.sat.f16.f32", "f32", "f16"),
            ("cvt.rn.satfinite.f16.f32", "f32", "f16"), ("cvt.rn.relu.f16.f32", "f32", "f16"),
            ("cvt.rz.relu.f16.f32", "f32", "f16"), ("cvt.rn.ftz.f32.f64", "f64", "f32"),
            ("cvt.rn.sat.f32.f64", "f64", "f32"), ("cvt.rn.relu.bf16.f32", "f32", "bf16"),
            ("cvt.rz.relu.bf16.f32", "f32", "bf16"),
            ("cvt.rn.satfinite.bf16.f32", "f32", "bf16"), ("cvt.f32.f16", "f16", "f32"),
            ("cvt.ftz.f32.f16", "f16", "f32"), ("cvt.f64.f16", "f16", "f64"),
            ("cvt.f64.f32", "f32", "f64"), ("cvt.ftz.f64.f32", "f32", "f64"),
            ("cvt.f32.bf16", "bf16", "f32"), ("cvt.ftz.f32.bf16", "bf16", "f32"),
            ("cvt.f64.bf16", "bf16", "f64"), ("cvt.sat.f32.f16", "f16", "f32"),
            ("cvt.rn.bf16.f16", "f16", "bf16"), ("cvt.rn.f16.bf16", "bf16", "f16"),
            ("cvt.rz.bf16.f16", "f16", "bf16"), ("cvt.rp.f16.bf16", "bf16", "f16"),
            ("cvt.sat.f32.f32", "f32", "f32"), ("cvt.ftz.sat.f32.f32", "f32", "f32"),
            ("cvt.sat.f16.f16", "f16", "f16"), ("cvt.sat.f64.f64", "f64", "f64")):
        yield floating(name, from_, f"b{1 + sum(FLOATS[to])}", NAN, to)
    for kind in FLOATS:
        for mode in ("rni", "rzi", "rmi", "rpi"):
            yield floating(f"cvt.{mode}.{kind}.{kind}", kind, f"b{1 + sum(FLOATS[kind])}", NAN,
                           kind)
    yield floating("cvt.rni.ftz.f32.f32", "f32", "b32", NAN, "f32")
    yield floating("cvt.rzi.sat.f32.f32", "f32", "b32", NAN, "f32")
    for name in ("rna", "rna.satfinite", "rn", "rz", "rn.relu", "rz.relu"):
        yield floating(f"cvt.{name}.tf32.f32", "f32", "b32", NAN, "f32")


def packed_floats():
    for kind in ("f16x2", "bf16x2"):
        for mode in ("rn", "rz", "rn.relu", "rz.relu", "rn.satfinite", "rn.relu.satfinite"):
            name = f"cvt.{mode}.{kind}.f32"
            a, b = operands(["f32"] * 2, name)
            yield elementwise("cvt", name, f"{name} %d, %a, %b", [("b32", a), ("b32", b)],
                              [("b32", kind[:-2], NAN)])
    codes = np.arange(256, dtype=np.uint64)
    pairs = codes | (((codes * np.uint64(77)) & np.uint64(255)) << np.uint64(8))
    for kind in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            name = f"cvt.rn.satfinite{relu}.{kind}.f32"
            a, b = (eighth(v) for v in operands(["f32"] * 2, name))
            yield elementwise("cvt", name, f"{name} %d, %a, %b", [("b32", a), ("b32", b)],
                              [("b16", "b16", EXACT)])
            name = f"cvt.rn.satfinite{relu}.{kind}.f16x2"
            yield elementwise("cvt", name, f"{name} %d, %a", [("b32", packed("f16", name))],
                              [("b16", "b16", EXACT)])
            name = f"cvt.rn{relu}.f16x2.{kind}"
            yield elementwise("cvt", name, f"{name} %d, %a", [("b16", pairs)],
                              [("b32", "f16", NAN)])


def eighth(values):
    """Every third value close to a halfway case of the 8-bit types."""
    few = np.array([0x0, 0x80000, 0xFFFFF, 0x80001, 0x100000, 0x180000, 0x7FFFF, 0x17FFFF,
                    0x180001, 0x100001], dtype=np.uint64)
    lanes = np.arange(THREADS)
    power = np.uint64(100) + (values >> np.uint64(3)) % np.uint64(46)
    near = (values & np.uint64(0x80600000)) | (power << np.uint64(23)) | few[lanes % len(few)]
    return np.where(lanes % 3 == 1, near, values)


def pack():
    for to in ("u16", "s16"):
        name = f"cvt.pack.sat.{to}.s32"
        a, b = operands(["b32"] * 2, name)
        yield elementwise("cvt", name, f"{name} %d, %a, %b", [("b32", a), ("b32", b)],
                          [("b32", "b32", EXACT)])
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        name = f"cvt.pack.sat.{to}.s32.b32"
        a, b, c = operands(["b32"] * 3, name)
        yield elementwise("cvt", name, f"{name} %d, %a, %b, %c",
                          [("b32", a), ("b32", b), ("b32", c)], [("b32", "b32", EXACT)])


def snippets():
    for family in (integers, to_float, to_integer, between_floats, packed_floats, pack):
        yield from family()
