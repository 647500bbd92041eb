# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs FILE.mlir on integers of any value, on the CPU and the reference.

    hostile.py FILE.mlir
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SEEDS = 20
EXTREMES = [-2**31, -2**31 + 1, -7, -1, 12, 40, 41, 10**6, 2**31 - 1]


def arguments(source):
    """(shape, element) of every argument of the function."""
    signature = re.search(r"func\.func @\w+\((.*?)\)\s*->", source, re.S).group(1)
    for dims in re.findall(r"tensor<([^>]*)>", signature):
        *shape, element = dims.split("x")
        yield tuple(map(int, shape)), element


def random_array(rng, shape, element):
    if element == "f32":
        return rng.normal(size=shape).astype(np.float32)
    # Mostly plausible, so that not everything is refused at once.
    small = rng.integers(-1, 10, shape)
    return np.where(rng.random(shape) < 0.35, rng.choice(EXTREMES, shape), small).astype(np.int32)


def main():
    path = sys.argv[1]
    kinds = list(arguments(Path(path).read_text()))
    agreed = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory(prefix="moe-hostile-") as folder:
            for i, (shape, element) in enumerate(kinds):
                np.save(f"{folder}/{i}.npy", random_array(rng, shape, element))
            done = subprocess.run(
                ["moe-run", path, "--device=cpu", "--compare=reference", f"--inputs={folder}"],
                capture_output=True, text=True, check=False)
        agreed += done.returncode == 0
        if done.returncode != 0:
            print(f"seed {seed}: status {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{agreed} of {SEEDS} seeds agree")


if __name__ == "__main__":
    main()
