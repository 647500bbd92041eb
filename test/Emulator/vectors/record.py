# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every snippet on a GPU of compute capability 9.0 and keeps the results.

  record.py OUT [--group GROUP ...] [--jobs N]

Writes OUT/<group>.npz. Needs Python, NumPy and the driver, which compiles the
PTX. A snippet that the driver refuses, that faults, hangs or answers differently
the second time is named and left out; the others are not harmed: each group runs
in a process of its own, which starts again behind such a snippet. Of snippets that
are to fault, the error is kept.
"""

import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import generate
import vectors

MAP_TYPES = {"u8": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6, "f32": 7,
             "f64": 8, "bf16": 9, "tf32": 11}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
SECONDS = 15  # without progress: hangs


class CudaError(Exception):
    pass


class Driver:
    """As much of the driver's interface as a launch needs."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), 0)
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        self("cuDeviceGetName", name, 100, device)
        self("cuDriverGetVersion", ctypes.byref(version))
        self.name = f"{name.value.decode()}, CUDA driver {version.value}"
        self.context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self("cuCtxSetCurrent", self.context)

    def __call__(self, function, *arguments):
        status = getattr(self.cuda, function)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(status, ctypes.byref(text))
            raise CudaError(f"{function}: {(text.value or b'?').decode()}")

    def load(self, ptx):
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        # CU_JIT_ERROR_LOG_BUFFER and its size.
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 4096)
        try:
            self("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode(), 2, options, values)
        except CudaError as error:
            raise CudaError(f"{error} {log.value.decode()}") from None
        return module

    def allocate(self, bytes_):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), max(bytes_, 16))
        return address

    def tensor_map(self, map_, addresses):
        """128 bytes, 64-byte aligned."""
        storage = ctypes.create_string_buffer(192)
        at = (ctypes.addressof(storage) + 63) & ~63
        rank = len(map_.extents)
        self("cuTensorMapEncodeTiled", ctypes.c_void_p(at), MAP_TYPES[map_.type], rank,
             ctypes.c_uint64(addresses[map_.buffer] + map_.offset),
             (ctypes.c_uint64 * rank)(*map_.extents),
             (ctypes.c_uint64 * max(rank - 1, 1))(*map_.strides),
             (ctypes.c_uint32 * rank)(*map_.box),
             (ctypes.c_uint32 * rank)(*(map_.element_strides or (1,) * rank)),
             0, SWIZZLES[map_.swizzle], 0, int(map_.fill_nan))
        return storage, at

    def run(self, snippet):
        """The output of one launch."""
        module, function = self.load(snippet.ptx), ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        in_, out = self.allocate(len(snippet.input)), self.allocate(snippet.output_bytes)
        outputs = []
        for _ in range(2):
            self("cuMemcpyHtoD_v2", in_, snippet.input, ctypes.c_size_t(len(snippet.input)))
            self("cuMemsetD8_v2", out, 0, ctypes.c_size_t(max(snippet.output_bytes, 16)))
            maps = [self.tensor_map(m, {"in": in_.value, "out": out.value}) for m in snippet.maps]
            pointers = [ctypes.addressof(in_), ctypes.addressof(out)] + [at for _, at in maps]
            parameters = (ctypes.c_void_p * len(pointers))(*pointers)
            self("cuLaunchKernel", function, *snippet.grid, *snippet.block, snippet.shared, None,
                 parameters, None)
            self("cuCtxSynchronize")
            output = ctypes.create_string_buffer(max(snippet.output_bytes, 1))
            self("cuMemcpyDtoH_v2", output, out, ctypes.c_size_t(snippet.output_bytes))
            outputs.append(output.raw[: snippet.output_bytes])
        self("cuMemFree_v2", in_)
        self("cuMemFree_v2", out)
        self("cuModuleUnload", module)
        if outputs[0] != outputs[1]:
            raise CudaError("two runs differ")
        return outputs[0]


def child(group, first, path):
    """Runs the snippets of a group from number `first` on. Appends (number, whether
    it ran, bytes) to the file; stops behind a fault, which leaves no context."""
    driver = Driver()
    with open(path, "ab") as file:

        def write(index, good, data):
            file.write(struct.pack("<IBI", index, good, len(data)) + data)
            file.flush()

        write(0, 2, driver.name.encode())
        for index, snippet in enumerate(generate.all_snippets()[group]):
            if index < first:
                continue
            write(index, 3, b"")
            try:
                write(index, 1, driver.run(snippet))
            except CudaError as error:
                write(index, 0, str(error).encode())
                if "cuCtxSynchronize" in str(error) or "Memcpy" in str(error):
                    return


def records(path):
    """({number: (whether it ran, bytes)}, device, number of the last that began)"""
    data, at, out, device, last = path.read_bytes(), 0, {}, "", -1
    while at + 9 <= len(data):
        index, kind, size = struct.unpack_from("<IBI", data, at)
        content = data[at + 9: at + 9 + size]
        at += 9 + size
        if kind == 2:
            device = content.decode()
        elif kind == 3:
            last = index
        else:
            out[index] = kind == 1, content
    return out, device, last


def record_group(group, snippets, out):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "records"
        path.write_bytes(b"")
        first, hung, size = 0, {}, 0
        while first < len(snippets):
            process = subprocess.Popen([sys.executable, __file__, "--child", group, str(first),
                                        str(path)], env=dict(os.environ, CUDA_CACHE_DISABLE="1"))
            while True:
                try:
                    process.wait(SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if path.stat().st_size == size:
                        process.kill()
                        process.wait()
                        break
                    size = path.stat().st_size
            done, device, last = records(path)
            if last < first:
                raise SystemExit(f"{group}: the driver did not start")
            if last not in done:
                hung[last] = (False, b"hung, or ended the process")
            first = last + 1
    done.update(hung)
    kept, outputs, errors, lost = [], [], [], []
    for index, snippet in enumerate(snippets):
        ran, content = done[index]
        if ran != snippet.faults and (ran or content.startswith(b"cuCtxSynchronize")):
            kept.append(snippet)
            outputs.append(content if ran else b"")
            errors.append("" if ran else content.decode())
        elif ran:
            lost.append(f"  {snippet.name}: runs, and should not")
        else:
            lost.append(f"  {snippet.name}: {content.decode()}")
    vectors.save(out / f"{group}.npz", kept, outputs, errors, device)
    return "\n".join([f"{group}: {len(kept)} of {len(snippets)} recorded on {device}"] + lost)


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return 0
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--group", action="append")
    parser.add_argument("--jobs", type=int, default=8)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    groups = generate.all_snippets()
    chosen = arguments.group or list(groups)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for report in pool.map(lambda g: record_group(g, groups[g], arguments.out), chosen):
            print(report, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
