# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# REQUIRES: plain-runtime
# RUN: rm -f %t.log
# RUN: env LD_LIBRARY_PATH=%fake_cuda FAKE_CUDA_LOG=%t.log %python %s %small %t.log | FileCheck %s
"""Which calls go to the driver as one graph, and which kernel by kernel."""

import json
import sys

import numpy as np
from moe.runtime import Bundle, Device, Layer


def new_stream(capturing=False):
    """The driver that records reads of a stream no more than this."""
    return np.array([capturing, 0], np.uint64)


def launch(what, tokens, stream=None):
    shapes = bundle.solve(tokens=tokens)
    with open(sys.argv[2]) as log:
        log.seek(0, 2)
        layer.launch_raw(bundle.tensors(shapes, [memory] * len(shapes)), memory, 1 << 20,
                         None if stream is None else stream.ctypes.data)
        lines = [json.loads(line) for line in log]
    lines = [line for line in lines if "TensorMap" not in line["call"]]
    print(f"{what}:", *(line["call"] + "".join(f" {line[key]}" for key in ("kernel", "grid") if key in line)
                        for line in lines))


with Bundle(sys.argv[1]) as bundle, Device("cuda") as device:
    layer, memory = Layer(bundle, device), device.allocate(1 << 20)
    first, second = new_stream(), new_stream()
    # CHECK: first call: cuGraphLaunch kernel node layer_1_gemm [2, 4, 1] kernel node layer_1_gemm [2, 3, 1]
    launch("first call", 100, first)
    # Each call has its own grids.
    # CHECK-NEXT: more tokens: cuGraphLaunch kernel node layer_1_gemm [5, 4, 1] kernel node layer_1_gemm [2, 3, 1]
    launch("more tokens", 300, first)
    # The graph may still run on the other stream: this call does not wait for it.
    # CHECK-NEXT: other stream: cuLaunchKernel layer_1_gemm [2, 4, 1] cuLaunchKernel layer_1_gemm [2, 3, 1]
    launch("other stream", 100, second)
    # CHECK-NEXT: there again: cuGraphLaunch
    launch("there again", 100, second)
    # CHECK-NEXT: default stream: cuLaunchKernel
    launch("default stream", 100)
    # CHECK-NEXT: default stream again: cuGraphLaunch
    launch("default stream again", 100)
    # A capture gets the kernels, and does not count as a use.
    # CHECK-NEXT: captured: cuLaunchKernel layer_1_gemm [2, 4, 1] cuLaunchKernel layer_1_gemm [2, 3, 1]
    launch("captured", 100, new_stream(capturing=True))
    # CHECK-NEXT: after a capture: cuGraphLaunch
    launch("after a capture", 100)
    # The other variant has a graph of its own, for all of its three launches.
    # CHECK-NEXT: few: cuGraphLaunch kernel node layer_0_scale [4, 1, 1] kernel node layer_0_scale [2, 2, 1] kernel node layer_2_tail
    launch("few", 16, first)
    # CHECK-NEXT: one launch is empty: cuLaunchKernel layer_0_scale [1, 1, 1] cuLaunchKernel layer_2_tail
    launch("one launch is empty", 1, first)
    device.free(memory)
    layer.close()
