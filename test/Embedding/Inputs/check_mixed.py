# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_mixed.py LIBRARY: calls @mixed of mixed.mlir, compiled for the CPU, and
compares with what NumPy computes in double precision from the same arrays.
"""

import ctypes
import sys

import numpy as np

TOKENS, HIDDEN, INTERMEDIATE, EXPERTS, TOP_K = 13, 128, 64, 4, 2


def memref(rank):
    """MLIR's descriptor of an array."""
    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
                    ("offset", ctypes.c_int64), ("sizes", ctypes.c_int64 * rank),
                    ("strides", ctypes.c_int64 * rank)]
    return Descriptor


def describe(array):
    descriptor = memref(array.ndim)(array.ctypes.data, array.ctypes.data, 0)
    descriptor.sizes[:] = array.shape
    descriptor.strides[:] = [stride // array.itemsize for stride in array.strides]
    return descriptor


def call(library, arrays):
    result = memref(2)()
    descriptors = [describe(array) for array in arrays]
    ctypes.CDLL(library)._mlir_ciface_mixed(
        ctypes.byref(result), *[ctypes.byref(descriptor) for descriptor in descriptors])
    start = result.aligned + result.offset * 4
    flat = np.ctypeslib.as_array(ctypes.cast(start, ctypes.POINTER(ctypes.c_float)),
                                 (result.sizes[0] * result.strides[0],))
    return np.lib.stride_tricks.as_strided(
        flat, tuple(result.sizes), tuple(4 * stride for stride in result.strides))


def block(s, router, up, down):
    logits = s @ router.T
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    y = np.zeros_like(s)
    for t, score in enumerate(scores):
        chosen = np.argsort(-score, kind="stable")[:TOP_K]
        for expert in chosen:
            inner = np.maximum(up[expert] @ s[t], 0) ** 2
            y[t] += score[expert] / score[chosen].sum() * (down[expert] @ inner)
    return y


def main():
    rng = np.random.default_rng(5)
    shapes = [(TOKENS, HIDDEN), (EXPERTS, HIDDEN), (EXPERTS, INTERMEDIATE, HIDDEN),
              (EXPERTS, HIDDEN, INTERMEDIATE)]
    arrays = [rng.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in shapes]
    out, *weights = [array.astype(np.float64) for array in arrays]
    for _ in range(2):
        out = out + block(0.5 * out, *weights)
    expected = out[:, :HIDDEN // 2]
    actual = call(sys.argv[1], arrays)
    if actual.shape != expected.shape:
        sys.exit(f"shape {actual.shape} instead of {expected.shape}")
    error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
    print(f"relative L2 error {error:.1e}")
    if not error <= 1e-5:
        sys.exit("the results differ")


main()
