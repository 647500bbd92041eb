# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the inputs that moe-run made with those of moe.random_inputs.

random-inputs.py REPORT.json FOLDER SEED; the report is that of moe-run --json.
"""

import json
import sys
from pathlib import Path

import numpy as np

from moe.random_inputs import generate

report, folder, seed = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], int(sys.argv[3])
for number, argument in enumerate(report["arguments"]):
    ours = generate(argument["role"], argument["bound"], argument["type"],
                    argument["shape"], seed, number)
    theirs = np.load(Path(folder) / f"{number}.npy")
    same = ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()
    bound = f" {argument['bound']}" if argument["role"] != "uniform" else ""
    shape = "x".join(map(str, argument["shape"] + [argument["type"]]))
    print(f"{number}: {shape} {argument['role']}{bound}: "
          f"{'identical' if same and ours.shape == theirs.shape else 'DIFFERENT'}")
