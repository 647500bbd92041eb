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

/// Finds the barrier at a shared address; stops the block where none was
/// initialised.
MBarrierPlace findMBarrier(Warp &warp, const Instruction &i, Space space,
                           uint64_t address, uint32_t lanes);

/// Counts arrivals, and ends the phase with the last one. Stops the block where
/// there are more than the barrier expects.
void arriveAt(Warp &warp, const Instruction &i, Block &block, uint32_t offset,
              uint32_t arrivals, uint32_t lanes);
/// More arrivals, or bytes, are to come in this phase.
void expectArrivals(Warp &warp, const Instruction &i, Block &block,
                    uint32_t offset, uint32_t arrivals, uint32_t lanes);
void expectBytes(Warp &warp, const Instruction &i, Block &block,
                 uint32_t offset, int64_t bytes, uint32_t lanes);
/// Bytes have come.
void completeBytes(Warp &warp, const Instruction &i, Block &block,
                   uint32_t offset, int64_t bytes, uint32_t lanes);

/// cp.async.bulk, in TensorCopy.cpp; .async.bulk were taken.
void decodeBulkCopy(DecodeContext &context);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MBARRIER_H
