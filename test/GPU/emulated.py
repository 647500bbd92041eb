# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_cases.py with `moe-exec --device=emulator` in place of the GPU: the kernels of a
case are executed with all checks, and a hazard in one of them fails the case."""

import pathlib
import subprocess
import sys
import tempfile

import case_folder
import numpy as np
import run_cases

DEVICE_ERROR = run_cases.runtime.STATUS.index("device error")
# How much of what the emulator says of a kernel is shown.
MOST_TEXT = 1500


class Layer:
    """What run_cases needs of moe.runtime.Layer."""

    def __init__(self, folder, _):
        self.folder = folder
        self.results = None

    def run(self, *inputs, result_shapes):
        """The first call runs the kernels twice, for the second as well."""
        if self.results is None:
            self.results = self.execute(inputs, len(result_shapes))
        return self.results

    def execute(self, inputs, count):
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name)
            case_folder.write_arrays(place, "in", inputs)
            command = ["moe-exec", self.folder, "--device=emulator", "--check-twice",
                       f"--inputs={place / 'in'}", f"--outputs={place / 'out'}"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                said = (done.stderr.strip() or done.stdout.strip())[:MOST_TEXT]
                raise run_cases.runtime.RuntimeFailure(DEVICE_ERROR, said)
            return [np.load(place / "out" / f"{i}.npy") for i in range(count)]


# Here, so that processes which run_cases starts do it too.
run_cases.runtime.Bundle = lambda folder: folder
run_cases.runtime.Device = lambda kind: None
run_cases.runtime.Layer = Layer

if __name__ == "__main__":
    sys.exit(run_cases.main())
