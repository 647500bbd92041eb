# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the model layers for full_layers.py and bench.py.

  make_bundles.py --output DIR [--models NAME ...]           whole layers
  make_bundles.py --output DIR --bench [--models NAME ...]   what bench.py times

For the benchmark a layer starts at given router weights and ids and has no
biases and no shared experts, so that every peer computes the same.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import replace

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Models"))

from generate import LAYERS, add_layer, file_text  # noqa: E402
from moe_ir import Func  # noqa: E402

BENCH_MODELS = ["mixtral-8x7b", "qwen3-30b-a3b", "qwen3-235b", "gpt-oss-120b", "deepseek-v3"]


def bench_text(layer):
    plain = replace(layer, gate_bias=False, expert_bias=False, shared_experts=0,
                    activation="swiglu")
    f = Func("layer")
    return f.text(add_layer(f, plain, given_routing=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("options", nargs="*", help="passed on to moe-compile, behind --")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name in args.models or (BENCH_MODELS if args.bench else list(LAYERS)):
        layer = LAYERS[name]
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / f"{name}.mlir"
            source.write_text(bench_text(layer) if args.bench else file_text(layer, "full size"))
            done = subprocess.run([args.bin / "moe-compile", source, "-o", args.output / name,
                                   *args.options])
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
