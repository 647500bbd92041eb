//===- FlatRows.cpp - the number of flat rows of a row table ----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sentinel of a row table is the number of flat rows. An operand in flat
// order has that many rows. Where a and c are both sorted and there are no
// weights, the table alone tells: by its last entry if that is past `padded`,
// else by its largest one if it is in the table more than once, as padding is;
// a table without padding has no sentinel to skip.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <limits>

using namespace mlir;
using namespace mlir::moe;

static constexpr int kThreads = 1024;
static constexpr int kWarps = kThreads / 32;

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

namespace {
/// The largest entry and how often it was seen.
struct Largest {
  Val value, count;

  static Largest of(ArrayRef<Val> carried) { return {carried[0], carried[1]}; }
  SmallVector<Val> values() const { return {value, count}; }

  Largest with(const Largest &other) const {
    Val mine = select(value >= other.value, count, 0);
    Val others = select(other.value >= value, other.count, 0);
    return {max(value, other.value), mine + others};
  }
};
} // namespace

/// Combines the finds of a warp; every lane gets the result.
static Largest overWarp(KernelBuilder &k, Largest found) {
  for (int64_t mask = 16; mask > 0; mask /= 2) {
    Val value = k.shuffleXor(found.value, mask);
    Val count = k.shuffleXor(found.count, mask);
    found = found.with({value, count});
  }
  return found;
}

/// The largest of the table's entries, in thread 0.
static Largest largestEntry(KernelBuilder &k, Buffer table, Val places) {
  Val least = k.i32(std::numeric_limits<int32_t>::min()), none = k.i32(0);
  Largest found =
      Largest::of(k.forLoop(k.thread(), places, kThreads, {least, none},
                            [&](Val place, ArrayRef<Val> carried) {
                              Largest entry{k.load(table, place), k.i32(1)};
                              return Largest::of(carried).with(entry).values();
                            }));
  found = overWarp(k, found);
  Buffer values = k.shared("values", k.i32Type(), kWarps);
  Buffer counts = k.shared("counts", k.i32Type(), kWarps);
  k.ifThen(k.lane() == 0, [&] {
    k.store(values, k.warp(), found.value);
    k.store(counts, k.warp(), found.count);
  });
  k.barrier();
  Val value = k.load(values, k.lane());
  Val count = k.load(counts, k.lane());
  return overWarp(k, {value, count});
}

Value moe::tableRowsOf(GroupedGemmOp op, LaunchSite &site) {
  if (op.getGrouping() != Grouping::Aligned || flatRows(op).memref)
    return Value();
  Value result =
      site.workspace(site.host.getI32Type(),
                     getAffineConstantExpr(1, op.getContext()), ValueRange());
  KernelBuilder k(site, "flat_rows", kThreads);
  Buffer table = k.buffer("sorted_rows", op.getRows()[0]);
  Buffer padded = k.buffer("padded", op.getRows()[2]);
  Buffer rows = k.buffer("rows", result);
  Extent P = k.extent("P", op.getRows()[0], 0);

  Val zero = k.i32(0);
  Val hasTail = k.load(padded, zero) < P.value;
  Val sentinel = k.ifElse(
      hasTail,
      [&]() -> SmallVector<Val> { return {k.load(table, P.value - 1)}; },
      [&]() -> SmallVector<Val> {
        Largest largest = largestEntry(k, table, P.value);
        return {select(largest.count > 1, largest.value, P.value)};
      })[0];
  k.ifThen(k.thread() == 0, [&] { k.store(rows, zero, sentinel); });
  k.launch({});
  return result;
}
