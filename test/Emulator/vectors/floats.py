# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on f32, f64, f16, bf16 and pairs of the last two.

The ISA fixes the payload of a NaN for min, max and the 16-bit types, and leaves
it open for other arithmetic: any NaN is as good as another there.
"""

import numpy as np

from operands import FLOATS, operand, operands, packed
from snippet import EXACT, NAN, close, elementwise

ROUNDINGS = ("rn", "rz", "rm", "rp")


def flat(group, name, type_, arity, rule=NAN, text=None):
    width = {"f16x2": 32, "bf16x2": 32}.get(type_) or 1 + sum(FLOATS[type_])
    register = f"b{width}"
    if type_.endswith("x2"):
        kind = type_[:-2]
        values = [packed(kind, name, i) for i in range(arity)]
    else:
        kind = type_
        values = operands([kind] * arity, name)
    arguments = ", ".join(["%d", "%a", "%b", "%c"][: arity + 1])
    return elementwise(group, name, (text or name) + " " + arguments,
                       [(register, v) for v in values], [(register, kind, rule)])


def single():
    for ftz in ("", ".ftz"):
        for sat in ("", ".sat"):
            for op in ("add", "sub", "mul"):
                for mode in ROUNDINGS:
                    yield flat("f32", f"{op}.{mode}{ftz}{sat}.f32", "f32", 2)
            for mode in ROUNDINGS:
                yield flat("f32", f"fma.{mode}{ftz}{sat}.f32", "f32", 3)
        for mode in ROUNDINGS:
            yield flat("f32", f"mad.{mode}{ftz}.f32", "f32", 3)
            yield flat("f32", f"div.{mode}{ftz}.f32", "f32", 2)
            yield flat("f32", f"rcp.{mode}{ftz}.f32", "f32", 1)
            yield flat("f32", f"sqrt.{mode}{ftz}.f32", "f32", 1)
        for op in ("min", "max"):
            for nan in ("", ".NaN"):
                for sign in ("", ".xorsign.abs"):
                    yield flat("f32", f"{op}{ftz}{nan}{sign}.f32", "f32", 2, EXACT)
        for op in ("abs", "neg"):
            yield flat("f32", f"{op}{ftz}.f32", "f32", 1)
    for op in ("add", "sub", "mul", "add.ftz", "mul.sat"):
        yield flat("f32", f"{op}.f32", "f32", 2)
    yield flat("f32", "copysign.f32", "f32", 2, EXACT)
    yield flat("f32", "mov.f32", "f32", 1, EXACT)


def constants():
    for name in ("add.rn.f32 %d, %a, 0f3F800001", "mul.rn.f32 %d, %a, 0fBFB8AA3B",
                 "fma.rn.f32 %d, %a, 0f3DCCCCCD, 0f7F7FFFFF", "max.f32 %d, %a, 0fFF800000"):
        yield elementwise("f32", name.replace("%", ""), name,
                          [("b32", operand("f32", name))], [("b32", "f32", NAN)])
    name = "fma.rn.f64 %d, %a, 0d3FE62E42FEFA39EF, 0d0000000000000001"
    yield elementwise("f64", name.replace("%", ""), name,
                      [("b64", operand("f64", name))], [("b64", "f64", NAN)])


def double():
    for mode in ROUNDINGS:
        for op in ("add", "sub", "mul", "div"):
            yield flat("f64", f"{op}.{mode}.f64", "f64", 2)
        yield flat("f64", f"fma.{mode}.f64", "f64", 3)
        yield flat("f64", f"mad.{mode}.f64", "f64", 3)
        yield flat("f64", f"rcp.{mode}.f64", "f64", 1)
        yield flat("f64", f"sqrt.{mode}.f64", "f64", 1)
    for op in ("min", "max"):
        yield flat("f64", f"{op}.f64", "f64", 2)
    for op in ("abs", "neg"):
        yield flat("f64", f"{op}.f64", "f64", 1)
    yield flat("f64", "copysign.f64", "f64", 2, EXACT)


def tests():
    for type_ in ("f32", "f64"):
        width = int(type_[1:])
        for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            name = f"testp.{what}.{type_}"
            yield elementwise(type_, name, f"{name} %p, %a; selp.b32 %d, 1, 0, %p",
                              [(f"b{width}", operand(type_, name))], [("b32", "b32", EXACT)])


# Twice the ISA's largest errors. Where it gives them in units in the last place,
# one such unit is 2^-23 of the result, or of the least normal number below it;
# sine and cosine have an absolute error in [-pi, pi] and none that is bounded
# beyond, so that their arguments stay inside.
TINY = 2.0 ** -149
APPROXIMATE = {
    "rcp.approx": close(2 * 2.0 ** -23, 2 * TINY),
    "sqrt.approx": close(2 * 2.0 ** -23, 2 * TINY),
    "rsqrt.approx": close(2 * 2.0 ** -22.9, 2 * TINY),
    "ex2.approx": close(2 * 2.0 ** -22, 2 * TINY),
    "lg2.approx": close(2 * 2.0 ** -22, 2 * 2.0 ** -22),
    "tanh.approx": close(2 * 2.0 ** -11, 2 * TINY),
}


def approximate():
    for name, rule in APPROXIMATE.items():
        for ftz in ("", ".ftz"):
            if not (name == "tanh.approx" and ftz):
                yield flat("approx", f"{name}{ftz}.f32", "f32", 1, rule)
    for ftz in ("", ".ftz"):
        yield division(f"div.full{ftz}.f32")
        yield division(f"div.approx{ftz}.f32")
        for op in ("sin", "cos"):
            yield wave(f"{op}.approx{ftz}.f32")
    # The .ftz forms read and give 20 bits of a mantissa.
    yield flat("approx", "rcp.approx.ftz.f64", "f64", 1, close(2 * 2.0 ** -20))
    yield flat("approx", "rsqrt.approx.ftz.f64", "f64", 1, close(2 * 2.0 ** -20))
    yield flat("approx", "rsqrt.approx.f64", "f64", 1, close(2 * 2.0 ** -22.9))
    for kind, error in (("f16", 2.0 ** -9.9), ("bf16", 2.0 ** -7)):
        ftz = ".ftz" if kind == "bf16" else ""
        for pair in ("", "x2"):
            yield flat("approx", f"ex2.approx{ftz}.{kind}{pair}", kind + pair, 1,
                       close(2 * error, 2 * (2.0 ** -24 if kind == "f16" else 2.0 ** -126)))
            error_ = 2.0 ** -10.987 if kind == "f16" else 2.0 ** -8
            yield flat("approx", f"tanh.approx.{kind}{pair}", kind + pair, 1,
                       close(2 * error_ + 2.0 ** (-10 if kind == "f16" else -7), 2.0 ** -24))


def division(name):
    """The divisor is within [2^-126, 2^126], the range that has an error bound."""
    a, b = operands(["f32"] * 2, name)
    power = (b >> 23) & 0xFF
    b = (b & 0x807FFFFF) | (power.clip(1, 252) << 23)
    # The quotient of such numbers may be a denormal, which some forms flush.
    return elementwise("approx", name, f"{name} %d, %a, %b", [("b32", a), ("b32", b)],
                       [("b32", "f32", close(2 * 2.0 ** -22, 2.0 ** -125))])


def wave(name):
    a = operand("f32", name)
    power = ((a >> 23) & 0xFF).clip(0, 128)
    fraction = a & 0x7FFFFF
    fraction = np.where(power == 128, fraction >> 1, fraction)
    a = (a & 0x80000000) | (power << 23) | fraction
    return elementwise("approx", name, f"{name} %d, %a", [("b32", a)],
                       [("b32", "f32", close(0, 2 * 2.0 ** -20.5))])


def half():
    for kind in ("f16", "bf16"):
        ftzs = ("", ".ftz") if kind == "f16" else ("",)
        sats = ("", ".sat") if kind == "f16" else ("",)
        for type_ in (kind, kind + "x2"):
            for ftz in ftzs:
                for sat in sats:
                    for op in ("add", "sub", "mul"):
                        for mode in ("", ".rn"):
                            yield flat(kind, f"{op}{mode}{ftz}{sat}.{type_}", type_, 2)
                    yield flat(kind, f"fma.rn{ftz}{sat}.{type_}", type_, 3)
                yield flat(kind, f"fma.rn{ftz}.relu.{type_}", type_, 3)
                for op in ("abs", "neg"):
                    yield flat(kind, f"{op}{ftz}.{type_}", type_, 1)
                for op in ("min", "max"):
                    for nan in ("", ".NaN"):
                        for sign in ("", ".xorsign.abs"):
                            yield flat(kind, f"{op}{ftz}{nan}{sign}.{type_}", type_, 2, EXACT)
            yield flat(kind, f"fma.rn.oob.{type_}", type_, 3)
            yield flat(kind, f"fma.rn.oob.relu.{type_}", type_, 3)


def snippets():
    for family in (single, constants, double, tests, approximate, half):
        yield from family()
