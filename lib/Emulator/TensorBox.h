//===- TensorBox.h - a box of a tensor and its place in shared memory -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A box moves through a buffer in which its rows follow one another without
// gaps; what is outside of the tensor is there, too. Shared memory holds the
// same bytes; where there is a swizzle, rows begin at multiples of its bytes
// even if they have fewer, and pieces of 16 bytes are swapped.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_TENSORBOX_H
#define MOE_LIB_EMULATOR_TENSORBOX_H

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

/// Calls `function(offset, place, size)` for the pieces of `bytes` bytes, in
/// rows of `rowBytes`, from a shared offset on: where they are in the buffer,
/// and in shared memory.
template <typename Function>
void forSharedPieces(uint32_t offset, uint32_t swizzle, uint32_t rowBytes,
                     uint32_t bytes, Function function) {
  constexpr uint32_t kPiece = 16;
  if (swizzle == 0)
    return function(0u, offset, bytes);
  for (uint32_t row = 0; row < bytes; row += rowBytes, offset += swizzle)
    for (uint32_t at = 0; at < rowBytes; at += kPiece)
      function(row + at, swizzled(offset + at, swizzle), kPiece);
}

/// The box of a tensor map at some coordinates.
struct TensorBox {
  TensorMap map;
  int64_t at[kMaxTensorRank] = {};

  /// Calls `function(offset, address, bytes)` for what is inside of the tensor:
  /// where it is in the buffer, and in global memory.
  template <typename Function>
  void forInside(Function function) const;

  /// Fills a buffer with what elements outside of the tensor are.
  void fill(uint8_t *buffer) const;
};

template <typename Function>
void TensorBox::forInside(Function function) const {
  uint32_t size = bytesOf(map.type), index[kMaxTensorRank] = {};
  int64_t first = at[0] < 0 ? -at[0] : 0;
  int64_t last = int64_t(map.extents[0]) - at[0];
  last = last < int64_t(map.box[0]) ? last : int64_t(map.box[0]);
  if (first >= last)
    return;
  uint64_t rowBytes = map.rowBytes(), rows = map.boxBytes() / rowBytes;
  for (uint64_t row = 0; row < rows; ++row) {
    auto address = reinterpret_cast<uint64_t>(map.address);
    bool inside = true;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t coordinate = at[d] + int64_t(index[d]) * map.elementStrides[d];
      inside &= coordinate >= 0 && uint64_t(coordinate) < map.extents[d];
      address += uint64_t(coordinate) * map.strides[d - 1];
    }
    if (inside)
      function(static_cast<uint32_t>(row * rowBytes + uint64_t(first) * size),
               address + uint64_t(at[0] + first) * size,
               static_cast<uint32_t>(uint64_t(last - first) * size));
    for (uint32_t d = 1; d < map.rank && ++index[d] == map.boxElements(d); ++d)
      index[d] = 0;
  }
}

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_TENSORBOX_H
