# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# REQUIRES: plain-runtime
# RUN: rm -f %t.log
# RUN: env LD_LIBRARY_PATH=%fake_cuda FAKE_CUDA_LOG=%t.log %python %s %small | FileCheck %s
# RUN: FileCheck %s --check-prefix=LOG --input-file=%t.log
"""The Python package on the library, with the driver that records."""

import sys

import numpy as np
from moe.runtime import Bundle, Device, Layer, RuntimeFailure

# LOG: "call":"cuLaunchKernel","kernel":"layer_0_scale","grid":[1,1,1],{{.*}}"stream":false
# LOG: "call":"cuGraphLaunch","launches":2,"stream":true
# LOG-NEXT: "kernel":"layer_1_gemm",{{.*}}"parameters":["map {{[0-9]+}}","[[WORK:a[0-9]+]]+0","[[WORK]]+{{[0-9]+}}",85899345920,"[[OUT:a[0-9]+]]+0"]
# LOG: "call":"cuDevicePrimaryCtxRelease","allocations":0

bundle = Bundle(sys.argv[1])
# CHECK: layer sm_90a 5 arguments
print(bundle.function, bundle.arch, len(bundle.arguments), "arguments")
# CHECK: Argument(type='bf16', shape=(None, 64), strides=None, alignment=16, is_result=False, is_written=False)
print(bundle.arguments[0])
# CHECK: [(1, 16), (17, 1024)] ('layer_1_gemm', 'layer_1_gemm')
print([v.tokens for v in bundle.variants], bundle.variants[1].kernels)
shapes = bundle.solve(tokens=20)
# CHECK: [(20, 64), (4, 64, 64), (20, 2), (20, 64), (40,)] variant 1, 3584 bytes, ('weight', 64), ('uniform', 0)
print(shapes, f"variant {bundle.choose(shapes)}, {bundle.workspace_bytes(shapes)} bytes,",
      f"{bundle.random_input(shapes, 1)}, {bundle.random_input(shapes, 0)}")
# From the shape of one argument, or of a result, the others follow.
# CHECK: [(3, 64), (4, 64, 64), (3, 2), (3, 64), (6,)]
print(bundle.solve([None, None, (3, 2), None, None]))


def refused(what, call):
    try:
        call()
    except (RuntimeFailure, ValueError, TypeError) as error:
        print(f"{what}: {type(error).__name__} {getattr(error, 'status', '-')}: {error}")


# CHECK: tokens: RuntimeFailure invalid argument: the number of tokens must not be negative, but got -2
refused("tokens", lambda: bundle.solve(tokens=-2))
# CHECK: rank: ValueError -: argument 1 has 3 dimensions, but got 1
refused("rank", lambda: bundle.solve([None, (1,), None, None, None]))
# CHECK: folder: RuntimeFailure invalid bundle: /nowhere: No such file or directory
refused("folder", lambda: Bundle("/nowhere"))
# CHECK: texts: RuntimeFailure invalid bundle: manifest: the document: has no "version"
refused("texts", lambda: Bundle(manifest="{}", ptx=""))
# CHECK: device: RuntimeFailure no device: there is no cuda device 5: the driver shows 1
refused("device", lambda: Device("cuda", 5))


class Tensor:
    """What a tensor of another framework offers."""

    def __init__(self, device, shape, size):
        self.shape, self.size, self.address = shape, size, device.allocate(size)

    def data_ptr(self):
        return self.address

    def numel(self):
        return self.size

    def element_size(self):
        return 1


with Device("cuda") as device:
    # CHECK: Fake GPU (sm_90) ptx
    layer = Layer(bundle, device)
    print(device.description, layer.code)
    inputs = [np.zeros((2, 64), np.uint16), np.zeros((4, 64, 64), np.uint16), np.zeros((2, 2), np.int32)]
    # CHECK: [((2, 64), dtype('uint16'), 65535), ((4,), dtype('int32'), -1)]
    print([(r.shape, r.dtype, int(r.max())) for r in layer.run(*inputs)])
    # CHECK: dtype: ValueError -: argument 0 is of bf16, but got float32
    refused("dtype", lambda: layer.run(inputs[0].astype(np.float32), *inputs[1:]))
    # CHECK: missing: ValueError -: argument 2 is missing
    refused("missing", lambda: layer.run(*inputs[:2]))
    # CHECK: many: ValueError -: got 4 inputs, which is too many
    refused("many", lambda: layer.run(*inputs, inputs[0]))

    tensors = [Tensor(device, shape, 65536) for shape in shapes]
    workspace = Tensor(device, (3584,), 3584)
    small = Tensor(device, (100,), 100)
    # CHECK: workspace: RuntimeFailure invalid argument: the workspace must have 3584 bytes, but has 100
    refused("workspace", lambda: layer.launch(tensors, small))
    # CHECK: array: TypeError -: a device tensor has data_ptr() and shape, ndarray has not
    refused("array", lambda: layer.launch(inputs + [inputs[0], inputs[2]], workspace))
    stream = np.zeros(8, np.uint64)  # the driver looks at no more than whether it captures
    layer.launch(tensors, workspace, stream=stream.ctypes.data)
    # CHECK: launched, 0.00
    args = bundle.tensors(shapes, [t.data_ptr() for t in tensors])
    print(f"launched, {layer.time(args, workspace.data_ptr(), 3584, repeats=10)[0] * 0:.2f}")
    for tensor in tensors + [workspace, small]:
        device.free(tensor.data_ptr())
    layer.close()
bundle.close()
