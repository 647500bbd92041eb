# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs many small cases through moe-run and compares every result.

A case is a function that takes a `Program`, gives it inputs, adds ops and says
what it expects of which results. Several cases share one program, and so one
process a device; when that process fails, each case runs again by itself, so
that a failure names its case. What is expected of a result is an array, or
`SAME`, which asks the devices to agree, or a function that looks at the result
and returns what is wrong with it, or None.
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from moe_ir import Func

DEVICES = ("reference", "cpu")
# Relative L2 that a result of this type may differ by.
TOLERANCE = {"bf16": 5e-3, "f16": 2e-3, "f32": 1e-5, "i32": 0.0}
# Threads that wait for moe-run; one process runs on one core.
JOBS = min(2, os.cpu_count() or 1)
SECONDS_PER_RUN = 280

SAME = object()


def to_bits(array, element):
    """The array as it lies on disk: bf16 as 16-bit patterns, ties to even."""
    if element == "bf16":
        return bf16_bits(np.ascontiguousarray(array, np.float32))
    types = {"f16": np.float16, "f32": np.float32, "i32": np.int32}
    return np.ascontiguousarray(array, types[element])


def bf16_bits(array):
    """The patterns of an array of f32, in pieces that stay in a cache."""
    flat, found = array.reshape(-1), np.empty(array.size, np.uint16)
    piece = 1 << 16
    for start in range(0, array.size, piece):
        values = flat[start:start + piece]
        bits = values.view(np.uint32)
        rounded = bits >> 16
        rounded &= 1
        rounded += bits
        rounded += 0x7FFF
        rounded >>= 16
        rounded[np.isnan(values)] = 0x7FC0
        found[start:start + piece] = rounded
    return found.reshape(array.shape)


def from_bits(array, element):
    """The values of an array read from disk, as f32 or i32."""
    if element == "bf16":
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.int32 if element == "i32" else np.float32)


def rounded(array, element):
    """The values of `array` after rounding to `element`, as f32."""
    return from_bits(to_bits(array, element), element)


class Program(Func):
    """A function, the arrays of its arguments and what is expected of it."""

    def __init__(self):
        super().__init__("cases")
        self.arrays = []
        self.expected = []
        # Makes the array of an argument that a shared builder asks for.
        self.draw = None

    def input(self, name, array, element, dynamic=None):
        """An argument that holds `array`; returns its value. `dynamic` names the
        first dimension, which is then `?`."""
        array = np.asarray(array)
        shape = ((dynamic,) if dynamic else array.shape[:1]) + array.shape[1:]
        value = super().arg(name, shape, element)
        self.arrays.append(to_bits(array, element))
        if dynamic and dynamic not in self.sizes:
            self.dim(dynamic, value)
        return value

    def arg(self, name, shape, element):
        """An argument with the array that `draw(name, shape, element)` makes."""
        value = super().arg(name, shape, element)
        self.arrays.append(to_bits(self.draw(name, shape, element), element))
        return value

    def output(self, case, value, expected=SAME, tolerance=None):
        """Makes `value` a result of the function."""
        if tolerance is None:
            tolerance = TOLERANCE[value.element]
        self.expected.append((case, value, expected, tolerance))

    def add_cases(self, cases):
        """Adds [(name, case)], one after the other; returns the program."""
        for name, case in cases:
            self.begin_case()
            case(self, name)
        return self

    def begin_case(self):
        """Forgets the named dimensions of the case before."""
        constants = {k: v for k, v in self.sizes.items() if k[0] == "c"}
        self.sizes = constants

    def module(self):
        return self.text(*[value for _, value, _, _ in self.expected])


