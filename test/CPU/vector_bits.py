# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with vectors of every width, whatever this CPU has, against NumPy.

    vector_bits.py FILE.mlir kn|nk
"""

import sys
import tempfile

import numpy as np

from compiled import Layer, compile_layer

# Rows per expert: full and partial tiles of every height, none, and a chunk more.
SIZES = (13, 0, 1, 5, 100, 2)
N, K = 75, 43


def main():
    source, layout = sys.argv[1:]
    rng = np.random.default_rng(5)
    sizes = np.array(SIZES, np.int32)
    a = rng.normal(size=(sum(SIZES), K)).astype(np.float32)
    b = rng.normal(size=(len(SIZES), N, K)).astype(np.float32)
    experts = np.repeat(np.arange(len(SIZES)), SIZES)
    wanted = np.einsum("rk,rnk->rn", a.astype(np.float64), b.astype(np.float64)[experts])
    if layout == "kn":
        b = np.ascontiguousarray(b.transpose(0, 2, 1))
    for bits in (128, 256, 512, 1024):
        with tempfile.TemporaryDirectory(prefix="moe-bits-") as folder:
            library = compile_layer(source, folder, bits)
            _, found = Layer(library, [a, b, sizes])()
        error = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
        print(f"{bits} bits: {'agrees' if error < 1e-6 else f'relative L2 {error:.3g}'}")


if __name__ == "__main__":
    main()
