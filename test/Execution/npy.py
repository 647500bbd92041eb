# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds good and hostile .npy files to moe-run; prints what became of each.

The program returns its two arguments, 2x3xbf16 and 3xi32.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

program, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(exist_ok=True)
BITS = np.array([[0x3F80, 0x7FC1, 0xFF80], [0x0001, 0x8000, 0xC0A0]], np.uint16)
INTS = np.array([1, -2, 2**31 - 1], np.int32)


def header(text, version=1):
    raw = text.encode()
    length = len(raw).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + raw


def saved(array):
    path = folder / "saved.npy"
    np.save(path, array)
    return path.read_bytes()


def run(name, first=None, second=None):
    """Runs with the bytes of the two files."""
    paths = [folder / "first.npy", folder / "second.npy"]
    paths[0].write_bytes(saved(BITS) if first is None else first)
    paths[1].write_bytes(saved(INTS) if second is None else second)
    done = subprocess.run(["moe-run", program, f"--input=0:{paths[0]}",
                           f"--input=1:{paths[1]}", f"--outputs={folder}/out"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        bits, ints = (np.load(folder / "out" / f"{i}.npy") for i in (0, 1))
        same = (bits.dtype == "<u2" and (bits == BITS).all() and ints.dtype == np.int32
                and (ints == INTS).all())
        print(f"{name}: {'read and written back' if same else 'CHANGED'}")
    else:
        print(f"{name}: {done.returncode}: {done.stderr.strip().replace(str(folder), '')}")


GOOD = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }"
run("u2 and i4")
run("void of two bytes", saved(BITS.view("V2")))
run("version 2", header(GOOD, 2) + BITS.tobytes())
run("version 3, keys in another order", header(
    "{'shape':(2,3),'descr':'<u2','fortran_order':False}\n", 3) + BITS.tobytes())
run("i8 that fits", second=saved(INTS.astype(np.int64)))
run("i8 that does not fit", second=saved(np.array([0, 1, 2**31], np.int64)))
run("float for bf16", saved(np.zeros((2, 3), np.float32)))
run("big endian", second=saved(INTS.astype(">i4")))
run("fortran order", saved(np.asfortranarray(BITS)))
run("other shape", saved(BITS.T.copy()))
run("empty file", b"")
run("no magic", b"NUMPY" * 20)
run("version 9", header(GOOD, 9))
run("ends in the length", header(GOOD)[:9])
run("ends in the header", header(GOOD)[:40])
run("truncated data", saved(BITS)[:-1])
run("trailing data", saved(BITS) + b"\0")
run("header is not a dictionary", header("[1, 2]"))
run("unknown key", header("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), 'x': 1}"))
run("missing shape", header("{'descr': '<u2', 'fortran_order': False}"))
run("twice the shape", header("{'descr': '<u2', 'shape': (1,), 'shape': (2,), }"))
run("negative extent", header(GOOD.replace("2, 3", "2, -3")))
run("huge extents", header(GOOD.replace("2, 3", "4294967296, 4294967296, 4")))
run("extent beyond 64 bits", header(GOOD.replace("2, 3", "99999999999999999999, 1")))
run("hidden overflow", header(GOOD.replace("2, 3", "9223372036854775807, 0, 9")))
run("too many dimensions", header(GOOD.replace("2, 3", "1, " * 65)))
run("unterminated string", header("{'descr"))
