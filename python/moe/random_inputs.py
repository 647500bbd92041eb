# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs that every machine makes alike.

`include/moe/Data/RandomInputs.h` documents the hash and the roles; this is
the same generator in NumPy, bit for bit. `moe-run --json` prints the role,
bound, type and shape of every argument, which are the parameters of `generate`.

Arrays of bf16 come as uint16 bit patterns, the form of the `.npy` files.
"""

import numpy as np

_U64 = np.uint64


def mix(z):
    """One step of the hash on an array of uint64."""
    z = np.asarray(z, dtype=_U64)
    with np.errstate(over="ignore"):
        z = z + _U64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> _U64(27))) * _U64(0x94D049BB133111EB)
    return z ^ (z >> _U64(31))


def random_bits(seed, argument, size):
    """The hashes of flat indices 0 to size - 1."""
    with np.errstate(over="ignore"):
        stream = mix(mix(_U64(seed)) + _U64(argument))
        return mix(stream + np.arange(size, dtype=_U64))


def bf16_bits(values):
    """f32 values as bf16 bit patterns, rounded to nearest even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> 16
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(is_nan, quiet, rounded).astype(np.uint16)


def bf16_values(bits):
    """bf16 bit patterns as f32 values."""
    return (np.asarray(bits, dtype=np.uint16).astype(np.uint32) << 16).view(np.float32)


def _to_dtype(values, dtype):
    if dtype == "bf16":
        return bf16_bits(values)
    return values.astype({"f32": np.float32, "f16": np.float16, "f64": np.float64}[dtype])


def _uniform(bits, scale):
    unit = (bits >> _U64(40)).astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)
    return unit * np.float32(scale)


def _distinct_ids(bits, bound, slots):
    """bits % bound; in rows of `slots`, a taken value moves to the next free."""
    ids = (bits % _U64(max(bound, 1))).astype(np.int64).reshape(-1, slots)
    if slots > bound:
        return ids
    taken = np.zeros((ids.shape[0], bound), dtype=bool)
    rows = np.arange(ids.shape[0])
    for slot in range(slots):
        while True:
            clash = taken[rows, ids[:, slot]]
            if not clash.any():
                break
            ids[clash, slot] = (ids[clash, slot] + 1) % bound
        taken[rows, ids[:, slot]] = True
    return ids


def _end_offsets(bits, bound):
    ends = np.sort((bits % _U64(bound + 1)).astype(np.int64))
    if ends.size:
        ends[-1] = bound
    return ends


def _integers(role, bits, bound, shape):
    if role == "ids":
        return _distinct_ids(bits, bound, shape[1] if len(shape) == 2 else 1)
    if role == "expert_map":
        order = np.argsort(bits, kind="stable")
        values = np.full(bits.size, -1, dtype=np.int64)
        values[order[:bound]] = np.arange(min(bound, bits.size))
        return values
    if role == "end_offsets":
        return _end_offsets(bits, bound)
    if role == "sizes":
        return np.diff(_end_offsets(bits, bound), prepend=0)
    if role == "counts":
        return bits % _U64(bound + 1)
    if role == "below":
        return bits % _U64(max(bound, 1))
    if role == "permutation":
        return np.argsort(bits, kind="stable")
    if role == "value":
        return np.full(bits.size, bound, dtype=np.int64)
    raise ValueError(f"unknown role {role!r}")


def generate(role, bound, dtype, shape, seed, argument):
    """The array of one argument.

    `dtype` is MLIR's name: f64, f32, f16, bf16, i64 (also index), i32, i16, i8.
    """
    shape = tuple(shape)
    bits = random_bits(seed, argument, int(np.prod(shape, dtype=np.int64)))
    if role in ("uniform", "weight"):
        scale = 1.0 if role == "uniform" or bound <= 0 else 1.0 / np.sqrt(float(bound))
        return _to_dtype(_uniform(bits, scale), dtype).reshape(shape)
    integers = {"i64": np.int64, "index": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8}
    return _integers(role, bits, bound, shape).astype(integers[dtype]).reshape(shape)
