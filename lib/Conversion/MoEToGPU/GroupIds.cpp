//===- GroupIds.cpp - the expert of each row of a grouped layout -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace mlir::moe;

static constexpr int kThreads = 256;

LogicalResult moe::outline(GroupIdsOp op, LaunchSite &site) {
  int64_t experts =
      cast<MemRefType>(op.getGroupTable().getType()).getDimSize(0);
  int64_t capacity = op.getCapacity().value_or(0);
  if (op.getGrouping() == Grouping::Masked && capacity == 0)
    return success(); // no rows

  KernelBuilder k(site, "group_ids", kThreads);
  Buffer groups = k.buffer("groups", op.getGroupTable());
  Buffer ids = k.buffer("ids", op.getIds());
  Extent R = k.extent("R", op.getIds(), 0);
  Val row = k.globalThread();
  k.ifThen(row < R.value, [&] {
    Val expert;
    if (op.getGrouping() == Grouping::Masked) {
      int rows = static_cast<int>(capacity);
      Val outer = row / rows, inner = row % rows;
      Val filled = inner < k.load(groups, outer);
      expert = select(filled, outer, -1);
    } else {
      expert = expertOfRow(k, groups, experts, op.getGrouping(), row, R.value);
    }
    k.store(ids, row, expert);
  });
  k.launch({R.symbol.ceilDiv(kThreads)});
  return success();
}
