# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folders that run_cases.py reads, and the tools that fill them.

A case has a folder with the kernels, kernels.ptx and manifest.json, and case.json,
whose entry `data` names the folder of the inputs and expected results; cases of the
same function for several chips or schedules share one.
"""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np

SECONDS_PER_TOOL = 280


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


def write_facts(folder, data, **facts):
    """Writes case.json. Facts: `arguments` (how each input is made, {} where a file
    holds it), `seed`, `types` and `results` of the results, and where they are not
    the usual ones `tolerances`, `names` and `near_ties`."""
    facts["data"] = os.path.relpath(data, folder)
    (folder / "case.json").write_text(json.dumps(facts, indent=1))


def write_arrays(folder, name, arrays):
    """Writes FOLDER/NAME/I.npy for every array that is not None."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    for i, array in enumerate(arrays):
        if array is not None:
            np.save(folder / name / f"{i}.npy", array)
