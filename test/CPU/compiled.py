# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function through moe-to-cpu and LLVM's tools into a library, called by ctypes."""

import ctypes
import os
import shutil
import subprocess
import time

import numpy as np


LLVM_TOOLS = "/usr/lib/llvm-22/bin"
ROOT_TOOLS = os.path.join(os.path.dirname(__file__), "../../build/bin")


def tool(name):
    """moe-opt on PATH, else of this build; the tools of the LLVM it is built on,
    since those on PATH may be of another; anything else on PATH."""
    path = [LLVM_TOOLS, os.environ.get("PATH", ""), ROOT_TOOLS]
    return shutil.which(name, path=os.pathsep.join(path)) or name


def compile_layer(source, folder, bits):
    """The shared library of @layer in `source` for this CPU, vectors of `bits`."""
    steps = [
        ["moe-opt", source, f"--pass-pipeline=builtin.module(moe-to-cpu{{vector-bits={bits}}})",
         "-o", f"{folder}/layer.mlir"],
        ["mlir-translate", "--mlir-to-llvmir", f"{folder}/layer.mlir", "-o", f"{folder}/layer.ll"],
        ["opt", "-O3", "-mcpu=native", f"{folder}/layer.ll", "-o", f"{folder}/layer.bc"],
        ["llc", "-O3", "-mcpu=native", "-relocation-model=pic", "-filetype=obj",
         f"{folder}/layer.bc", "-o", f"{folder}/layer.o"],
        ["cc", "-shared", f"{folder}/layer.o", "-lm", "-o", f"{folder}/layer.so"]]
    for name, *arguments in steps:
        subprocess.run([tool(name), *arguments], check=True)
    return f"{folder}/layer.so"


class Memref(ctypes.Structure):
    """MLIR's descriptor of a row-major array, up to rank 3."""
    _fields_ = [("words", ctypes.c_int64 * 9)]

    def __init__(self, array=None):
        super().__init__()
        if array is not None:
            strides = [s // array.itemsize for s in array.strides]
            self.words[:3 + 2 * array.ndim] = [
                array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]


class Layer:
    """@layer of such a library, applied to f32 arrays."""

    def __init__(self, library, arrays):
        self.function = ctypes.CDLL(library)._mlir_ciface_layer
        self.arguments = [Memref(a) for a in arrays]
        self.free = ctypes.CDLL(None).free
        self.free.argtypes = [ctypes.c_void_p]

    def __call__(self):
        """Seconds of one call, and its result."""
        result = Memref()
        start = time.perf_counter()
        self.function(ctypes.byref(result), *map(ctypes.byref, self.arguments))
        seconds = time.perf_counter() - start
        rows, columns = result.words[3], result.words[4]
        floats = ctypes.cast(result.words[1], ctypes.POINTER(ctypes.c_float))
        values = np.ctypeslib.as_array(floats, (rows, columns)).copy()
        self.free(result.words[0])
        return seconds, values
