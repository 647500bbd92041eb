# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The moe ops, computed a second time with NumPy in f64.

One function per op, written from the descriptions in dialect/MoE/MoEOps.td and
sharing nothing with the C++ code. Floats may come in any type and leave as f64,
not rounded to the type of the op's result; integers leave as int32. Operands
that an op writes only in part are passed as `out`, a NaN array by default.
"""

from .gemm import activation, grouped_gemm
from .rows import align, combine, group_ids, local_experts, permute, unpermute
from .router import gate, route

__all__ = ["activation", "align", "combine", "gate", "group_ids", "grouped_gemm",
           "local_experts", "permute", "route", "unpermute"]
