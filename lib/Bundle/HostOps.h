//===- HostOps.h - ops that no kernel computes -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_BUNDLE_HOSTOPS_H
#define MOE_LIB_BUNDLE_HOSTOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::moe {

/// Whether `op`, on the host, computes on elements of tensors or memrefs:
/// anything but launches, allocations, views, sizes and control flow.
bool computesOnData(Operation *op);

} // namespace mlir::moe

#endif // MOE_LIB_BUNDLE_HOSTOPS_H
