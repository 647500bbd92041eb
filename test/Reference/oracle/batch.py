# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many ops in one function, run by moe-run and compared with the oracle."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TOLERANCE = {"f32": 2e-6, "f16": 1e-3, "bf16": 4e-3}
SEED = 20261130


def round_to(values, element):
    """(array for the file, its values in f64) of `values` rounded to a type."""
    values = np.asarray(values)
    if element == "i32":
        return values.astype(np.int32), values.astype(np.int32)
    if element != "bf16":
        stored = values.astype({"f32": np.float32, "f16": np.float16}[element])
        return stored, stored.astype(np.float64)
    bits = values.astype(np.float32).view(np.uint32)
    # A carry out of the fraction ties to even; NaN and infinity stay.
    upper = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    upper = np.where(np.isnan(values), np.uint16(0x7FC0), upper)
    return upper, (upper.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def load_values(path, element):
    array = np.load(path)
    if element == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array if element == "i32" else array.astype(np.float64)


def difference(found, expected, element, tolerance):
    """What is wrong with `found`, or None."""
    expected = np.asarray(expected)
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if element == "i32":
        wrong = np.argwhere(found != expected)
        return None if not len(wrong) else (
            f"{len(wrong)} differ, first at {wrong[0]}: {found[tuple(wrong[0])]}, "
            f"expected {expected[tuple(wrong[0])]}")
    finite = np.isfinite(expected)
    same = np.where(np.isnan(expected), np.isnan(found), found == expected)
    if not same[~finite].all() or not np.isfinite(found[finite]).all():
        return "NaN or infinity at other places"
    error = np.linalg.norm(found[finite] - expected[finite])
    norm = np.linalg.norm(expected[finite])
    return None if error <= tolerance * norm else f"relative L2 {error / norm:.3g}"


class Batch:
    """One function; `arg` and `op` add to it, `run` executes and compares it."""

    def __init__(self):
        self.arrays, self.types, self.lines, self.results = [], [], [], []

    def arg(self, values, element="f32"):
        """An argument; returns ("%name : type" parts, the values as rounded)."""
        stored, rounded = round_to(values, element)
        kind = "x".join([*map(str, stored.shape), element])
        self.arrays.append(stored)
        self.types.append(f"tensor<{kind}>")
        return (f"%a{len(self.arrays) - 1}", self.types[-1]), rounded

    def empty(self, shape, element="f32"):
        """A destination nobody has written."""
        kind = "tensor<" + "x".join([*map(str, shape), element]) + ">"
        name = f"%e{len(self.lines)}"
        self.lines.append(f"  {name} = tensor.empty() : {kind}")
        return name, kind

    def op(self, label, name, groups, outs, attributes, expected):
        """Adds `moe.name group(...) outs(...) {attributes}`; every result is one of
        the function's and is compared with its entry of `expected`."""
        def clause(word, values):
            return (f"{word}({', '.join(v for v, _ in values)} : "
                    f"{', '.join(t for _, t in values)})")
        clauses = [clause(w, v) for w, v in groups if v] + [clause("outs", outs)]
        names = [f"%r{len(self.results) + i}" for i in range(len(outs))]
        types = ", ".join(t for _, t in outs)
        text = ", ".join(f"{k} = {v}" if v != "" else k for k, v in attributes.items())
        self.lines.append(f"  {', '.join(names)} = moe.{name} {' '.join(clauses)} "
                          f"{{{text}}} -> {types}")
        for (_, kind), wanted in zip(outs, expected):
            element = kind[:-1].split("x")[-1].removeprefix("tensor<")
            self.results.append((label, element, kind, wanted))

    def module(self):
        arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(self.types))
        kinds = ", ".join(kind for _, _, kind, _ in self.results)
        values = ", ".join(f"%r{i}" for i in range(len(self.results)))
        body = "\n".join(self.lines)
        return (f"func.func @cases({arguments}) -> ({kinds}) {{\n{body}\n"
                f"  return {values} : {kinds}\n}}\n")

    def run(self):
        """The complaints of this batch."""
        with tempfile.TemporaryDirectory(prefix="moe-oracle-") as place:
            folder = Path(place)
            (folder / "in").mkdir()
            (folder / "cases.mlir").write_text(self.module())
            for i, array in enumerate(self.arrays):
                np.save(folder / "in" / f"{i}.npy", array)
            done = subprocess.run(
                ["moe-run", str(folder / "cases.mlir"), f"--inputs={folder}/in",
                 f"--outputs={folder}/out", *sys.argv[2:]],
                capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return [f"{self.results[0][0]} and following: {done.stderr[:1500]}"]
            return [f"{label}: result {i}: {wrong}"
                    for i, (label, element, _, wanted) in enumerate(self.results)
                    if (wrong := difference(
                        load_values(folder / "out" / f"{i}.npy", element), wanted,
                        element, TOLERANCE.get(element, 0)))]


def main(title, generators, per_batch=12):
    """Runs every case of every generator: functions that take (batch, rng)."""
    rng = np.random.default_rng(SEED)
    print(f"seed {SEED}")
    cases = [case for generate in generators for case in generate()]
    complaints = []
    for start in range(0, len(cases), per_batch):
        batch = Batch()
        for case in cases[start:start + per_batch]:
            case(batch, rng)
        complaints += batch.run()
    for complaint in complaints:
        print("FAILED", complaint)
    print(f"{title}: {len(cases)} cases, {len(complaints)} failed")
    return 1 if complaints else 0
