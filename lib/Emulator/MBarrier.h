//===- MBarrier.h - barriers that live in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_MBARRIER_H
#define MOE_LIB_EMULATOR_MBARRIER_H

#include "Access.h"

namespace mlir::moe::emulator {

/// The 8 bytes of an mbarrier: the ISA leaves them open, and this is ours.
struct MBarrierState {
  uint32_t pending;
  uint32_t expected;
  /// Bytes that are still to come; below 0 when they came before they were
  /// announced.
  int32_t transactions;
  bool phase;

  static MBarrierState unpack(uint64_t word);
  uint64_t pack() const;
};

constexpr uint32_t kMaxArrivals = (1u << 20) - 1;

struct MBarrierPlace {
  Block *block;
  uint32_t offset;
};

/// Finds the barrier at a shared address. Stops the block where none was
/// initialised, or where ordinary writes have hit its bytes; reports a use
/// that no barrier orders behind the initialisation.
MBarrierPlace findMBarrier(Warp &warp, const Instruction &i, Space space,
                           uint64_t address, uint32_t lanes);
/// The same by offset.
void checkMBarrier(Warp &warp, const Instruction &i, Block &block,
                   uint32_t offset, uint32_t lanes);

/// Counts arrivals, and ends the phase with the last one; what the warp knows
/// is passed on. Stops the block where there are more than the barrier expects.
void arriveAt(Warp &warp, const Instruction &i, MBarrierPlace place,
              uint32_t arrivals, uint32_t lanes);
/// More arrivals, or bytes, are to come in this phase.
void expectArrivals(Warp &warp, const Instruction &i, MBarrierPlace place,
                    uint32_t arrivals, uint32_t lanes);
void expectBytes(Warp &warp, const Instruction &i, MBarrierPlace place,
                 int64_t bytes, uint32_t lanes);
/// Bytes have come.
void completeBytes(Warp &warp, const Instruction &i, MBarrierPlace place,
                   int64_t bytes, uint32_t lanes);

/// What a barrier that someone waits for lacks, for the report of a deadlock.
std::string describeMBarrier(const Block &block, uint32_t offset);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MBARRIER_H
