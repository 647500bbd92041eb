# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a compiled function on an NVIDIA GPU through the driver, with NumPy.

Takes the two texts that `moe-opt --moe-to-ptx --emit=ptx` and `--emit=manifest`
print; include/moe/Bundle/Manifest.h documents the second. Needs nothing but
`libcuda.so.1`. Arrays of bf16 are uint16 bit patterns.

Every buffer that the function does not get as an input starts as NaN (integers
-1), so that a read of something never written shows in the result.
"""

import ctypes
import json

import numpy as np

NUMPY_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32}
POISON = {"f32": np.nan, "f16": np.nan, "bf16": 0x7FFF, "i32": -1}
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE = 5, 6  # CUjit_option
TENSOR_MAP_TYPES = {"f16": 6, "f32": 7, "bf16": 9}  # CUtensorMapDataType
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}  # CUtensorMapSwizzle
L2_PROMOTION_256B = 3


class CudaError(RuntimeError):
    """A driver call failed; the message names the call and what it was for."""


def evaluate(expression, shapes):
    """The value of an EXPR of the manifest, given the shapes of the arguments."""
    if isinstance(expression, int):
        return expression
    op, lhs, rhs = expression
    if op == "dim":
        return shapes[lhs][rhs]
    a, b = evaluate(lhs, shapes), evaluate(rhs, shapes)
    return {
        "add": lambda: a + b, "mul": lambda: a * b, "mod": lambda: a % b,
        "floordiv": lambda: a // b, "ceildiv": lambda: -(-a // b),
        "max": lambda: max(a, b), "min": lambda: min(a, b),
    }[op]()


def place(array, argument, shapes):
    """(memory, view): a flat array that holds `array` with the strides of the
    argument, what lies between rows as poison, and the part of it that is the
    array."""
    if "strides" not in argument or array.size == 0:
        return array, array
    strides = [evaluate(e, shapes) for e in argument["strides"]]
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(array.shape, strides))
    memory = np.full(span, POISON[argument["type"]], array.dtype)
    view = np.lib.stride_tricks.as_strided(
        memory, array.shape, [stride * array.itemsize for stride in strides])
    view[...] = array
    return memory, view


class Driver:
    """The few driver calls that a launch list needs."""

    def __init__(self, device=0):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        handle, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(handle), device)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args, what=""):
        code = getattr(self.cuda, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise CudaError(f"{name}{' for ' + what if what else ''}: "
                            f"{(text.value or b'unknown').decode()} ({code})")

    def load(self, ptx):
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode(), 2, options, values)
        except CudaError as error:
            raise CudaError(f"{error}\n{log.value.decode()}") from None
        return module

    def function(self, module, name, shared):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode(), what=name)
        if shared:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared, what=name)
        return function

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 256)))
        return pointer

    def free(self, pointer):
        self.call("cuMemFree_v2", pointer)

    def upload(self, pointer, array):
        if array.nbytes:
            self.call("cuMemcpyHtoD_v2", pointer, array.ctypes.data_as(ctypes.c_void_p),
                      ctypes.c_size_t(array.nbytes))

    def download(self, pointer, array):
        if array.nbytes:
            self.call("cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), pointer,
                      ctypes.c_size_t(array.nbytes))

    def tensor_map(self, pointer, entry, shapes):
        """128 bytes that describe a buffer to the TMA."""
        extents = [evaluate(e, shapes) for e in entry["shape"]][::-1]
        size = np.dtype(NUMPY_TYPES[entry["type"]]).itemsize
        strides = [evaluate(e, shapes) * size for e in entry["strides"][::-1][1:]]
        rank = len(extents)
        storage = ctypes.create_string_buffer(128 + 64)
        address = (ctypes.addressof(storage) + 63) & ~63
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(address),
                  TENSOR_MAP_TYPES[entry["type"]], rank, pointer,
                  (ctypes.c_uint64 * rank)(*extents), (ctypes.c_uint64 * (rank - 1))(*strides),
                  (ctypes.c_uint32 * rank)(*entry["box"][::-1]), (ctypes.c_uint32 * rank)(*[1] * rank),
                  0, SWIZZLES[entry["swizzle"]], L2_PROMOTION_256B, 0, what="a tensor map")
        return storage, address


class Layer:
    """One function, loaded."""

    def __init__(self, driver, ptx, manifest):
        self.driver, self.manifest = driver, json.loads(manifest)
        if self.manifest["version"] != 2:
            raise ValueError(f"manifest version {self.manifest['version']}, 2 is known")
        module = driver.load(ptx)
        self.kernels = {kernel["name"]: kernel for kernel in self.manifest["kernels"]}
        self.functions = {
            name: driver.function(module, name, kernel["shared"])
            for name, kernel in self.kernels.items()
        }

    def variant(self, shapes):
        """The variant for arguments of these shapes."""
        variants = self.manifest["variants"]
        if self.manifest["tokens"] is None:
            return variants[0]
        tokens = evaluate(self.manifest["tokens"], shapes)
        for variant in variants:
            first, last = variant["tokens"]
            reached = tokens >= first or (tokens, first) == (0, 1)
            if reached and (last is None or tokens <= last):
                return variant
        ranges = ", ".join(str(variant["tokens"]) for variant in variants)
        raise ValueError(f"{tokens} tokens are in none of the ranges {ranges}")

    def run(self, inputs, results=None, repeat=1):
        """The result arrays for `inputs`, one per argument that is no result.

        `results` are the shapes of the results where the manifest does not give
        them by the inputs. With `repeat` the launches run so many times on the
        same buffers; the last results are returned.
        """
        driver, manifest = self.driver, self.manifest
        arguments = manifest["arguments"]
        shapes, arrays = [], []
        inputs, results = list(inputs), list(results or [])
        for argument in arguments:
            dtype = NUMPY_TYPES[argument["type"]]
            if argument["result"]:
                shape = results.pop(0)
                array = np.full(shape, POISON[argument["type"]], dtype)
            else:
                array = np.ascontiguousarray(inputs.pop(0))
                if array.dtype != dtype:
                    raise ValueError(f"an argument of {argument['type']} got {array.dtype}")
            arrays.append(array)
            shapes.append(array.shape)
        placed = [place(a, argument, shapes) for a, argument in zip(arrays, arguments)]
        arrays = [memory for memory, _ in placed]
        # An address is a multiple of what the argument asks for, and of no more.
        starts = [argument["alignment"] % 256 for argument in arguments]
        variant = self.variant(shapes)
        for entry in variant["workspace"]:
            shape = [evaluate(e, shapes) for e in entry["shape"]]
            arrays.append(np.full(shape, POISON[entry["type"]], NUMPY_TYPES[entry["type"]]))
            starts.append(0)
        allocations, pointers = [], []
        try:
            for array, start in zip(arrays, starts):
                allocations.append(driver.allocate(array.nbytes + start))
                pointers.append(ctypes.c_uint64(allocations[-1].value + start))
                driver.upload(pointers[-1], array)
            maps = [driver.tensor_map(pointers[m["buffer"]], m, shapes) for m in variant["maps"]]
            for _ in range(repeat):
                for launch in variant["launches"]:
                    self._launch(launch, pointers, maps, shapes)
                    driver.call("cuCtxSynchronize", what=launch["kernel"])
            outputs = []
            for argument, (memory, view), pointer in zip(arguments, placed, pointers):
                if argument["result"]:
                    driver.download(pointer, memory)
                    outputs.append(np.ascontiguousarray(view))
            return outputs
        finally:
            for pointer in allocations:
                driver.free(pointer)

    def _launch(self, launch, pointers, maps, shapes):
        grid = [evaluate(e, shapes) for e in launch["grid"]]
        kernel = self.kernels[launch["kernel"]]
        if 0 in grid:
            return
        values = []
        for arg in launch["args"]:
            if "buffer" in arg:
                values.append(ctypes.c_uint64(pointers[arg["buffer"]].value))
            elif "map" in arg:
                values.append(maps[arg["map"]][1])
            else:
                kind = {"i32": ctypes.c_int32, "i64": ctypes.c_int64}[arg["type"]]
                values.append(kind(evaluate(arg["scalar"], shapes)))
        addresses = [v if isinstance(v, int) else ctypes.addressof(v) for v in values]
        params = (ctypes.c_void_p * len(values))(*addresses)
        self.driver.call("cuLaunchKernel", self.functions[kernel["name"]], *grid,
                         kernel["threads"], 1, 1, kernel["shared"], None, params, None,
                         what=kernel["name"])
