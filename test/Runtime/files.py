# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: env LD_LIBRARY_PATH=%fake_cuda %python %s %small %t | FileCheck %s
"""Arrays of moe-exec: strided ones, random ones, and files that do not fit.

The driver that records writes out a check sum of every upload, which tells
what the layer would have been given.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from moe import random_inputs

small, folder = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
manifest = json.loads((small / "manifest.json").read_text())
# Rows of argument 0 are 72 elements apart.
manifest["arguments"][0]["strides"] = [72, 1]
(folder / "b").mkdir()
(folder / "b" / "manifest.json").write_text(json.dumps(manifest))
shutil.copy(small / "kernels.ptx", folder / "b")


def run(*args):
    log = folder / "log"
    log.unlink(missing_ok=True)
    done = subprocess.run(["env", f"FAKE_CUDA_LOG={log}", "moe-exec", folder / "b", *args],
                          capture_output=True, text=True, check=False)
    uploads = {}
    for line in log.read_text().splitlines() if log.exists() else []:
        call = json.loads(line)
        if call["call"] == "cuMemcpyHtoD":
            uploads.setdefault(call["target"], (call["bytes"], call["sum"]))
    return done, uploads


def check_sum(data):
    """As test/Runtime/FakeCuda has it: FNV-1a in 64 bits."""
    result = 0xCBF29CE484222325
    for byte in data:
        result = ((result ^ byte) * 0x100000001B3) % 2**64
    return result


def expected(array, stride=None):
    if stride is not None:
        padded = np.full((array.shape[0], stride), 0xFFFF, np.uint16)
        padded[:, :array.shape[1]] = array
        array = padded.ravel()[:(array.shape[0] - 1) * stride + array.shape[1]]
    data = array.tobytes()
    return len(data), check_sum(data)


# CHECK: random: [True, True, True]
x = random_inputs.generate("uniform", 0, "bf16", (20, 64), 5, 0)
w = random_inputs.generate("weight", 64, "bf16", (4, 64, 64), 5, 1)
ids = random_inputs.generate("ids", 4, "i32", (20, 2), 5, 2)
_, uploads = run("--tokens=20", "--inputs=seed:5")
print("random:", [uploads["a0+0"] == expected(x, 72), uploads["a1+0"] == expected(w),
                  uploads["a2+0"] == expected(ids)])

# CHECK: files: [True, True, True]
for i, array in enumerate((x[:7], w, ids[:7].astype(np.int64))):
    np.save(folder / f"{i}.npy", array)
_, uploads = run(f"--inputs={folder}")
print("files:", [uploads["a0+0"] == expected(x[:7], 72), uploads["a1+0"] == expected(w),
                 uploads["a2+0"] == expected(ids[:7])])

# CHECK: one file, tokens follow: 7 rows
_, uploads = run(f"--input=2:{folder}/2.npy", "--inputs=seed:1")
print("one file, tokens follow:", (uploads["a0+0"][0] // 2 - 64) // 72 + 1, "rows")


def refused(what, *args):
    done, _ = run(*args)
    print(f"{what}: {done.returncode} {done.stderr.strip().replace(str(folder), '')}")


# CHECK: other extents: 1 moe-exec: error: argument 2, dimension 0: must be 8 = args[0].shape[0], but got 7
refused("other extents", f"--inputs={folder}", "--tokens=8")
np.save(folder / "w.npy", w[:, :63])
# CHECK: static extent: 1 moe-exec: error: argument 1, dimension 1: must be 64, but got 63
refused("static extent", f"--inputs={folder}", f"--input=1:{folder}/w.npy")
np.save(folder / "w.npy", w[0])
# CHECK: rank: 1 moe-exec: error: argument 1: /w.npy: must have 3 dimensions, but has 2
refused("rank", f"--inputs={folder}", f"--input=1:{folder}/w.npy")
np.save(folder / "w.npy", w.astype(np.float32))
# CHECK: type: 1 moe-exec: error: argument 1: /w.npy: requires elements of bf16, stored as <u2, but got <f4
refused("type", f"--inputs={folder}", f"--input=1:{folder}/w.npy")
(folder / "w.npy").write_bytes((folder / "1.npy").read_bytes()[:-2])
# CHECK: short: 1 moe-exec: error: argument 1: /w.npy: requires 32768 bytes for 4x64x64xbf16 behind the header, but got 32766
refused("short", f"--inputs={folder}", f"--input=1:{folder}/w.npy")
# CHECK: no file: 1 moe-exec: error: argument 1: /v.npy: No such file or directory
refused("no file", f"--inputs={folder}", f"--input=1:{folder}/v.npy")
np.save(folder / "2.npy", np.full((7, 2), 2**40))
# CHECK: range: 1 moe-exec: error: argument 2: /2.npy: element 0 of an array of 7x2xi64 is not representable in i32
refused("range", f"--inputs={folder}")
(folder / "out").write_text("")
# CHECK: output: 1 moe-exec: error: /out{{.*}}: {{File exists|Not a directory}}
refused("output", "--tokens=1", f"--outputs={folder}/out/a")

del manifest["arguments"][2]["input"]
(folder / "b" / "manifest.json").write_text(json.dumps(manifest))
# CHECK: no rule: 1 moe-exec: error: argument 2, 4x2xi32, has no rule for random values; give the array with --input=2:FILE.npy
refused("no rule", "--tokens=4")
manifest["arguments"][2]["input"] = {"role": "ids", "bound": 2**62}
(folder / "b" / "manifest.json").write_text(json.dumps(manifest))
# CHECK: huge bound: 1 moe-exec: error: argument 2, 4x2xi32, has no rule
refused("huge bound", "--tokens=4")
