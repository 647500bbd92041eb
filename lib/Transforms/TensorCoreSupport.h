//===- TensorCoreSupport.h - what the tensor-core GEMM kernels take -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_TRANSFORMS_TENSORCORESUPPORT_H
#define MOE_LIB_TRANSFORMS_TENSORCORESUPPORT_H

#include "moe/MoE/MoEDialect.h"

#include <string>

namespace mlir::moe {

/// True for a masked GEMM whose types do not say how many rows its groups hold,
/// so that no row table can be sized for it.
bool hasDynamicGroups(GroupedGemmOp op);

/// Why the tensor-core kernels cannot take `op`; empty if they can.
std::string whySimt(GroupedGemmOp op);

} // namespace mlir::moe

#endif // MOE_LIB_TRANSFORMS_TENSORCORESUPPORT_H
