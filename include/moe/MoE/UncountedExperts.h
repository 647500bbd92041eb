//===- UncountedExperts.h - combines and GEMMs of other experts -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_MOE_UNCOUNTEDEXPERTS_H
#define MOE_MOE_UNCOUNTEDEXPERTS_H

#include "mlir/IR/Operation.h"

namespace mlir::moe {

/// Warns at each `moe.combine` under `root` that counts another number of
/// experts than the GEMM whose rows it sums. That is legal: the slots of the
/// other experts are left out, or read rows that no GEMM wrote. With an
/// expert_map or identity experts it is meant.
void warnAboutUncountedExperts(Operation *root);

} // namespace mlir::moe

#endif // MOE_MOE_UNCOUNTEDEXPERTS_H
