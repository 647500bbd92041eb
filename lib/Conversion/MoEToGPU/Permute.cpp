//===- Permute.cpp - rows into expert order and back -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// permute    the row sort without padding, then a copy of each listed row
// unpermute  the last place p that names a destination row wins: a maximum
//            over places, whose result no order of execution changes, then
//            each winner copies its row
//
//===----------------------------------------------------------------------===//

#include "RowSort.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

namespace {
/// Copies rows of `columns` elements: a row per block in x, a vector of
/// neighbouring columns per thread, the bits as they are.
struct RowCopy {
  int64_t columns, width, threads;

  RowCopy(Value from, Value to)
      : columns(cast<MemRefType>(to.getType()).getDimSize(1)),
        width(vectorWidth({from, to}, columns)),
        threads(threadsFor(columns / width, 256)) {}

  int64_t blocks() const {
    return std::max<int64_t>(1, llvm::divideCeil(columns / width, threads));
  }
  void emit(KernelBuilder &k, Buffer from, Val fromRow, Buffer to,
            Val toRow) const;
};
} // namespace

void RowCopy::emit(KernelBuilder &k, Buffer from, Val fromRow, Buffer to,
                   Val toRow) const {
  Type bits = k.b.getIntegerType(from.element.getIntOrFloatBitWidth());
  from.element = to.element = bits;
  Val vector = k.globalThread(1);
  k.ifThen(vector < static_cast<int>(columns / width), [&] {
    Val column = vector * width;
    SmallVector<Val> values =
        k.loadVector(from, k.at(from, {fromRow, column}), width);
    k.storeVector(to, k.at(to, {toRow, column}), values);
  });
}

LogicalResult moe::outline(PermuteOp op, LaunchSite &site) {
  RowSort sort{site,
               op.getIds(),
               op.getExpertMap(),
               static_cast<int64_t>(op.getExperts()),
               /*block=*/1,
               op.getSource(),
               /*tileExpert=*/Value(),
               /*padded=*/Value(),
               /*counts=*/Value(),
               op.getOffsets()};
  sort.emit();

  int slots =
      static_cast<int>(cast<MemRefType>(op.getIds().getType()).getDimSize(1));
  RowCopy copy(op.getX(), op.getRows());
  KernelBuilder k(site, "permute_copy", copy.threads);
  Buffer x = k.buffer("x", op.getX());
  Buffer source = k.buffer("source", op.getSource());
  Buffer rows = k.buffer("rows", op.getRows());
  Extent T = k.extent("T", op.getX(), 0);
  Val place = k.block();
  Val row = k.load(source, place);
  k.ifThen(row < T.value * slots,
           [&] { copy.emit(k, x, row / slots, rows, place); });
  k.launch({T.symbol * slots, k.rule(copy.blocks())});
  return success();
}

static constexpr int kThreads = 256;

/// winner[r] = the last place whose source is r, or -1.
static void emitWinners(UnpermuteOp op, LaunchSite &site, Value winners) {
  {
    KernelBuilder k(site, "unpermute_clear", kThreads);
    Buffer winner = k.buffer("winner", winners);
    Extent R = k.extent("R", op.getSource(), 0);
    Val row = k.globalThread();
    k.ifThen(row < R.value, [&] { k.store(winner, row, -1); });
    k.launch({R.symbol.ceilDiv(kThreads)});
  }
  KernelBuilder k(site, "unpermute_winner", kThreads);
  Buffer source = k.buffer("source", op.getSource());
  Buffer winner = k.buffer("winner", winners);
  Extent R = k.extent("R", op.getSource(), 0);
  Val place = k.globalThread();
  k.ifThen(place < R.value, [&] {
    Val row = k.load(source, place);
    k.ifThen(isBelow(row, R.value), [&] { k.atomicMax(winner, row, place); });
  });
  k.launch({R.symbol.ceilDiv(kThreads)});
}

LogicalResult moe::outline(UnpermuteOp op, LaunchSite &site) {
  Value winners = site.workspace(site.host.getI32Type(),
                                 getAffineSymbolExpr(0, op.getContext()),
                                 site.extent(op.getSource(), 0));
  emitWinners(op, site, winners);

  RowCopy copy(op.getRows(), op.getY());
  KernelBuilder k(site, "unpermute_copy", copy.threads);
  Buffer rows = k.buffer("rows", op.getRows());
  Buffer source = k.buffer("source", op.getSource());
  Buffer winner = k.buffer("winner", winners);
  Buffer y = k.buffer("y", op.getY());
  Extent R = k.extent("R", op.getSource(), 0);
  Val place = k.block();
  Val row = k.load(source, place);
  k.ifThen(isBelow(row, R.value), [&] {
    k.ifThen(k.load(winner, row) == place,
             [&] { copy.emit(k, rows, place, y, row); });
  });
  k.launch({R.symbol, k.rule(copy.blocks())});
  return success();
}
