//===- Common.cpp - pieces that several kernels share -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

Val moe::localExpert(KernelBuilder &k, Val id, std::optional<Buffer> map,
                     int64_t globalExperts, int64_t experts) {
  Val known = isBelow(id, map ? globalExperts : experts);
  if (!map)
    return select(known, id, -1);
  // Only ids inside the map are looked up.
  return k.ifElse(
      known,
      [&]() -> SmallVector<Val> {
        Val local = k.load(*map, id);
        return {select(isBelow(local, experts), local, -1)};
      },
      [&]() -> SmallVector<Val> { return {k.i32(-1)}; })[0];
}

Val moe::expertOfRow(KernelBuilder &k, Buffer groups, int64_t experts,
                     Grouping grouping, Val row, Val rows) {
  // Ends never decrease, so the expert is the number of ends at or before row.
  SmallVector<Val> result =
      k.forLoop(0, experts, 1, {k.i32(0), k.i32(0)},
                [&](Val e, ArrayRef<Val> carried) -> SmallVector<Val> {
                  Val end =
                      nextGroupEnd(k, groups, grouping, e, carried[0], rows);
                  Val one = k.i32(1);
                  return {end, carried[1] + select(end <= row, one, 0)};
                });
  return select(result[1] < static_cast<int>(experts), result[1], -1);
}

Val moe::nextGroupEnd(KernelBuilder &k, Buffer groups, Grouping grouping,
                      Val expert, Val previousEnd, Val rows) {
  Val value = k.load(groups, expert);
  if (grouping != Grouping::Sizes)
    return min(max(value, previousEnd), rows);
  // previousEnd <= rows, so the difference cannot overflow.
  Val room = rows - previousEnd;
  return previousEnd + min(max(value, 0), room);
}

std::optional<Buffer> moe::optionalBuffer(KernelBuilder &k, StringRef name,
                                          Value memref) {
  if (!memref)
    return std::nullopt;
  return k.buffer(name, memref);
}

int64_t moe::threadsFor(int64_t items, int64_t limit) {
  return std::clamp<int64_t>(llvm::alignTo(items, 32), 32, limit);
}
