# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of bug-inputs.json whose promise is a refusal: moe-opt must name the
rule and both numbers."""

import re
import subprocess

PRODUCT = """func.func @f(%a: tensor<64x{k}x{type}>, %b: tensor<2x128x{depth}x{type}>,
             %ends: tensor<2xi32>, %c: tensor<64x128x{type}>)
    -> tensor<64x128x{type}> {{
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x{k}x{type}>, tensor<2x128x{depth}x{type}>)
      rows(%ends : tensor<2xi32>) outs(%c : tensor<64x128x{type}>)
      {{grouping = #moe.grouping<offsets>{schedule}}} -> tensor<64x128x{type}>
  return %0 : tensor<64x128x{type}>
}}
"""


def module(k=256, depth=256, element="bf16", schedule=""):
    if schedule:
        schedule = f", schedule = #moe.schedule<{schedule}>"
    return PRODUCT.format(k=k, depth=depth, type=element, schedule=schedule)


CHECK = "--pass-pipeline=builtin.module(moe-check-schedule{{arch={}}})"
BIG = "mma = wgmma, tile = [128, 128, 64], stages = 4, warps = 12"

# record, variant, module, arguments of moe-opt, what the error must match
REFUSALS = [
    ("edge-shapes-7", "cluster", module(
        schedule="mma = wgmma, tile = [64, 64, 64], stages = 4, warps = 8, cluster = 2"),
     [CHECK.format("sm_90a")], "cluster"),
    ("shards-and-alignment-6", "widths", module(3072, 2880), [], "2880.*3072"),
    ("performance-asks-3", "int8", module(element="i8"), [],
     "to be f32, bf16 or f16, but got 'i8'"),
    ("resources-and-tuning-1", "shared memory", module(
        schedule=BIG.replace("stages = 4", "stages = 16")),
     [CHECK.format("sm_90a")], "bytes"),
    ("resources-and-tuning-2", "smaller GPU", module(schedule=BIG),
     [CHECK.format("sm_80")], "wgmma"),
]


def records():
    return {"bug-inputs/" + entry[0] for entry in REFUSALS}


def run():
    """Runs all; returns the number that was not refused as promised."""
    failed = 0
    for record, variant, text, arguments, pattern in REFUSALS:
        result = subprocess.run(["moe-opt", *arguments], input=text, text=True,
                                capture_output=True, check=False)
        refused = result.returncode == 1 and re.search(
            r"^<stdin>:\d+:\d+: error: .*" + pattern, result.stderr, re.M)
        if not refused:
            failed += 1
            print(f"FAILED bug-inputs/{record}#{variant}: no error with {pattern!r}, "
                  f"but exit status {result.returncode}: {result.stderr[:500]}")
    print(f"refusals: {len(REFUSALS)} cases, {failed} failed")
    return failed
