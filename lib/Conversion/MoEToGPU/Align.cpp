//===- Align.cpp - the block-aligned row table -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowSort.h"

using namespace mlir;
using namespace mlir::moe;

LogicalResult moe::outline(AlignOp op, LaunchSite &site) {
  RowSort sort{site,
               op.getIds(),
               op.getExpertMap(),
               static_cast<int64_t>(op.getExperts()),
               static_cast<int64_t>(op.getBlock()),
               op.getSortedRows(),
               op.getTileExpert(),
               op.getPadded(),
               op.getCounts(),
               /*ends=*/Value()};
  sort.emit();
  return success();
}
