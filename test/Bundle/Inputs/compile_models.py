# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile_models.py MODELS OUTPUT: bundles of the full-size layers in MODELS.

Fails where a bundle needs more than SECONDS for each of its variants, or where
its manifest and its PTX do not agree.
"""

import json
import pathlib
import subprocess
import sys

SECONDS = 1.0


def main():
    models, output = map(pathlib.Path, sys.argv[1:])
    check = pathlib.Path(__file__).with_name("check_manifest.py")
    for source in sorted(models.glob("*.mlir")):
        if source.name.endswith(".small.mlir"):
            continue
        bundle = output / source.stem
        done = subprocess.run(["moe-compile", source, "-o", bundle, "--ptxas=none", "--json"],
                              check=True, capture_output=True, text=True)
        report = json.loads(done.stdout)
        variants = len(report["variants"])
        assert 2 <= variants <= 5, (source.name, variants)
        assert report["seconds"] < SECONDS * variants, (source.name, report["seconds"], variants)
        subprocess.run([sys.executable, check, bundle / "manifest.json", bundle / "kernels.ptx"],
                       check=True, stdout=subprocess.DEVNULL)
        print(f"ok {source.stem}: {variants} variants, {len(report['kernels'])} kernels, "
              f"{report['seconds']:.2f} s")


if __name__ == "__main__":
    main()