def difference(found, expected, element, tolerance):
    """What is wrong with `found`, or None. Integers must be equal; floats must be
    NaN at the same places and close: in relative L2, or, with a tolerance
    ("absolute", bound), each by itself."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if element == "i32":
        wrong = np.argwhere(found != expected)
        if len(wrong):
            at = tuple(wrong[0])
            return (f"{len(wrong)} of {found.size} differ, first at {list(at)}: "
                    f"{found[at]}, expected {expected[at]}")
        return None
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    nan = np.isnan(expected)
    if not np.array_equal(np.isnan(found), nan):
        at = tuple(np.argwhere(np.isnan(found) != nan)[0])
        return f"at {list(at)}: {found[at]}, expected {expected[at]}"
    finite = np.isfinite(found) & np.isfinite(expected)
    if np.any(found[~finite & ~nan] != expected[~finite & ~nan]):
        return "infinite at other places"
    found, expected = found[finite], expected[finite]
    if isinstance(tolerance, tuple):
        worst = np.max(np.abs(found - expected), initial=0)
        bound = tolerance[1]
        return None if worst <= bound else f"differs by {worst:.3g} over {bound:g}"
    error, norm = np.linalg.norm(found - expected), np.linalg.norm(expected)
    if not error <= tolerance * norm + 1e-30:
        return f"relative L2 {error / max(norm, 1e-30):.3g} over {tolerance:g}"
    return None


def run_command(command):
    """Runs a tool; returns the text of its error, or None."""
    try:
        run = subprocess.run(command, capture_output=True, text=True,
                             timeout=SECONDS_PER_RUN, errors="replace")
    except subprocess.TimeoutExpired:
        return f"{command[0]}: no end after {SECONDS_PER_RUN} s"
    if run.returncode == 0:
        return None
    return (f"{command[0]}: exit status {run.returncode}: "
            f"{run.stderr.strip()[:2000]}")


def run_device(folder, name, program):
    """Runs FOLDER/case.mlir; returns (results, None) or (None, error text). The
    name is that of a device and options of moe-run, or that and `after PASSES`."""
    device, _, passes = name.partition(" after ")
    label = "".join(c if c.isalnum() else "-" for c in name)
    module, out = folder / "case.mlir", folder / f"out-{label}"
    if passes:
        lowered = folder / f"case-{label}.mlir"
        error = run_command(["moe-opt", str(module), "-o", str(lowered),
                             f"--pass-pipeline=builtin.module({passes})"])
        if error:
            return None, error
        module = lowered
    device, *options = device.split()
    error = run_command(["moe-run", str(module), f"--device={device}", *options,
                         f"--inputs={folder / 'in'}", f"--outputs={out}"])
    if error:
        return None, error
    return [from_bits(np.load(out / f"{i}.npy"), value.element)
            for i, (_, value, _, _) in enumerate(program.expected)], None


def run_program(cases, devices):
    """Runs the cases in one program; returns ([(case, device, complaint)], the
    folder with everything that ran)."""
    program = Program().add_cases(cases)
    folder = Path(tempfile.mkdtemp(prefix="moe-cases-"))
    (folder / "case.mlir").write_text(program.module())
    (folder / "in").mkdir()
    for i, array in enumerate(program.arrays):
        np.save(folder / "in" / f"{i}.npy", array)
    complaints, results = [], {}
    for device in devices:
        results[device], error = run_device(folder, device, program)
        if error:
            complaints.append((", ".join(name for name, _ in cases), device, error))
    for device in devices:
        if results[device] is None:
            continue
        for i, (name, value, expected, tolerance) in enumerate(program.expected):
            found = results[device][i]
            if expected is SAME:
                first = results[devices[0]]
                if first is None or device == devices[0]:
                    continue
                wrong = difference(found, first[i], value.element, tolerance)
            elif callable(expected):
                wrong = expected(found)
            else:
                wrong = difference(found, np.asarray(expected), value.element,
                                   tolerance)
            if wrong:
                complaints.append((name, device, f"{value.name}: {wrong}"))
    return complaints, folder


def keep(folder, name, target):
    """Moves the files of a failed run to TARGET/NAME for a look at them."""
    place = Path(target) / name.replace("/", "_").replace(" ", "_")
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, place)
    return place


def run_batch(cases, devices, target):
    """Runs cases together, or one by one when they do not pass together."""
    complaints, folder = run_program(cases, devices)
    if not complaints or len(cases) == 1:
        if complaints:
            folder = keep(folder, cases[0][0], target)
            complaints = [(*c, folder) for c in complaints]
        else:
            shutil.rmtree(folder)
        return complaints
    alone = [c for case in cases for c in run_batch([case], devices, target)]
    if not alone:
        # Wrong only together: the whole batch is the failing input.
        folder = keep(folder, f"batch-{cases[0][0]}", target)
        return [(*c, folder) for c in complaints]
    shutil.rmtree(folder)
    return alone


def run_cases(title, cases, devices=DEVICES, batch=12, target="failed-cases"):
    """Runs [(name, case)]; prints the failures and one line of counts. Returns the
    number of cases that failed."""
    batches = [cases[i:i + batch] for i in range(0, len(cases), batch)]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        complaints = [c for found in pool.map(
            lambda b: run_batch(b, devices, target), batches) for c in found]
    for name, device, text, folder in complaints:
        print(f"FAILED {name} on {device}: {text}\n  see {folder}")
    failed = len({name for name, *_ in complaints})
    print(f"{title}: {len(cases)} cases on {', '.join(devices)}, {failed} failed")
    sys.stdout.flush()
    return failed
