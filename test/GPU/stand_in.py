# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_cases.py with `moe-run --device=cpu` in place of the GPU, for tests of what it
makes and compares: a case computes the function case.mlir of its folder."""

import pathlib
import subprocess
import sys
import tempfile

import case_folder
import numpy as np
import run_cases


class Layer:
    """What run_cases needs of moe.runtime.Layer."""

    def __init__(self, folder, _):
        self.source = folder / "case.mlir"

    def run(self, *inputs, result_shapes):
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name)
            case_folder.write_arrays(place, "in", inputs)
            subprocess.run(["moe-run", self.source, "--device=cpu", f"--inputs={place / 'in'}",
                            f"--outputs={place / 'out'}"], check=True, stdout=subprocess.DEVNULL)
            return [np.load(place / "out" / f"{i}.npy") for i in range(len(result_shapes))]


# Here, so that processes which run_cases starts do it too.
run_cases.runtime.Bundle = lambda folder: folder
run_cases.runtime.Device = lambda kind: None
run_cases.runtime.Layer = Layer

if __name__ == "__main__":
    sys.exit(run_cases.main())
