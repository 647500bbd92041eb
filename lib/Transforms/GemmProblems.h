//===- GemmProblems.h - grouped GEMMs as problems of the cost model -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_TRANSFORMS_GEMMPROBLEMS_H
#define MOE_LIB_TRANSFORMS_GEMMPROBLEMS_H

#include "moe/MoE/MoEDialect.h"
#include "moe/Schedule/TokenRanges.h"

namespace mlir::moe {

/// GEMMs that share a row table, with their problems in the same order.
struct GemmGroup {
  SmallVector<GroupedGemmOp> ops;
  TokenProblems problems;
};

/// The GEMMs below `root` without a schedule, in program order of the first of
/// each group. GEMMs by the same ids and expert map share a row table; every
/// other GEMM is a group of its own.
SmallVector<GemmGroup> undecidedGemms(Operation *root);

} // namespace mlir::moe

#endif // MOE_LIB_TRANSFORMS_GEMMPROBLEMS_H
