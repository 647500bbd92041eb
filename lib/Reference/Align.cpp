//===- Align.cpp - the definitions of moe.align and moe.group_ids -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "Interpreter.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

//===----------------------------------------------------------------------===//
// moe.align
//===----------------------------------------------------------------------===//

LogicalResult reference::verifyFlatRows(Operation *op, int64_t rows) {
  if (rows <= std::numeric_limits<int32_t>::max())
    return success();
  return op->emitOpError("requires T*k to fit i32, but got ") << rows;
}

std::vector<std::vector<int64_t>>
reference::rowsByExpert(ArrayRef<int32_t> ids, ArrayRef<int32_t> expertMap,
                        int64_t experts) {
  std::vector<std::vector<int64_t>> rows(experts);
  for (auto [row, id] : llvm::enumerate(ids)) {
    int64_t expert = localExpert(id, expertMap, experts);
    if (expert >= 0)
      rows[expert].push_back(row);
  }
  return rows;
}

LogicalResult reference::eval(AlignOp op, Frame &frame) {
  TRY(verifyFlatRows(op, frame.get(op.getIds()).size()));
  FailureOr<Array> sortedRows = frame.destination(op, op.getSortedRows());
  FailureOr<Array> tileExpert = frame.destination(op, op.getTileExpert());
  FailureOr<Array> padded = frame.destination(op, op.getPadded());
  FailureOr<Array> counts = frame.destination(op, op.getCounts());
  TRY(sortedRows);
  TRY(tileExpert);
  TRY(padded);
  TRY(counts);
  ArrayRef<int32_t> ids = frame.getInts32(op.getIds());
  int64_t block = op.getBlock(), sentinel = ids.size();

  llvm::fill(sortedRows->as<int32_t>(), sentinel);
  llvm::fill(tileExpert->as<int32_t>(), -1);
  int64_t position = 0;
  for (auto [expert, rows] : llvm::enumerate(rowsByExpert(
           ids, frame.getInts32(op.getExpertMap()), op.getExperts()))) {
    counts->setInt(expert, rows.size());
    for (auto [i, row] : llvm::enumerate(rows))
      sortedRows->setInt(position + i, row);
    int64_t end = position + llvm::alignTo(rows.size(), block);
    for (; position < end; position += block)
      tileExpert->setInt(position / block, expert);
  }
  padded->setInt(0, position);

  TRY(frame.set(op.getResult(0), std::move(*sortedRows)));
  TRY(frame.set(op.getResult(1), std::move(*tileExpert)));
  TRY(frame.set(op.getResult(2), std::move(*padded)));
  return frame.set(op.getResult(3), std::move(*counts));
}

//===----------------------------------------------------------------------===//
// moe.group_ids
//===----------------------------------------------------------------------===//

std::vector<int64_t>
reference::groupEnds(Grouping grouping, ArrayRef<int32_t> table, int64_t rows) {
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (int64_t value : table) {
    if (grouping == Grouping::Sizes)
      value = end + std::max<int64_t>(value, 0);
    end = std::clamp(value, end, rows);
    ends.push_back(end);
  }
  return ends;
}

std::vector<int64_t> reference::expertOfRows(Grouping grouping,
                                             ArrayRef<int32_t> table,
                                             int64_t rows, int64_t capacity) {
  std::vector<int64_t> experts(rows, -1);
  if (grouping == Grouping::Masked) {
    for (int64_t r = 0; r < rows; ++r)
      if (r % capacity < table[r / capacity])
        experts[r] = r / capacity;
    return experts;
  }
  int64_t row = 0;
  for (auto [expert, end] : llvm::enumerate(groupEnds(grouping, table, rows)))
    for (; row < end; ++row)
      experts[row] = expert;
  return experts;
}

LogicalResult reference::eval(GroupIdsOp op, Frame &frame) {
  FailureOr<Array> ids = frame.destination(op, op.getIds());
  TRY(ids);
  for (auto [row, expert] : llvm::enumerate(
           expertOfRows(op.getGrouping(), frame.getInts32(op.getGroupTable()),
                        ids->dim(0), op.getCapacity().value_or(0))))
    ids->setInt(row, expert);
  return frame.set(op.getResult(0), std::move(*ids));
}
