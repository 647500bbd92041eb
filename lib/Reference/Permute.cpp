//===- Permute.cpp - the definitions of moe.permute and moe.unpermute -*- C++
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

/// Copies row `from` of `source` to row `to` of `target`. Their extents and
/// types agree, but one may be stored in a wider kind.
static void copyRow(const Array &source, int64_t from, Array &target,
                    int64_t to) {
  int64_t columns = source.dim(1);
  for (int64_t h = 0; h < columns; ++h)
    target.setFloat(to * columns + h, source.floatAt(from * columns + h));
}

LogicalResult reference::eval(PermuteOp op, Frame &frame) {
  TRY(verifyFlatRows(op, frame.get(op.getIds()).size()));
  FailureOr<Array> rows = frame.destination(op, op.getRows());
  FailureOr<Array> source = frame.destination(op, op.getSource());
  FailureOr<Array> offsets = frame.destination(op, op.getOffsets());
  TRY(rows);
  TRY(source);
  TRY(offsets);
  const Array &x = frame.get(op.getX());
  ArrayRef<int32_t> ids = frame.getInts32(op.getIds());
  int64_t slots = frame.get(op.getIds()).dim(1), sentinel = ids.size();

  llvm::fill(source->as<int32_t>(), sentinel);
  int64_t position = 0;
  for (auto [expert, flatRows] : llvm::enumerate(rowsByExpert(
           ids, frame.getInts32(op.getExpertMap()), op.getExperts()))) {
    for (int64_t row : flatRows) {
      copyRow(x, row / slots, *rows, position);
      source->setInt(position++, row);
    }
    offsets->setInt(expert, position);
  }

  TRY(frame.set(op.getResult(0), std::move(*rows)));
  TRY(frame.set(op.getResult(1), std::move(*source)));
  return frame.set(op.getResult(2), std::move(*offsets));
}

LogicalResult reference::eval(UnpermuteOp op, Frame &frame) {
  FailureOr<Array> y = frame.destination(op, op.getY());
  TRY(y);
  const Array &rows = frame.get(op.getRows());
  for (auto [p, row] : llvm::enumerate(frame.getInts32(op.getSource())))
    if (row >= 0 && row < y->dim(0))
      copyRow(rows, p, *y, row);
  return frame.set(op.getResult(0), std::move(*y));
}
