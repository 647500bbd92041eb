# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""read_info.py PLUGIN: prints what an MLIR plugin says of itself."""

import ctypes
import sys


class Info(ctypes.Structure):
    """DialectPluginLibraryInfo and PassPluginLibraryInfo of MLIR."""
    _fields_ = [("interface", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("version", ctypes.c_char_p), ("callback", ctypes.c_void_p)]


plugin = ctypes.CDLL(sys.argv[1])
for function in ("mlirGetDialectPluginInfo", "mlirGetPassPluginInfo"):
    call = getattr(plugin, function)
    call.restype = Info
    info = call()
    if not info.callback:
        sys.exit(f"{function}: no callback")
    print(f"{function}: interface {info.interface}, {info.name.decode()} {info.version.decode()}")
