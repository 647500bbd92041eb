//===- TensorCoreSupport.h - which GEMMs tensor cores compute ---*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule of moe/Target/TensorCore.h for an op.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_SCHEDULE_TENSORCORESUPPORT_H
#define MOE_SCHEDULE_TENSORCORESUPPORT_H

#include "moe/MoE/MoEDialect.h"

#include <string>

namespace mlir::moe {

struct Target;

/// True for a masked GEMM whose types do not say how many rows its groups hold,
/// so that no row table can be sized for it.
bool hasDynamicGroups(GroupedGemmOp op);

/// Why the tensor-core kernels cannot take `op`; empty if they can.
std::string whySimt(GroupedGemmOp op);

/// Why the wgmma kernels cannot take an `op` that mma.sync kernels take; empty
/// if they can.
std::string whyNoWgmma(GroupedGemmOp op);

/// Whether `target` can run the schedule of `op`; an op without one, or with
/// simt, can always run. An error at the op names the rule and what fits.
LogicalResult checkSchedule(GroupedGemmOp op, const Target &target);

} // namespace mlir::moe

#endif // MOE_SCHEDULE_TENSORCORESUPPORT_H
