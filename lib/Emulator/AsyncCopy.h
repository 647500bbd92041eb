//===- AsyncCopy.h - copies that a warp waits for by itself -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_ASYNC_COPY_H
#define MOE_LIB_EMULATOR_ASYNC_COPY_H

#include "Warp.h"

namespace mlir::moe::emulator {

/// cp.async of one instruction, or the arrival that follows the copies before
/// it. Copies land as late as they may: when their group is waited for, or when
/// nothing else can go on.
struct AsyncCopy {
  const Instruction *instruction;
  uint32_t lanes;
  /// The group of each lane.
  uint32_t group[kLanes];
  uint32_t shared[kLanes];
  uint64_t global[kLanes];
  /// Bytes read; the rest up to `bytes` is zero.
  uint32_t read[kLanes];
  uint32_t bytes;
  /// An arrival at the mbarriers at `shared` instead.
  bool arrival;
};

struct AsyncCopies {
  std::vector<AsyncCopy> waiting;
  /// Groups that each lane has committed.
  uint32_t committed[kLanes] = {};
};

/// Completes all copies of a warp; whether there were any.
bool completeAsyncCopies(Warp &warp);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_ASYNC_COPY_H
