# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes one folder that tests everything on a machine with a GPU.

  pack.py DIR [--only forms acceptance fuzz small layers bench]
  there: python3 DIR/test/GPU/run_all.py

DIR holds the runtime library, moe-exec, the scripts of this folder and what
they run: cases with the results that the reference expects, kernels of the
acceptance cases and the code that makes their data, bundles of the model layers at
full size, and bundles for the benchmark. Nothing else is needed there but a driver,
Python and NumPy; full layers and the benchmark need PyTorch too.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU = ROOT / "test" / "GPU"
SCRIPTS = ["python/moe", "test/GPU", "test/oracle", "test/Cases", "test/Models/generate.py",
           "test/Models/moe_ir.py", "test/Models/moe_cases.py"]


def steps(output, build):
    """name -> the commands that make it."""
    tools = build / "bin"
    small = sorted((ROOT / "test" / "Models").glob("*.small.mlir"))
    cases = output / "cases"
    return {
        "forms": [[GPU / "make_form_cases.py", "--bin", tools, "--output", cases / "forms"]],
        "acceptance": [[GPU / "make_acceptance_cases.py", "--bin", tools, "--output",
                        cases / "acceptance"]],
        "fuzz": [[GPU / "make_fuzz_cases.py", "--bin", tools, "--output", cases / "fuzz"]],
        "small": [
            [GPU / "make_cases.py", *small, "--bin", tools, "--tokens", 1, 33, 200,
             "--output", cases / "small"],
            [GPU / "make_cases.py", *small, "--bin", tools, "--tokens", 33, "--arch", "sm_80",
             "--schedule-tokens", 4, "--output", cases / "small"]],
        "layers": [[GPU / "make_bundles.py", "--bin", tools, "--output", output / "layers",
                    "--", "--quiet"]],
        "bench": [[GPU / "make_bundles.py", "--bench", "--bin", tools, "--output",
                   output / "bench", "--", "--quiet"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", nargs="*", metavar="PART",
                        help="parts to make: forms, acceptance, fuzz, small, layers, bench "
                        "(default: all; without any, only the scripts)")
    args = parser.parse_args()
    parts = steps(args.output, args.build)
    unknown = set(args.only or []) - set(parts)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    ignored = shutil.ignore_patterns("__pycache__", "*.test", "lit.local.cfg")
    for name in SCRIPTS:
        target = args.output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy2(ROOT / name, target)
    for source in ("lib/libmoe_runtime.so", "bin/moe-exec"):
        (args.output / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(args.build / source, args.output / source)
    for name in parts if args.only is None else args.only:
        print(f"==> {name}", flush=True)
        for command in parts[name]:
            code = subprocess.run([sys.executable, *map(str, command)]).returncode
            if code:
                print(f"pack.py: {command[0].name} failed", file=sys.stderr)
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
