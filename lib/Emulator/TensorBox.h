//===- TensorBox.h - a box of a tensor and its place in shared memory -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_TENSOR_BOX_H
#define MOE_LIB_EMULATOR_TENSOR_BOX_H

#include "Block.h"

#include "moe/Emulator/TensorMap.h"

namespace mlir::moe::emulator {

/// Where a byte of an unswizzled tile is: pieces of 16 bytes change places
/// within rows of `swizzle` bytes, depending on which of 8 rows of 128 bytes
/// the address is in.
inline uint32_t swizzled(uint32_t address, uint32_t swizzle) {
  if (swizzle == 0)
    return address;
  uint32_t pieces = swizzle / 16 - 1;
  return address ^ ((address >> 7 & pieces) << 4);
}

/// The box of a tensor map at some coordinates.
struct TensorBox {
  explicit TensorBox(const TensorMap &map) : map(map) {}

  /// Copies the box to shared memory, with zeros or NaN for what is outside of
  /// the tensor.
  void load(Block &block, uint32_t offset) const;
  /// Copies the part that is inside of the tensor from shared memory; false
  /// where some of it was undefined.
  bool store(Block &block, uint32_t offset) const;

  TensorMap map;
  int64_t at[kMaxTensorRank] = {};

private:
  template <typename Function>
  void forRows(Function function) const;
};

/// Stops the block where the tensor is not in one allocation.
void checkTensorMemory(Warp &warp, const Instruction &i, const TensorBox &box,
                       uint32_t lanes);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_TENSOR_BOX_H
