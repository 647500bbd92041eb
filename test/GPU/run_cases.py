# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs prepared cases on a GPU and compares them with the reference.

A case is a folder made by make_cases.py and its like: kernels.ptx and
manifest.json, which together are a bundle, case.json (inputs by seed, tolerances)
and, there or in the folder that case.json names as `data`, inputs/N.npy and
expected/N.npy. Needs NumPy, libmoe_runtime.so and libcuda.so.1, no LLVM. Each case runs twice; the runs must agree bit for bit.
The last line is `N passed, N failed`.
"""

import argparse
import json
import pathlib
import re
import sys
import time
import traceback

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from moe import random_inputs, runtime  # noqa: E402

TOLERANCES = {"bf16": 5e-3, "f16": 2e-3, "f32": 1e-5}


def values(array, dtype):
    """The elements as f64."""
    if dtype == "bf16":
        return random_inputs.bf16_values(array).astype(np.float64)
    return array.astype(np.float64)


def compare(found, expected, dtype, skip, limit):
    """An error text, or the relative L2 error."""
    keep = np.ones(expected.shape[:1] or (1,), bool)
    keep[skip] = False
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if dtype == "i32":
        wrong = int((found[keep] != expected[keep]).sum())
        return f"{wrong} of {expected.size} integers differ" if wrong else 0.0
    f, e = values(found, dtype)[keep], values(expected, dtype)[keep]
    if not np.array_equal(np.isnan(f), np.isnan(e)):
        return f"NaN at {int((np.isnan(f) != np.isnan(e)).sum())} other places"
    if not np.array_equal(f[np.isinf(f)], e[np.isinf(e)]):
        return "infinities differ"
    f, e = (np.where(np.isfinite(v), v, 0) for v in (f, e))
    if isinstance(limit, list):  # ["absolute", bound]: each element by itself
        error = float(np.abs(f - e).max(initial=0))
        return error if error <= limit[1] else f"differs by {error:.2e} over {limit[1]:.0e}"
    norm = float(np.sqrt((e * e).sum()))
    error = float(np.sqrt(((f - e) ** 2).sum())) / (norm or 1.0)
    return error if error <= limit else f"relative L2 {error:.2e} above {limit:.0e}"


def run_case(device, folder):
    case = json.loads((folder / "case.json").read_text())
    layer = runtime.Layer(runtime.Bundle(folder), device)
    inputs, data = [], folder / case.get("data", ".")
    for i, argument in enumerate(case["arguments"]):
        path = data / "inputs" / f"{i}.npy"
        inputs.append(np.load(path) if path.exists() else
                      random_inputs.generate(argument["role"], argument["bound"],
                                             argument["type"], argument["shape"],
                                             case["seed"], i))
    expected = [np.load(data / "expected" / f"{i}.npy") for i in range(case["results"])]
    shapes = [e.shape for e in expected]
    first = layer.run(*inputs, result_shapes=shapes)
    second = layer.run(*inputs, result_shapes=shapes)
    worst, problems = 0.0, []
    for i, (found, again, wanted) in enumerate(zip(first, second, expected)):
        if found.tobytes() != again.tobytes():
            problems.append(f"result {i} differs between two runs")
            continue
        dtype = case["types"][i]
        limit = case["tolerances"][i] if "tolerances" in case else TOLERANCES[dtype]
        outcome = compare(found, wanted, dtype, case.get("near_ties", []), limit)
        name = case["names"][i] if "names" in case else ""
        if isinstance(outcome, str):
            problems.append(f"result {i} {name}: {outcome}")
            continue
        worst = max(worst, outcome)
    return "; ".join(problems) or worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="what the makers of cases wrote")
    parser.add_argument("--filter", default="", help="cases whose name contains this")
    parser.add_argument("--matching", default="", help="cases whose name has a match of this "
                        "regular expression")
    args = parser.parse_args()
    if not args.folder.is_dir():
        parser.error(f"{args.folder}: no such folder")
    try:
        device = runtime.Device("cuda")
    except (runtime.RuntimeFailure, OSError) as error:
        parser.exit(2, f"run_cases.py: {error}\n")
    passed = failed = 0
    for case in sorted(p.parent for p in args.folder.rglob("case.json")):
        if args.filter not in case.name or not re.search(args.matching, case.name):
            continue
        start = time.time()
        try:
            outcome = run_case(device, case)
        except runtime.RuntimeFailure as error:
            # An illegal access poisons the context: nothing after it can run.
            outcome = str(error)
            context_lost = "illegal" in outcome or "misaligned" in outcome or "launch fail" in outcome
            print(f"FAIL {case.name}: {outcome}", flush=True)
            failed += 1
            if context_lost:
                print("the context is lost: run the rest with --filter", flush=True)
                break
            continue
        except Exception:  # noqa: BLE001 - one case must not hide the others
            outcome = traceback.format_exc()
        if isinstance(outcome, str):
            failed += 1
            print(f"FAIL {case.name}: {outcome}", flush=True)
        else:
            passed += 1
            print(f"pass {case.name}: {outcome:.1e} in {time.time() - start:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
