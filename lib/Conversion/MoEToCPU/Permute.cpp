//===- Permute.cpp - moe.permute and moe.unpermute -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"
#include "RowTable.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

/// Copies a row bit for bit: no conversion, so that NaN payloads stay.
static void copyRow(Emitter &e, Value from, Value fromRow, Value to,
                    Value toRow) {
  auto type = cast<MemRefType>(to.getType());
  e.columnLoop(type.getDimSize(1), [&](Value column, int64_t width) {
    // Powers of two: LLVM 22 cannot store <9 x bfloat> where the CPU has
    // instructions for bf16.
    for (int64_t done = 0; done < width;) {
      int64_t part = llvm::bit_floor(static_cast<uint64_t>(width - done));
      auto vector = VectorType::get(part, type.getElementType());
      Value at = e.add(column, done);
      Value elements =
          vector::LoadOp::create(e, vector, from, ValueRange{fromRow, at});
      vector::StoreOp::create(e, elements, to, ValueRange{toRow, at});
      done += part;
    }
  });
}

void cpu::lower(Emitter &e, PermuteOp op) {
  Value ids = op.getIds(), source = op.getSource();
  int64_t experts = op.getExperts();
  Value slots = e.dim(ids, 1);
  Value flatRows = e.mul(e.sharedDim({ids, op.getX()}), slots);
  flatRows = e.min(flatRows, e.sharedDim({op.getRowsMutable().get(), source}));
  RowTable table = sortByExpert(e, flatRows, experts, [&](Value row) {
    Value id = e.load(ids, {e.div(row, slots), e.rem(row, slots)});
    return e.localExpert(id, op.getExpertMap(), experts);
  });
  e.loop(experts, [&](Value expert) {
    Value end = e.load(table.start, {e.add(expert, 1)});
    e.store(end, op.getOffsets(), {expert});
  });
  Value listed = e.load(table.start, {e.index(experts)});
  e.loop(listed, [&](Value position) {
    Value row = e.load(table.order, {position});
    e.store(row, source, {position});
    copyRow(e, op.getX(), e.div(row, slots), op.getRowsMutable().get(),
            position);
  });
  e.loop(listed, flatRows, 1,
         [&](Value position) { e.store(flatRows, source, {position}); });
}

void cpu::lower(Emitter &e, UnpermuteOp op) {
  Value rows = op.getRows(), y = op.getY();
  e.loop(e.sharedDim({rows, op.getSource()}), [&](Value position) {
    Value row = e.load(op.getSource(), {position});
    e.when(e.isBelow(row, e.dim(y, 0)),
           [&] { copyRow(e, rows, position, y, row); });
  });
}
