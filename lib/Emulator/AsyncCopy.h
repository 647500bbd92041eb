//===- AsyncCopy.h - copies that a warp waits for by itself -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_ASYNCCOPY_H
#define MOE_LIB_EMULATOR_ASYNCCOPY_H

#include "Warp.h"

#include <array>

namespace mlir::moe::emulator {

/// cp.async of one instruction, or the arrival that follows the copies before
/// it. Copies land as late as they may: when their group is waited for, or when
/// nothing else can go on. Until then what was in their place is undefined.
struct AsyncCopy {
  const Instruction *instruction;
  uint32_t lanes;
  /// Of the whole piece; what is read may be less, and zero follows.
  uint32_t bytes;
  /// The arrival at the mbarriers at these shared offsets instead of a copy.
  bool arrival;
  std::array<uint32_t, kLanes> group;
  std::array<uint32_t, kLanes> read;
  std::array<uint32_t, kLanes> offset;
  std::array<Block *, kLanes> block;
  std::array<uint8_t *, kLanes> from, fromShadow, to, toShadow;
};

struct AsyncCopies {
  std::vector<AsyncCopy> waiting;
  /// Groups that each lane has committed.
  std::array<uint32_t, kLanes> committed = {};
  /// The same of bulk copies.
  std::array<uint32_t, kLanes> committedBulk = {};
};

/// Completes all copies of a warp; whether there were any.
bool completeAsyncCopies(Warp &warp);

class DecodeContext;
/// cp.async.bulk, in TensorCopy.cpp; .async.bulk were taken.
void decodeBulkCopy(DecodeContext &context);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_ASYNCCOPY_H
