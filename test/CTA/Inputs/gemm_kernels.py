# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds GEMM kernels with moe-opt and checks them.

  gemm_kernels.py ptxas MOE_OPT PTXAS      assemble every case for every chip
  gemm_kernels.py generate MOE_OPT FOLDER  write PTX and launch facts
  gemm_kernels.py run FOLDER               run them on a GPU against numpy

`run` needs numpy and the CUDA driver only, so that the folder travels to a GPU
machine that has no LLVM.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# name, chips' family, options of cta-build-gemm-kernel, tokens
MMA, WG = "mma_sync", "wgmma"
CASES = [
    ("m16", MMA, dict(n=256, k=512, experts=8, block=16, token_rows=1, top_k=2), 37),
    ("m16_act", MMA, dict(n=256, k=512, experts=8, block=16, token_rows=1, top_k=2, activation="swiglu"), 64),
    ("m16_oai", MMA, dict(n=264, k=520, experts=4, block=16, token_rows=1, top_k=2, activation="swigluoai", interleaved=1, limit=7, bias="bf16"), 51),
    ("m16_weight", MMA, dict(n=320, k=256, experts=8, block=16, top_k=2, weight="output"), 45),
    ("m32_odd", MMA, dict(n=251, k=72, experts=5, block=32, top_k=3, sorted_a=1, sorted_c=1), 33),
    ("m32_f32", MMA, dict(n=250, k=520, experts=4, block=32, top_k=2, output="f32", bias="f32", activation="relu2"), 40),
    ("m32_f16", MMA, dict(n=256, k=192, experts=4, block=32, top_k=2, element="f16", output="f16", activation="gelu"), 70),
    ("m32_dense", MMA, dict(n=512, k=2048, block=32, dense=1, weight="input", activation="silu"), 100),
    ("m16_situ", MMA, dict(n=512, k=64, experts=2, block=16, top_k=1, activation="situ"), 50),
    ("w128", WG, dict(n=512, k=1024, experts=8, block=128, token_rows=1, top_k=4), 333),
    ("w128_act", WG, dict(n=1024, k=512, experts=8, block=128, token_rows=1, top_k=4, activation="swiglu"), 300),
    ("w128_oai", WG, dict(n=528, k=520, experts=4, block=128, token_rows=1, top_k=2, activation="swigluoai", interleaved=1, limit=7, bias="bf16"), 200),
    ("w128_weight", WG, dict(n=768, k=256, experts=8, block=128, top_k=2, weight="output"), 450),
    ("w128_odd", WG, dict(n=251, k=72, experts=5, block=128, top_k=3, sorted_a=1, sorted_c=1), 133),
    ("w128_f32", WG, dict(n=250, k=520, experts=4, block=128, top_k=2, output="f32", bias="f32", activation="relu2"), 140),
    ("w128_bias", WG, dict(n=512, k=256, experts=4, block=128, top_k=2, bias="f32", activation="gelu", weight="output"), 260),
    ("w64", WG, dict(n=512, k=1024, experts=8, block=64, token_rows=1, top_k=4), 333),
    ("w64_act", WG, dict(n=1024, k=512, experts=8, block=64, token_rows=1, top_k=4, activation="swiglustep", limit=7), 300),
    ("w64_f16", WG, dict(n=256, k=192, experts=4, block=64, top_k=2, element="f16", output="f16", activation="geglu"), 170),
    ("w64_dense", WG, dict(n=512, k=64, block=64, dense=1, weight="input"), 100),
]
# chip: shared memory of a block and of a multiprocessor
CHIPS = {
    "sm_80": (166912, 167936),
    "sm_89": (101376, 102400),
    "sm_90": (232448, 233472),
    "sm_90a": (232448, 233472),
}
LOWER = (
    "builtin.module(gpu.module(convert-cta-to-nvvm),convert-scf-to-cf,"
    "convert-nvvm-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts,gpu-module-to-binary{format=isa})"
)


