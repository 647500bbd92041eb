# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python needs beside the compiler, with NumPy alone.

  runtime        loads and launches bundles, through libmoe_runtime
  random_inputs  makes the arguments that moe-run makes for a seed, bit for bit

Nothing is imported here, so that a machine without the runtime library can use
random_inputs.
"""

__all__ = ["random_inputs", "runtime"]
