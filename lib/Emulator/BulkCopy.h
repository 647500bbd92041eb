//===- BulkCopy.h - bulk copies in flight -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread starts a bulk copy (TensorCopy.cpp); the schedule chooses when it
// reads and when it writes, as late as it may without a seed. Until it has
// written, its destination in shared memory counts as undefined.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_BULKCOPY_H
#define MOE_LIB_EMULATOR_BULKCOPY_H

#include "TensorBox.h"

#include <optional>

namespace mlir::moe::emulator {

enum class ReduceOperation : uint8_t {
  None,
  Add,
  Minimum,
  Maximum,
  Increment,
  Decrement,
  And,
  Or,
  Xor,
};

/// Combines one element with the one at `data`.
using Reducer = void (*)(uint8_t *data, const uint8_t *value);
/// Null where bulk copies have no such reduction.
Reducer findReducer(ReduceOperation operation, ElementType type);

struct BulkCopy {
  /// The thread that started it.
  Warp *warp;
  const Instruction *instruction;
  uint32_t lane;

  /// Of the box, with what is outside of the tensor.
  uint32_t bytes;
  /// Shared memory that it reads or writes, at one offset of these blocks; none
  /// where that is global memory.
  struct SharedSide {
    std::vector<Block *> blocks;
    uint32_t offset = 0;
  };
  SharedSide from, to;
  /// Global memory that it reads or writes: a box, or all bytes from here on.
  std::optional<TensorBox> box;
  uint64_t address = 0;
  /// The mbarriers that loads tell, at one offset of all blocks of `to`.
  uint32_t barrier = 0;
  Reducer reduce = nullptr;
  uint32_t elementBytes = 1;

  /// The group of its thread; none where it tells mbarriers.
  std::optional<uint32_t> group;
  /// What its warp knew when it was issued.
  Knowledge issued;

  /// What it has read; at once where registers are its source.
  std::vector<uint8_t> data, shadow;
  bool isRead = false;

  /// From the first byte in shared memory to behind the last one: a swizzle
  /// moves pieces within whole rows.
  uint32_t sharedBytes() const {
    if (!box || box->map.swizzle == 0)
      return bytes;
    return bytes / box->map.rowBytes() * box->map.swizzle;
  }
  /// Calls `function` for the pieces in shared memory, as forSharedPieces does.
  template <typename Function>
  void forShared(uint32_t offset, Function function) const {
    if (box)
      forSharedPieces(offset, box->map.swizzle, box->map.rowBytes(), bytes,
                      function);
    else
      forSharedPieces(offset, 0, bytes, bytes, function);
  }
};

/// Stops the block where the copy reaches global memory that is not there;
/// reports shared memory that it reads without a fence. Then marks what it is
/// going to write.
void issueBulkCopy(Cluster &cluster, BulkCopy copy);

/// The lanes wait until no more than `keep` of their groups are not complete,
/// or with `readOnly` have not read all of their sources.
void waitBulkCopies(Warp &warp, uint32_t lanes, uint32_t keep, bool readOnly);

/// One step of one copy; false when none is in flight.
bool advanceBulkCopies(Cluster &cluster);

/// All threads of the block have ended: its shared memory goes away. Reports
/// copies that still use it.
void checkBulkCopiesAtEnd(Block &block);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_BULKCOPY_H
