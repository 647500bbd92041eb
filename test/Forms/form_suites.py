# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms as batches: functions of several forms that compile alike."""

import sys
from dataclasses import dataclass
from pathlib import Path

TEST = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TEST), str(TEST / "Models")]

import gemm_forms
import layer_forms
import op_forms
import schedule_forms

ALL_CHIPS = ("sm_80", "sm_89", "sm_90", "sm_90a")
TOKENS = {gemm_forms.FEW: 16, gemm_forms.MANY: 8192}


@dataclass
class Batch:
    """Cases of one function; `tokens` are what schedules are chosen for, each gives
    kernels of its own."""

    name: str
    cases: list
    tokens: tuple = (512,)
    archs: tuple = ALL_CHIPS


def batches(stem, cases, size, **options):
    return [Batch(f"{stem}-{i // size:02}", cases[i:i + size], **options)
            for i in range(0, len(cases), size)]


def gemms(size=12):
    by_kernel = {}
    for i, form in enumerate(gemm_forms.product().pairwise()):
        kernel = form["kernel"]
        stem = kernel.split()[0] if kernel in gemm_forms.WRITTEN else kernel.split()[-1]
        by_kernel.setdefault((stem, (TOKENS.get(kernel, 512),)), []).append(
            gemm_forms.case(form, i))
    return [batch for (stem, tokens), cases in by_kernel.items()
            for batch in batches(stem, cases, size, tokens=tokens,
                                 archs=("sm_90a",) if stem == "wgmma" else ALL_CHIPS)]


def ops(size=20):
    return [batch for op, *_ in op_forms.OPS
            for batch in batches(op, op_forms.cases(only=op), size, archs=("sm_80", "sm_90a"))]


def layers():
    return batches("layer", layer_forms.cases(), 1, tokens=(16, 8192), archs=("sm_90a",))


def schedules(size=10):
    return [batch for family, cases in schedule_forms.cases().items()
            for batch in batches(family, cases, size,
                                 archs=("sm_90a",) if family == "wgmma" else ("sm_80", "sm_90a"))]


SUITES = {"gemms": gemms, "ops": ops, "layers": layers, "schedules": schedules}
