# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares cases for run_cases.py: compiles functions and computes what they
have to give by the reference, so that the GPU machine needs no LLVM.

Each .mlir file is compiled for every --schedule-tokens value, which selects
different kernels, and executed with every --tokens value.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np


def call(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def make(args, source, tokens):
    """The cases of one file and number of tokens, one per schedule."""
    reference = args.output / f"{source.stem}-t{tokens}.reference"
    command = [args.bin / "moe-run", source, f"--inputs=seed:{args.seed}", "--f32-intermediates",
               f"--outputs={reference}", "--json"]
    if tokens >= 0:
        command.append(f"--tokens={tokens}")
    report = json.loads(call(*command))
    for schedule in args.schedule_tokens:
        folder = args.output / f"{source.stem}-t{tokens}-s{schedule}-{args.arch}"
        (folder / "expected").mkdir(parents=True, exist_ok=True)
        pipeline = f"--moe-to-ptx=arch={args.arch} tokens={schedule}"
        for what, name in (("ptx", "kernels.ptx"), ("manifest", "manifest.json")):
            call(args.bin / "moe-opt", source, pipeline, f"--emit={what}", "-o", folder / name)
        for i in range(len(report["outputs"])):
            np.save(folder / "expected" / f"{i}.npy", np.load(reference / f"{i}.npy"))
        (folder / "case.json").write_text(json.dumps({
            "source": source.name, "seed": args.seed, "tokens": tokens,
            "arguments": report["arguments"], "results": len(report["outputs"]),
            "near_ties": report["near_tie_tokens"],
            "types": [o["type"] for o in report["outputs"]]}, indent=1))
        print(folder.name, flush=True)
    shutil.rmtree(reference)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(),
                        help="folder of the tools (default: those on PATH)")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--arch", default="sm_90a",
                        help="chip to compile for (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the random inputs (default: %(default)s)")
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 33],
                        help="numbers of tokens to run with (default: %(default)s)")
    parser.add_argument("--schedule-tokens", type=int, nargs="+", default=[4, 8192],
                        help="numbers of tokens to choose schedules for (default: %(default)s)")
    args = parser.parse_args()
    for source in args.sources:
        for tokens in args.tokens:
            make(args, source, tokens)


if __name__ == "__main__":
    main()
