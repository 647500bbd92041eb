//===- SimtTile.cpp - one tile of a SIMT matrix product -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimtTile.h"

using namespace mlir;
using namespace mlir::moe;

SimtTile::SimtTile(KernelBuilder &k, int rows)
    : k(k), rows(rows), leftTile(k.shared("left", k.f32Type(), kDepth * rows)),
      rightTile(k.shared("right", k.f32Type(), kDepth * kColumns)) {}

Val SimtTile::rowOf(int i) { return (k.thread() >> 4) * rowsPerThread() + i; }
Val SimtTile::columnOf(int j) {
  return (k.thread() & 15) * kColumnsPerThread + j;
}

/// Fills both tiles with k in [from, from + kDepth), zeros from `to` on.
void SimtTile::stage(Val from, Val to, Loader left, Loader right, bool alongK) {
  auto loadInside = [&](Val at, function_ref<Val()> load) {
    return k.ifElse(
        at < to, [&]() -> SmallVector<Val> { return {load()}; },
        [&]() -> SmallVector<Val> { return {k.f32(0)}; })[0];
  };
  for (int i = 0; i < rows * kDepth / kThreads; ++i) {
    Val item = k.thread() + i * kThreads;
    Val depth = item & (kDepth - 1), row = item >> 4;
    Val value =
        loadInside(from + depth, [&] { return left(row, from + depth); });
    k.store(leftTile, depth * rows + row, value);
  }
  for (int i = 0; i < kColumns * kDepth / kThreads; ++i) {
    Val item = k.thread() + i * kThreads;
    Val depth = alongK ? item & (kDepth - 1) : item >> 6;
    Val column = alongK ? item >> 4 : item & (kColumns - 1);
    Val value =
        loadInside(from + depth, [&] { return right(from + depth, column); });
    k.store(rightTile, depth * kColumns + column, value);
  }
}

SmallVector<Val> SimtTile::addStaged(ArrayRef<Val> sums) {
  // A step is summed by itself: rounding errors then grow with K / kDepth.
  SmallVector<Val> result(sums.size());
  for (int depth = 0; depth < kDepth; ++depth) {
    SmallVector<Val> columns = k.loadVector(
        rightTile, columnOf(0) + depth * kColumns, kColumnsPerThread);
    SmallVector<Val> values =
        k.loadVector(leftTile, rowOf(0) + depth * rows, rowsPerThread());
    for (int i = 0; i < rowsPerThread(); ++i)
      for (int j = 0; j < kColumnsPerThread; ++j) {
        Val &sum = result[i * kColumnsPerThread + j];
        sum = depth == 0 ? values[i] * columns[j]
                         : k.fma(values[i], columns[j], sum);
      }
  }
  for (auto [sum, carried] : llvm::zip_equal(result, sums))
    sum = sum + carried;
  return result;
}

SmallVector<Val> SimtTile::multiply(Val from, Val to, Loader left, Loader right,
                                    bool alongK) {
  SmallVector<Val> sums(rowsPerThread() * kColumnsPerThread, k.f32(0));
  return k.forLoop(from, to, kDepth, sums, [&](Val at, ArrayRef<Val> carried) {
    k.barrier(); // the tiles of the step before are read
    stage(at, to, left, right, alongK);
    k.barrier();
    return addStaged(carried);
  });
}
