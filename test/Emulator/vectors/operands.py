# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of inputs: values that are hard for an operation, mixed with random ones."""

import numpy as np

from snippet import THREADS, random_bits

# Exponent bits and mantissa bits.
FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def hard_integers(width):
    top, ones = 1 << (width - 1), (1 << width) - 1
    values = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, ones, ones - 1, top, top - 1,
              top + 1, top >> 1, 10, 100, 0x7F, 0x80, 0xFF, 0x100]
    values += [int("5" * (width // 4), 16), int("a" * (width // 4), 16),
               int("f0" * (width // 8), 16), ones >> (width // 2), ones ^ (ones >> (width // 2)),
               ones - 31, ones - 32]
    if width > 16:
        values += [0x7FFF, 0x8000, 0xFFFF, 0x10000, ones - 0x7FFF, ones - 0x8000]
    if width > 32:
        values += [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000]
    return [v & ones for v in values]


def hard_floats(kind):
    """Zeros, denormals, infinities, NaNs with a payload, powers of two and their
    neighbours, and halfway cases of the roundings to integers and to fewer bits."""
    exponent, mantissa = FLOATS[kind]
    bias = (1 << (exponent - 1)) - 1
    one = bias << mantissa
    infinity = ((1 << exponent) - 1) << mantissa
    half = 1 << (mantissa - 1)
    sign = 1 << (exponent + mantissa)

    def number(power, fraction=0):
        return ((bias + power) << mantissa) | fraction

    values = [0, 1, 2, half, half * 2 - 1, 1 << mantissa, (1 << mantissa) + 1, infinity - 1,
              infinity - 2, infinity, infinity | half, infinity | 1, infinity | half | 3,
              one, one + 1, one - 1, one + half, number(-1), number(-1, 1), number(1),
              number(1, half), number(1, half >> 1), number(2, half >> 2), number(4),
              number(-2, half), number(mantissa), number(mantissa, 1), number(mantissa - 1, 1),
              number(mantissa + 1, 1), number(7, half * 2 - 1), number(8), number(-9),
              number(-14 if exponent > 5 else -13), number(15), number(15, half * 2 - 1)]
    if exponent > 5:
        values += [number(31), number(31, 1), number(30, half * 2 - 1), number(32),
                   number(63), number(64), number(-24), number(-25), number(-126),
                   number(16, 0), number(15, half * 2 - (1 << max(0, mantissa - 11))),
                   number(8, (half >> 1) * 3), number(8, half + (half >> 1) + (half >> 2))]
    if kind == "f64":
        values += [number(127, half * 2 - 1), number(127, (half * 2 - 1) ^ ((1 << 28) - 1)),
                   number(128), number(-149), number(-150), number(-150, 1), number(0, 1 << 28),
                   number(0, 3 << 28), number(0, (1 << 28) + 1), number(-127, half)]
    if kind == "f32":
        values += [number(0, 1 << 15), number(0, 3 << 15), number(0, (1 << 15) + 1),
                   number(0, 1 << 12), number(0, 3 << 12), number(0, (1 << 12) + 1),
                   number(127, 0x7F8000), number(-126, 3), number(15, 0x7FF000),
                   number(15, 0x7FEFFF), number(-15, half), number(8, 0x600000 | 0x080000)]
    return values + [v | sign for v in values]


def moderate_floats(kind, key, count):
    """Numbers within a few powers of two of 1; a quarter with few mantissa bits."""
    exponent, mantissa = FLOATS[kind]
    bias = (1 << (exponent - 1)) - 1
    bits = random_bits(key + "/moderate", count)
    one = np.uint64(1)
    fraction = (bits >> np.uint64(8)) & np.uint64((1 << mantissa) - 1)
    short = fraction & ~np.uint64((1 << (mantissa - 3)) - 1)
    fraction = np.where(bits & np.uint64(0x60) == 0, short, fraction)
    power = np.uint64(bias - 3) + (bits & np.uint64(7))
    return ((bits >> np.uint64(63)) << np.uint64(exponent + mantissa)) | (
        power << np.uint64(mantissa)) | (fraction * one)


def operand(kind, key, index=0, count=THREADS, related=None):
    """Operand `index` of the snippet `key`: half hard values, a quarter random bits, a
    quarter ordinary numbers. With `related`, every eighth value is near one of that
    operand, or its negative.
    """
    floats = kind in FLOATS
    width = sum(FLOATS[kind]) + 1 if floats else int(kind[1:])
    key = f"{key}/{index}"
    hard = np.array(hard_floats(kind) if floats else hard_integers(width), dtype=np.uint64)
    choice = random_bits(key + "/choice", count, 32)
    values = hard[(choice >> np.uint64(4)) % np.uint64(len(hard))]
    if index == 0 and count >= len(hard):
        values[: len(hard)] = hard  # the first operand shows each of them once
    noise = random_bits(key + "/noise", count, width)
    lanes = np.arange(count) % 4
    ordinary = moderate_floats(kind, key, count) if floats else noise >> np.uint64(width // 2)
    tail = slice(len(hard), None) if index == 0 and count >= len(hard) else slice(None)
    mixed = np.where(lanes == 2, noise, np.where(lanes == 3, ordinary, values))
    values[tail] = mixed[tail]
    if related is not None:
        flip = np.uint64(1 << (width - 1))
        near = np.where(choice & np.uint64(1), related ^ np.uint64(1), related ^ flip)
        near = np.where(choice & np.uint64(2), near, related)
        values = np.where(np.arange(count) % 8 == 5, near, values)
    return values


def operands(kinds, key, count=THREADS):
    """Arrays for the operands of a snippet, the later ones related to the first."""
    out = []
    for index, kind in enumerate(kinds):
        same = out and kind == kinds[0]
        out.append(operand(kind, key, index, count, out[0] if same else None))
    return out


def packed(kind, key, index=0, count=THREADS):
    """Pairs of 16-bit floats in 32 bits."""
    low = operand(kind, key + "/low", index, count)
    high = operand(kind, key + "/high", index + 1, count)
    return low | (high << np.uint64(16))
