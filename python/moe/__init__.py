# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python needs beside the compiler, with NumPy alone.

  cuda_device    runs a compiled function on an NVIDIA GPU through the driver,
                 from the PTX and the launch list that moe-opt prints
  random_inputs  makes the arguments that moe-run makes for a seed, bit for bit

Nothing is imported here, so that a machine without a GPU driver can use
random_inputs.
"""

__all__ = ["cuda_device", "random_inputs"]
