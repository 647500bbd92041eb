# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every schedule that a GEMM may carry, on a few problems: tiles, columns, stages."""

import gemm_forms

# Problems: what a form of gemm_forms says beside its kernel.
PLAIN = {"grouping": "ids", "rows": "token", "layout": None, "bias": None,
         "activation": "none", "weight": None, "map": False, "types": "bf16",
         "shape": "ragged", "block": 16, "dynamic": True, "load": "uniform", "memory": "plain"}
PROBLEMS = {
    "plain": PLAIN,
    "gated": {**PLAIN, "activation": "swigluoai interleaved", "bias": "like b"},
    "dense": {**PLAIN, "grouping": "dense", "rows": "flat", "types": "f16 to f32",
              "weight": "output", "shape": "many rows"},
    "odd": {**PLAIN, "rows": "flat", "shape": "odd columns", "weight": "output"},
}
# family: rows -> warps; columns; stages
FAMILIES = {
    "mma_sync": ({16: 4, 32: 4}, (64, 128, 192, 256), (2, 3, 5)),
    "wgmma": ({64: 8, 128: 12}, (8, 16, 24, 64, 96, 128, 192, 256), (2, 4)),
}
# A stage holds the two tiles in 16-bit elements, 64 of them a row.
SHARED_BYTES = {"mma_sync": 99 * 1024, "wgmma": 200 * 1024}


def schedules(family, gated):
    """(name, attribute) of every schedule of a family that fits every chip."""
    rows, columns, stages = FAMILIES[family]
    step = {"mma_sync": 64, "wgmma": 8}[family] * (2 if gated else 1)
    for height, warps in rows.items():
        for width in columns:
            for depth in stages:
                if width % step or (height + width) * 128 * depth > SHARED_BYTES[family]:
                    continue
                yield (f"{family} {height}x{width}x{depth}",
                       f"mma = {family}, tile = [{height}, {width}, 64], stages = {depth}, "
                       f"warps = {warps}")


def case(problem, name, schedule, index):
    form = {**PROBLEMS[problem], "kernel": name}

    def build(p, title):
        gemm_forms.WRITTEN[name] = schedule
        for value in gemm_forms.GemmForm(form, p, index).build():
            p.output(title, value)

    return f"schedule {name} {problem}", build


def cases():
    """{family: cases}"""
    return {family: [case(problem, name, schedule, i)
                     for i, problem in enumerate(PROBLEMS)
                     for name, schedule in schedules(family, problem == "gated")]
            for family in FAMILIES}
