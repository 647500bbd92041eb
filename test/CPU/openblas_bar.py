#!/usr/bin/env python3
# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures a compiled layer against OpenBLAS on the layer's products.

    openblas_bar.py [FILE.mlir] [--limit 1.0]

The layer (Inputs/bar.mlir) is compiled by moe-opt, mlir-translate, opt and llc
and called in this process. OpenBLAS computes the products alone, expert by
expert, on rows that were gathered beforehand: no routing, no gathering, no
activation, no sum. Both use one thread and alternate; the fastest of the
repetitions counts.

OpenBLAS picks its kernel when it is loaded, and old versions do not know new
CPUs. So each kernel that suits this CPU is measured in a process of its own,
besides the one it picks itself, and the fastest is the bar. Exit status 1 if
the layer takes more than LIMIT times the bar; without an OpenBLAS there is none.
"""

import argparse
import ctypes
import ctypes.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"openblas_bar.py: {error}; it needs a python3 with NumPy")

from compiled import Layer, compile_layer

TOKENS, H, I, EXPERTS, SLOTS = 64, 1024, 512, 16, 4
REPETITIONS = 40
CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_TRANS = 101, 111, 112


def cpu_flags():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    return set()


class Products:
    """The products of the layer by cblas_sgemm."""

    def __init__(self, blas, x, ids, w13, w2, rng):
        self.blas, self.calls = blas, []
        for expert in range(EXPERTS):
            rows = x[(ids == expert).any(axis=1)]
            act = rng.random((len(rows), I), np.float32)
            for a, b in ((rows, w13[expert]), (act, w2[expert])):
                c = np.empty((len(a), len(b)), np.float32)
                self.calls.append((np.ascontiguousarray(a), b, c))

    def __call__(self):
        pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
        calls = [(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_TRANS, len(a), len(b), a.shape[1],
                  ctypes.c_float(1), pointer(a), a.shape[1], pointer(b), b.shape[1],
                  ctypes.c_float(0), pointer(c), len(b)) for a, b, c in self.calls]
        start = time.perf_counter()
        for call in calls:
            self.blas.cblas_sgemm(*call)
        return time.perf_counter() - start


def expected(x, wg, w13, w2):
    """(ids, output) of the layer in NumPy."""
    logits = (x @ wg.T).astype(np.float64)
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :SLOTS]
    weights = np.take_along_axis(scores, ids, axis=1)
    weights /= weights.sum(axis=1, keepdims=True)
    out = np.zeros_like(x, np.float64)
    for t, j in np.ndindex(ids.shape):
        h = w13[ids[t, j]] @ x[t]
        act = h[:I] / (1 + np.exp(-h[:I])) * h[I:]
        out[t] += weights[t, j] * (w2[ids[t, j]] @ act)
    return ids, out


def measure(library, blas_name):
    """Prints 'version|kernel|layer ms|OpenBLAS ms' for the OpenBLAS of this process."""
    blas = ctypes.CDLL(blas_name)
    blas.openblas_get_config.restype = ctypes.c_char_p
    blas.openblas_get_corename.restype = ctypes.c_char_p
    blas.openblas_set_num_threads(1)
    rng = np.random.default_rng(7)
    uniform = lambda *shape: (rng.random(shape, np.float32) - 0.5).astype(np.float32)
    x, wg = uniform(TOKENS, H), uniform(EXPERTS, H)
    w13, w2 = uniform(EXPERTS, 2 * I, H) / 32, uniform(EXPERTS, H, I) / 22
    ids, wanted = expected(x, wg, w13, w2)
    layer = Layer(library, [x, wg, w13, w2])
    products = Products(blas, x, ids, w13, w2, rng)
    _, found = layer()
    error = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    if not error <= 1e-5:
        sys.exit(f"the layer is wrong: relative L2 error {error:.3g}")
    times = [(layer()[0], products()) for _ in range(REPETITIONS)]
    ours, theirs = (min(t) * 1e3 for t in zip(*times))
    version = blas.openblas_get_config().decode().split()[1]
    print(f"{version}|{blas.openblas_get_corename().decode()}|{ours}|{theirs}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default=str(Path(__file__).parent / "Inputs/bar.mlir"))
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure)

    blas = ctypes.util.find_library("openblas")
    if not blas:
        print("no OpenBLAS on this machine: nothing to compare with")
        return 0
    flags = cpu_flags()
    kernels = [None] + ["SkylakeX"] * ("avx512f" in flags) + ["Haswell"] * ("avx2" in flags)
    rows = []
    with tempfile.TemporaryDirectory(prefix="moe-bar-") as folder:
        library = compile_layer(options.file, folder, 512 if "avx512f" in flags else 256)
        for kernel in kernels:
            environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
            environment["OPENBLAS_NUM_THREADS"] = "1"
            if kernel:
                environment["OPENBLAS_CORETYPE"] = kernel
            text = subprocess.run(
                [sys.executable, __file__, "--measure", library, blas], env=environment,
                check=True, stdout=subprocess.PIPE, text=True).stdout
            version, core, ours, theirs = text.strip().split("|")
            rows.append((float(theirs), float(ours), core, version, kernel))

    gflop = TOKENS * SLOTS * 2 * 3 * H * I / 1e9
    for theirs, ours, core, version, kernel in rows:
        print(f"OpenBLAS {version}, kernel {core} ({'asked for' if kernel else 'its choice'}): "
              f"{theirs:.2f} ms ({gflop / theirs * 1e3:.0f} GFLOP/s); "
              f"layer {ours:.2f} ms ({gflop / ours * 1e3:.0f} GFLOP/s); ratio {ours / theirs:.2f}")
    bar = min(row[0] for row in rows)
    layer = min(row[1] for row in rows)
    print(f"layer / fastest OpenBLAS: {layer / bar:.2f}, limit {options.limit:.2f}")
    return 0 if layer <= options.limit * bar else 1


if __name__ == "__main__":
    sys.exit(main())
