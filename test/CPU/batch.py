# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A token's result must not depend on the tokens beside it: bit for bit.

    batch.py FILE.mlir

Runs the layer on 501 tokens, so that an expert has more rows than a chunk, and
then on its first 1, 2, 5 and 64 tokens alone, with the same weights.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ALL, PARTS = 501, (1, 2, 5, 64)
SHAPES = ((8, 40), (8, 20, 40), (8, 40, 10))


def run(source, folder, arrays):
    (folder / "in").mkdir(exist_ok=True)
    for i, array in enumerate(arrays):
        np.save(folder / "in" / f"{i}.npy", array)
    subprocess.run(["moe-run", source, "--device=cpu", f"--inputs={folder}/in",
                    f"--outputs={folder}/out"], check=True, stdout=subprocess.DEVNULL)
    return np.load(folder / "out" / "0.npy")


def main():
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=shape).astype(np.float32) / 6 for shape in SHAPES]
    x = rng.normal(size=(ALL, 40)).astype(np.float32)
    with tempfile.TemporaryDirectory(prefix="moe-batch-") as place:
        whole = run(sys.argv[1], Path(place), [x, *weights])
        assert np.isfinite(whole).all() and (whole != 0).all()
        for tokens in PARTS:
            part = run(sys.argv[1], Path(place), [x[:tokens], *weights])
            equal = np.array_equal(part.view(np.uint32), whole[:tokens].view(np.uint32))
            print(f"{tokens} of {ALL} tokens: {'equal' if equal else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