def opt(moe_opt, text, pipeline):
    done = subprocess.run(
        [moe_opt, "-", "--pass-pipeline=" + pipeline],
        input=text, capture_output=True, text=True, check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def build(moe_opt, name, family, options, chip):
    """PTX and launch facts of one kernel."""
    limit, per_sm = CHIPS[chip]
    words = dict(options, name=name, family=family)
    words.update(shared_limit=limit, shared_per_sm=per_sm)
    booleans = ("token_rows", "sorted_a", "sorted_c", "dense", "interleaved")
    text = " ".join(
        f"{key.replace('_', '-') if key in ('token_rows', 'top_k', 'sorted_a', 'sorted_c', 'shared_limit', 'shared_per_sm') else key}="
        f"{'true' if key in booleans else value}"
        for key, value in words.items()
    )
    module = f'gpu.module @m [#nvvm.target<O = 3, chip = "{chip}", features = "+ptx80">] {{}}'
    cta = opt(moe_opt, module, f"builtin.module(gpu.module(cta-build-gemm-kernel{{{text}}}))")
    plan = re.search(r"cta\.plan threads (\d+) .*", cta)
    ends = re.findall(r"offset = (\d+), bytes = (\d+)", plan.group(0))
    facts = dict(
        threads=int(plan.group(1)),
        shared=max(int(offset) + int(size) for offset, size in ends),
        box=[int(x) for x in (re.search(r"box \[([^]]*)\]", cta) or [0, ""])[1].split(",") if x.strip()],
        per_sm=int(re.search(r"minctasm = (\d+)", cta).group(1)),
    )
    binary = opt(moe_opt, cta, LOWER)
    escaped = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', binary).group(1)
    ptx = re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m.group(1), 16)), escaped)
    return ptx.rstrip("\0"), facts


def assemble(moe_opt, ptxas):
    """ptxas must neither spill nor warn, and must keep to the register plan."""
    bad = 0
    for name, family, options, _ in CASES:
        for chip in CHIPS if family == MMA else ["sm_90a"]:
            ptx, facts = build(moe_opt, name, family, options, chip)
            with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
                file.write(ptx)
                file.flush()
                done = subprocess.run(
                    [ptxas, "-arch=" + chip, "-O3", "-v", file.name, "-o", "/dev/null"],
                    capture_output=True, text=True, check=False,
                )
            log = done.stdout + done.stderr
            registers = re.search(r"Used (\d+) registers", log)
            allowed = min(255, 65536 // facts["threads"] // facts["per_sm"] // 8 * 8)
            ok = (
                done.returncode == 0
                and "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in log
                and not re.search(r"C75\d\d|warning", log)
                and int(registers.group(1)) <= allowed
            )
            bad += not ok
            print(f"{'ok' if ok else 'BAD'} {chip} {name}: {registers and registers.group(1)} registers, "
                  f"{facts['shared']} bytes, {facts['threads']} threads")
            if not ok:
                print(log)
    return bad


def generate(moe_opt, folder):
    os.makedirs(folder, exist_ok=True)
    manifest = []
    for name, family, options, tokens in CASES:
        ptx, facts = build(moe_opt, name, family, options, "sm_90a")
        with open(os.path.join(folder, name + ".ptx"), "w", encoding="utf-8") as file:
            file.write(ptx)
        manifest.append(dict(name=name, family=family, options=options, tokens=tokens, **facts))
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("ptxas", help="assemble every case for every chip")
    one.add_argument("moe_opt", metavar="MOE_OPT")
    one.add_argument("ptxas", metavar="PTXAS")
    one = commands.add_parser("generate", help="write PTX and launch facts")
    one.add_argument("moe_opt", metavar="MOE_OPT")
    one.add_argument("folder", metavar="FOLDER")
    one = commands.add_parser("run", help="run them on a GPU against numpy")
    one.add_argument("folder", metavar="FOLDER")
    one.add_argument("names", nargs="*", metavar="KERNEL", help="default: all")
    options = parser.parse_args()
    if options.command == "ptxas":
        sys.exit(assemble(options.moe_opt, options.ptxas))
    if options.command == "generate":
        sys.exit(generate(options.moe_opt, options.folder))
    try:
        from gemm_run import run
    except ImportError as error:
        sys.exit(f"gemm_kernels.py: {error}; run needs a python3 with NumPy")
    sys.exit(run(options.folder, *options.names))


if __name__ == "__main__":
    main()
