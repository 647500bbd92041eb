# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs everything that pack.py put into this folder, on this machine's GPU.

  python3 DIR/test/GPU/run_all.py [--no-sanitizer] [--no-bench] [--jobs N] [--log DIR]

  cases      each twice, poisoned, against the reference      run_cases.py
  layers     the models at full size against float32          full_layers.py
  sanitizer  one case of each kind under memcheck, racecheck, initcheck and
             synccheck, where compute-sanitizer is installed
  bench      whole layers beside PyTorch                      bench.py

The last line is `N passed, N failed, N skipped`; the exit status is 1 unless
something ran and nothing failed.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

DIR = pathlib.Path(__file__).resolve().parents[2]
GPU = DIR / "test" / "GPU"
# The first case of every kind of kernel, of both families and of whole layers.
SAMPLE = r"^(ops-.*-00-.*sm_90a|schedules-.*-00-.*|.*small-t33-s.*sm_90a)$"
# These have arguments with gaps, whose last row ends where memory ends. A 16-byte
# cp.async that is told to read 2 bytes there is right, but memcheck takes it for a
# read of 16.
GAPS = r"|^gemms-.*-00-.*sm_90a$"
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed", re.M)


class Totals:
    def __init__(self, log):
        self.log, self.passed, self.failed, self.skipped = log, 0, 0, 0

    def add(self, name, passed, failed, note=""):
        self.passed, self.failed = self.passed + passed, self.failed + failed
        print(f"{name}: {passed} passed, {failed} failed{note}", flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f"{name}: skipped, {reason}", flush=True)

    def run(self, name, *command):
        """The output of a script, also in the log folder; failures are shown."""
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if self.log:
            (self.log / f"{name}.log").write_text(done.stdout)
        for line in done.stdout.splitlines():
            if line.startswith("FAIL"):
                print("  " + line[:300], flush=True)
        return done

    def count(self, name, done):
        counts = COUNTS.findall(done.stdout)
        if counts:
            return self.add(name, *map(int, counts[-1]))
        print(done.stdout[-2000:])
        return self.add(name, 0, 1, ": it ended early")


def sanitize(totals):
    tool = shutil.which("compute-sanitizer")
    if not tool:
        return totals.skip("sanitizer", "compute-sanitizer is not installed")
    for check in ("memcheck", "racecheck", "initcheck", "synccheck"):
        # The runtime asks the driver questions whose answer may be no.
        done = totals.run(check, tool, "--report-api-errors", "no", "--tool", check,
                          sys.executable, GPU / "run_cases.py", DIR / "cases",
                          "--matching", SAMPLE + ("" if check == "memcheck" else GAPS))
        clean = re.search(r"SUMMARY: 0 (errors|hazards)", done.stdout)
        if not clean:
            print("\n".join(l for l in done.stdout.splitlines() if l.startswith("====="))[:3000])
        counts = COUNTS.findall(done.stdout)
        cases = int(counts[-1][0]) if counts else 0
        totals.add(check, int(bool(clean) and cases > 0), int(not clean or cases == 0),
                   f", {cases} cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-sanitizer", action="store_true")
    parser.add_argument("--no-bench", action="store_true")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1),
                        help="processes that run cases (default: %(default)s)")
    parser.add_argument("--log", type=pathlib.Path, help="folder for the whole output of each part")
    args = parser.parse_args()
    if args.log:
        args.log.mkdir(parents=True, exist_ok=True)
    totals = Totals(args.log)
    for folder in sorted((DIR / "cases").glob("*/")):
        totals.count(folder.name, totals.run(folder.name, sys.executable, GPU / "run_cases.py",
                                             folder, "--jobs", args.jobs))
    has_torch = importlib.util.find_spec("torch") is not None
    if (DIR / "layers").is_dir():
        if has_torch:
            totals.count("layers", totals.run("layers", sys.executable, GPU / "full_layers.py",
                                              DIR / "layers"))
        else:
            totals.skip("layers", "PyTorch is not installed")
    if not args.no_sanitizer:
        sanitize(totals)
    if (DIR / "bench").is_dir() and not args.no_bench:
        if has_torch:
            done = totals.run("bench", sys.executable, GPU / "bench.py", DIR / "bench")
            print(done.stdout, flush=True)
            totals.add("bench", int(done.returncode == 0), int(done.returncode != 0))
        else:
            totals.skip("bench", "PyTorch is not installed")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped")
    return 1 if totals.failed or not totals.passed else 0


if __name__ == "__main__":
    sys.exit(main())
