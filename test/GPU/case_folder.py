# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folders that run_cases.py reads, and the tools that fill them.

A case has a folder with the kernels, kernels.ptx and manifest.json, and case.json.
Inputs and expected results lie there too, or in the folder that the entry `data` of
case.json names, which cases of the same function for several chips or schedules
share; those of acceptance cases are made where they run.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

SECONDS_PER_TOOL = 280


def argument_parser(description):
    """The parser of a maker, with the options that all have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(),
                        help="folder of the tools (default: those on PATH)")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1),
                        help="tools at a time (default: %(default)s)")
    return parser


def make_all(make, items, jobs):
    """Calls make(item) for all, each [(folder name, error text or None)]; prints the
    errors. Returns the numbers of folders (made, failed)."""
    made = failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(make, items):
            for name, error in found:
                made += not error
                failed += bool(error)
                if error:
                    print(f"FAILED {name}: {error}", file=sys.stderr, flush=True)
    return made, failed


def call(*command):
    """Runs a tool; returns (what it printed, None) or (None, an error text)."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                              timeout=SECONDS_PER_TOOL, errors="replace")
    except subprocess.TimeoutExpired:
        return None, f"{command[0]}: no end after {SECONDS_PER_TOOL} s"
    if done.returncode:
        return None, f"{' '.join(map(str, command))}\n{done.stderr.strip()[:2000]}"
    return done.stdout, None


def compile_case(folder, source, arch, tokens, bin_folder):
    """Writes the kernels of `source` for so many tokens; an error text, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    pipeline = f"--moe-to-ptx=arch={arch} tokens={tokens}"
    for what, name in (("ptx", "kernels.ptx"), ("manifest", "manifest.json")):
        _, error = call(pathlib.Path(bin_folder) / "moe-opt", source, pipeline,
                        f"--emit={what}", "-o", folder / name)
        if error:
            shutil.rmtree(folder)
            return error
    return None


def write_facts(folder, data=None, **facts):
    """Writes case.json. Facts: `arguments` (how each input is made, {} where a file
    holds it), `seed`, `types` and `results` of the results, and where they are not
    the usual ones `tolerances`, `names` and `near_ties`. Or `suite` and `cases`, the
    names of acceptance cases."""
    if data:
        facts["data"] = os.path.relpath(data, folder)
    (folder / "case.json").write_text(json.dumps(facts, indent=1))


def write_arrays(folder, name, arrays):
    """Writes FOLDER/NAME/I.npy for every array that is not None."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    for i, array in enumerate(arrays):
        if array is not None:
            np.save(folder / name / f"{i}.npy", array)
