# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs prepared cases on a GPU and compares them with the reference.

A case is a folder made by make_cases.py and its like: kernels.ptx and
manifest.json, which together are a bundle, case.json (inputs by seed, tolerances)
and, there or in the folder that case.json names as `data`, inputs/N.npy and
expected/N.npy. Where case.json names acceptance cases instead, test/Cases makes
inputs and expected results. Needs NumPy, libmoe_runtime.so and libcuda.so.1, no
LLVM. Each case runs twice; the runs must agree bit for bit.
The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import concurrent.futures.process
import json
import multiprocessing
import os
import pathlib
import re
import sys
import time
import traceback
import typing

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from moe import random_inputs, runtime  # noqa: E402

TOLERANCES = {"bf16": 5e-3, "f16": 2e-3, "f32": 1e-5, "i32": 0.0}


class Result(typing.NamedTuple):
    """What result of a case has to be: an array of f64 within `limit`, or what a
    function of the f64 values takes, which returns an error text or None."""

    name: str
    type: str
    expected: typing.Any
    limit: typing.Any


def values(array, dtype):
    """The elements as f64."""
    if dtype == "bf16":
        return random_inputs.bf16_values(array).astype(np.float64)
    return array.astype(np.float64)


def saved(folder, case):
    """(inputs, results) of a case whose data lies in files or follows from its seed."""
    inputs, data = [], folder / case.get("data", ".")
    for i, argument in enumerate(case["arguments"]):
        path = data / "inputs" / f"{i}.npy"
        inputs.append(np.load(path) if path.exists() else
                      random_inputs.generate(argument["role"], argument["bound"],
                                             argument["type"], argument["shape"],
                                             case["seed"], i))
    types = case["types"]
    names = case.get("names", [""] * len(types))
    limits = case.get("tolerances", [TOLERANCES[dtype] for dtype in types])
    return inputs, [Result(name, dtype, values(np.load(data / "expected" / f"{i}.npy"), dtype),
                           limit)
                    for i, (name, dtype, limit) in enumerate(zip(names, types, limits))]


def acceptance(folder, case):
    """(inputs, results) of acceptance cases, as test/Cases makes them."""
    sys.path.insert(0, str(ROOT / "test" / "Cases"))
    import cases
    program = cases.program(case["suite"], case["cases"])
    if program.module() != (folder / case["source"]).read_text():
        raise ValueError("test/Cases here makes another function than the one that was "
                         "compiled: use one version for both")
    return program.arrays, [
        Result(name, value.element,
               expected if callable(expected) else np.asarray(expected, np.float64), limit)
        for name, value, expected, limit in program.expected]


def compare(found, result, skip):
    """An error text, or the relative L2 error."""
    found, expected, limit = values(found, result.type), result.expected, result.limit
    if callable(expected):
        return expected(found.astype(np.int32 if result.type == "i32" else np.float32)) or 0.0
    keep = np.ones(expected.shape[:1] or (1,), bool)
    keep[skip] = False
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    f, e = found[keep], expected[keep]
    if result.type == "i32":
        wrong = int((f != e).sum())
        return f"{wrong} of {expected.size} integers differ" if wrong else 0.0
    if not np.array_equal(np.isnan(f), np.isnan(e)):
        return f"NaN at {int((np.isnan(f) != np.isnan(e)).sum())} other places"
    if not np.array_equal(f[np.isinf(f)], e[np.isinf(e)]):
        return "infinities differ"
    f, e = (np.where(np.isfinite(v), v, 0) for v in (f, e))
    if isinstance(limit, (list, tuple)):  # "absolute", bound: each element by itself
        error = float(np.abs(f - e).max(initial=0))
        return error if error <= limit[1] else f"differs by {error:.2e} over {limit[1]:.0e}"
    norm = float(np.sqrt((e * e).sum()))
    error = float(np.sqrt(((f - e) ** 2).sum())) / (norm or 1.0)
    return error if error <= limit else f"relative L2 {error:.2e} above {limit:.0e}"


def run_case(device, folder):
    """The largest error, or a text of all that is wrong."""
    case = json.loads((folder / "case.json").read_text())
    layer = runtime.Layer(runtime.Bundle(folder), device)
    inputs, results = (acceptance if "suite" in case else saved)(folder, case)
    shapes = [getattr(r.expected, "shape", None) for r in results]
    first = layer.run(*inputs, result_shapes=shapes)
    second = layer.run(*inputs, result_shapes=shapes)
    worst, problems = 0.0, []
    for i, (found, again, result) in enumerate(zip(first, second, results)):
        outcome = compare(found, result, case.get("near_ties", []))
        if found.tobytes() != again.tobytes():
            outcome = "differs between two runs"
        if isinstance(outcome, str):
            problems.append(f"result {i} {result.name}: {outcome}")
            continue
        worst = max(worst, outcome)
    return "; ".join(problems) or worst


class Runner:
    """Runs cases on the device of this process; folder -> (passed, line to print)."""

    device = None
    lost = False

    @classmethod
    def open(cls):
        cls.device = cls.device or runtime.Device("cuda")

    @classmethod
    def run(cls, folder):
        if cls.lost:
            return False, f"FAIL {folder.name}: not run, since the context is lost"
        start = time.time()
        try:
            cls.open()
            outcome = run_case(cls.device, folder)
        except runtime.RuntimeFailure as error:
            # An illegal access poisons the context: nothing after it can run.
            outcome = str(error)
            cls.lost = any(word in outcome for word in ("illegal", "misaligned", "launch fail"))
        except Exception:  # noqa: BLE001 - one case must not hide the others
            outcome = traceback.format_exc()
        if isinstance(outcome, str):
            return False, f"FAIL {folder.name}: {outcome}"
        return True, f"pass {folder.name}: {outcome:.1e} in {time.time() - start:.1f} s"


def outcomes(folders, jobs):
    """What Runner.run returns for each, in so many processes with a context each."""
    if jobs == 1:
        yield from map(Runner.run, folders)
        return
    # NumPy's threads in all processes together: the number of cores.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // jobs)))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, context) as pool:
        running = {pool.submit(Runner.run, folder): folder for folder in folders}
        for done in concurrent.futures.as_completed(running):
            try:
                yield done.result()
            except concurrent.futures.process.BrokenProcessPool:
                yield False, f"FAIL {running[done].name}: not run, or it ended its process"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="what the makers of cases wrote")
    parser.add_argument("--filter", default="", help="cases whose name contains this")
    parser.add_argument("--matching", default="", help="cases whose name has a match of this "
                        "regular expression")
    parser.add_argument("--jobs", type=int, default=1, help="processes, all on one GPU "
                        "(default: %(default)s)")
    args = parser.parse_args()
    if not args.folder.is_dir():
        parser.error(f"{args.folder}: no such folder")
    try:
        Runner.open()
    except (runtime.RuntimeFailure, OSError) as error:
        parser.exit(2, f"run_cases.py: {error}\n")
    folders = sorted(p.parent for p in args.folder.rglob("case.json")
                     if args.filter in p.parent.name and re.search(args.matching, p.parent.name))
    passed = 0
    for good, line in outcomes(folders, args.jobs):
        passed += good
        print(line, flush=True)
    failed = len(folders) - passed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
