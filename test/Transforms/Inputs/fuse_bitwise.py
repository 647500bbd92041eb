# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""moe-fuse removes roundings of intermediates and changes nothing else.

    fuse_bitwise.py FOLDER

Runs each layer and its fused form on the reference with the same arguments.
With f32 elements the results have the same bits; with bf16 both forms are as
close to the results with f32 intermediates as any execution has to be.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

TOKENS, SLOTS, WIDTH = 37, 3, 24
BF16_TOLERANCE = 5e-3
HERE = Path(__file__).parent
# Ops of the plain form that the fused form must not have.
FUSED_AWAY = ("moe.activation ins", "moe.permute", "moe.unpermute")


def rounded(values, element):
    """f32 as the file of an argument holds it."""
    values = values.astype(np.float32)
    if element == "f32":
        return values
    bits = values.view(np.uint32)
    high = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), high)


def widened(array):
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def tokens_that_route_nowhere(rng, element):
    """NaN in x makes every logit of the token NaN and every slot -1."""
    x = rng.uniform(-1, 1, (TOKENS, WIDTH))
    x[5] = x[36] = np.nan
    return {0: rounded(x, element)}


def slots_without_expert(rng, element):
    """-1, numbers beyond the map, and numbers that it sends nowhere. Their
    weights are NaN, and so are the rows of x that no slot reads."""
    ids = rng.integers(0, 6, (TOKENS, SLOTS)).astype(np.int32)
    ids[::3, 1] = -1
    ids[1::4, 0] = 6
    ids[2::7, 2] = np.iinfo(np.int32).min
    ids[9] = -1
    expert_map = np.array([2, -1, 0, 4, 3, 1], np.int32)  # 4: above the last one
    local = np.where((ids >= 0) & (ids < 6), expert_map[ids % 6], -1)
    missing = (local < 0) | (local >= 4)
    assert missing.any() and not missing.all()
    weights = np.where(missing, np.nan, rng.uniform(0, 1, ids.shape))
    x = rng.uniform(-1, 1, (TOKENS, WIDTH))
    x[missing.all(axis=1)] = np.nan
    return {0: rounded(x, element), 4: ids, 5: weights.astype(np.float32), 6: expert_map}


LAYERS = {"fuse-layer": tokens_that_route_nowhere, "fuse-by-ids": slots_without_expert,
          "fuse-permuted": slots_without_expert}


def run(module, folder, arguments):
    subprocess.run(["moe-run", module, f"--outputs={folder}", *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    return [np.load(file) for file in sorted(folder.glob("*.npy"))]


def compare(name, element, place):
    place.mkdir(parents=True, exist_ok=True)
    plain, fused = place / "plain.mlir", place / "fused.mlir"
    plain.write_text((HERE / f"{name}.mlir").read_text().replace("ELEMENT", element))
    subprocess.run(["moe-opt", plain, "--moe-fuse", "-o", fused], check=True)
    text = fused.read_text()
    assert "moe.activation ins" in plain.read_text()
    assert not any(op in text for op in FUSED_AWAY), text
    # The rows before the sum are a result of fuse-permuted, so it keeps its weight.
    assert ("weighted = false" in text) == (name != "fuse-permuted"), text

    files = []
    rng = np.random.default_rng(len(name))
    for number, array in LAYERS[name](rng, element).items():
        np.save(place / f"argument{number}.npy", array)
        files.append(f"--input={number}:{place}/argument{number}.npy")
    before = run(plain, place / "plain", ["--inputs=seed:5", f"--tokens={TOKENS}",
                                          f"--save-inputs={place}/in", *files])
    after = run(fused, place / "fused", [f"--inputs={place}/in"])
    exact = run(plain, place / "exact", [f"--inputs={place}/in", "--f32-intermediates"])
    assert len(before) == len(after) == (2 if name == "fuse-permuted" else 1)
    for number, results in enumerate(zip(before, after, exact)):
        print(f"{name} {element} result {number}: {judge(element, *results)}")


def judge(element, plain, fused, exact):
    assert plain.shape == fused.shape and plain.dtype == fused.dtype
    want = widened(exact).astype(np.float64)
    assert np.isfinite(want).all() and np.count_nonzero(want) > want.size / 2
    if element == "f32":
        return "same bits" if plain.tobytes() == fused.tobytes() else "DIFFERENT"
    errors = [np.linalg.norm(widened(found) - want) / np.linalg.norm(want)
              for found in (plain, fused)]
    return "close" if max(errors) <= BF16_TOLERANCE else f"DIFFERENT by {errors}"


def main():
    for name in LAYERS:
        for element in ("f32", "bf16"):
            compare(name, element, Path(sys.argv[1]) / name / element)


if __name__ == "__main__":
    main()
