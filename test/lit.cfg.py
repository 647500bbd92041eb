# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lit suite. What a test may use:
#
#   tools      moe-opt, moe-run and the project's other tools; FileCheck, not,
#              count, split-file, the stock mlir-opt and all else of LLVM's bin
#   %python          a python with numpy; the package `moe` is importable
#   %moe_src_root    the source tree            %moe_obj_root  the build tree
#   %moe_lib_dir     the build's libraries      %moe_plugin    MoEPlugin.so
#   %mlir_lib_dir    MLIR's runner libraries    %ptxas         NVIDIA's assembler
#
#   REQUIRES: ptxas  ptxas on PATH, in CUDA_HOME or CUDA_PATH, or in
#                    /usr/local/cuda
#   REQUIRES: gpu    an NVIDIA GPU of compute capability 9.0 that can be opened
#   REQUIRES: slow   the long tier: moe-lit -D tier=all
#   REQUIRES: plain-runtime   libmoe_runtime.so without a sanitizer, which Python
#                    can load
#
# A test that lacks a feature is reported as unsupported and counts as skipped.
# Folders named Inputs hold data, not tests.

import ctypes
import os
import shutil

import lit.formats
import lit.util

if not hasattr(config, "moe_obj_root"):
    lit_config.fatal("start the tests with build/bin/moe-lit, or build check-moe")

config.name = "MoE"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py", ".ptx"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.join(config.moe_src_root, "test")
config.test_exec_root = os.path.join(config.moe_obj_root, "test")

SECONDS_PER_TEST = 300
SECONDS_PER_SLOW_TEST = 1800


def find_ptxas():
    """The path of ptxas, or None."""
    folders = [
        os.path.join(os.environ[name], "bin")
        for name in ("CUDA_HOME", "CUDA_PATH")
        if os.environ.get(name)
    ]
    folders += [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    return shutil.which("ptxas", path=os.pathsep.join(folders))


def find_gpu():
    """(True, name) when a Hopper GPU can be opened, else (False, reason)."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False, "no libcuda.so.1"
    count = ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return False, "the CUDA driver does not start"
    if count.value == 0:
        return False, "no CUDA device"
    major, minor = ctypes.c_int(), ctypes.c_int()
    # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of device 0.
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0)
    capability = f"{major.value}.{minor.value}"
    if capability != "9.0":
        return False, f"the device has compute capability {capability}, not 9.0"
    return True, f"compute capability {capability}"


# The tools come by PATH: the build's first, then LLVM's.
path = [config.moe_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
# `moe-lit -D tools=FOLDER` puts others in front, and what tests write there too:
# the same tests may be running with the build's tools.
if "tools" in lit_config.params:
    path.insert(0, lit_config.params["tools"])
    config.test_exec_root = os.path.join(lit_config.params["tools"], "test")
config.environment["PATH"] = os.pathsep.join(path)
config.environment["PYTHONPATH"] = os.path.join(config.moe_src_root, "python")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"

config.substitutions += [
    ("%python", config.python_executable),
    ("%moe_src_root", config.moe_src_root),
    ("%moe_obj_root", config.moe_obj_root),
    ("%moe_lib_dir", config.moe_lib_dir),
    ("%moe_plugin", os.path.join(config.moe_lib_dir, "MoEPlugin.so")),
    ("%mlir_lib_dir", config.llvm_lib_dir),
]

ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
else:
    lit_config.note("no ptxas: tests that require it are skipped")

has_gpu, gpu_reason = find_gpu()
if has_gpu:
    config.available_features.add("gpu")
else:
    lit_config.note(f"no gpu ({gpu_reason}): tests that require it are skipped")

slow = lit_config.params.get("tier", "default") == "all"
if slow:
    config.available_features.add("slow")

with open(os.path.join(config.moe_lib_dir, "libmoe_runtime.so"), "rb") as file:
    if b"__asan_init" not in file.read():
        config.available_features.add("plain-runtime")

# A hanging test must not hang the run. The limit needs python's psutil.
if lit_config.maxIndividualTestTime == 0:
    if lit.util.killProcessAndChildrenIsSupported()[0]:
        lit_config.maxIndividualTestTime = (
            SECONDS_PER_SLOW_TEST if slow else SECONDS_PER_TEST
        )
    else:
        lit_config.note("no psutil: tests have no time limit")
