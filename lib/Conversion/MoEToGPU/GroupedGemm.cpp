//===- GroupedGemm.cpp - the kernel that a schedule names -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace mlir::moe;

FlatRows moe::flatRows(GroupedGemmOp op) {
  int64_t slots = op.getSlots();
  if (op.getRowSource() == RowSource::Token)
    return {op.getA(), slots};
  if (op.getAOrder() == RowOrder::Flat)
    return {op.getA(), 1};
  if (op.getCOrder() == RowOrder::Flat)
    return {op.getC(), 1};
  if (op.getWeights())
    return {op.getWeights(), slots};
  return {};
}

LogicalResult moe::outline(GroupedGemmOp op, LaunchSite &site) {
  if (op.getGrouping() == Grouping::Aligned && !flatRows(op).memref)
    return op.emitOpError("requires the number of flat rows to become a "
                          "kernel, but a and c are both sorted and there are "
                          "no weights; leave a or c in flat order");
  return outlineSimtGemm(op, site);
}
