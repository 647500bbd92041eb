//===- MatrixTile.h - tiles of wgmma in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix descriptor: bits 0-13 the start, 16-29 the leading and 32-45 the
// stride byte offset, all divided by 16; bits 49-51 the base offset, bits 62-63
// the swizzle.
//
// Tiles are made of core matrices. With the contraction dimension contiguous
// (K-major), rows of `width` = 32, 64 or 128 bytes, the swizzle, hold the
// elements of k, 8 rows follow each other, and the stride byte offset leads to
// the next 8. Without swizzle rows have 16 bytes, and the leading byte offset
// leads to the next 16 bytes of k. With the other dimension contiguous
// (transposed), k takes the place of the rows: `width` bytes of m or n, the
// next k behind, the leading byte offset to the next m or n, the stride byte
// offset to the next 8 of k; without swizzle these two change places.
//
// A swizzle permutes the 16-byte pieces of a row by the number of its 128 bytes
// in shared memory, less the base offset: tiles that begin at a multiple of
// 8 rows have none. (The sign is what an H200 does, for all values of it.)
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_MATRIXTILE_H
#define MOE_LIB_EMULATOR_MATRIXTILE_H

#include "Block.h"
#include "MatrixMath.h"

#include <vector>

namespace mlir::moe::emulator {

struct MatrixDescriptor {
  uint32_t start, leading, stride, width, base;

  explicit MatrixDescriptor(uint64_t bits);
  bool operator==(const MatrixDescriptor &other) const {
    return start == other.start && leading == other.leading &&
           stride == other.stride && width == other.width && base == other.base;
  }
  /// Offset in shared memory of byte `byte` of k of row `row` (K-major).
  uint32_t offsetOf(uint32_t row, uint32_t byte) const;
  /// The same of an element of 2 bytes where m or n is contiguous.
  uint32_t transposedOffsetOf(uint32_t row, uint32_t k) const;
};

/// Bytes of k that one product takes, for every type.
constexpr uint32_t kTileBytes = 32;
constexpr uint32_t kMaxTileRows = 256;
/// What every layout leaves together: 8 elements of 2 bytes, say.
constexpr uint32_t kPieceBytes = 16;

/// Rows [first, first + rows) of a tile, kTileBytes of k each; `rows` is a
/// multiple of 8.
struct TileView {
  MatrixDescriptor descriptor;
  Element element;
  bool transposed;
  uint32_t first, rows;

  uint32_t depth() const { return kTileBytes * 8 / bitsOf(element); }
  bool operator==(const TileView &other) const {
    return descriptor == other.descriptor && element == other.element &&
           transposed == other.transposed && first == other.first &&
           rows == other.rows;
  }
};

/// Calls `function(offset, row, at)` for the pieces of a tile: where they are
/// in shared memory, and the row and the place in k that they begin at: a byte
/// where k is contiguous, else its number.
template <typename Function>
void forPieces(const TileView &tile, Function function) {
  const MatrixDescriptor &descriptor = tile.descriptor;
  uint32_t step = tile.transposed ? kPieceBytes / 2 : 1;
  uint32_t end = tile.transposed ? tile.depth() : kTileBytes;
  uint32_t next = tile.transposed ? 1 : kPieceBytes;
  for (uint32_t row = 0; row < tile.rows; row += step)
    for (uint32_t at = 0; at < end; at += next)
      function(tile.transposed
                   ? descriptor.transposedOffsetOf(tile.first + row, at)
                   : descriptor.offsetOf(tile.first + row, at),
               row, at);
}

/// A warp issues an instruction that is going to read the tile. Stops the block
/// at bytes outside of shared memory; reports what others wrote there and the
/// asynchronous proxy does not know of. Returns the pieces that are undefined
/// (0 in a run without checks).
uint32_t checkTile(Warp &warp, const Instruction &i, const TileView &tile);

/// Reads a tile that was checked, as f32 to `to`, depth() values a row. Bits of
/// `undefined` are set for rows with an undefined byte. Returns as `checkTile`.
uint32_t readTile(Warp &warp, const TileView &tile, float *to,
                  std::vector<bool> &undefined);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MATRIXTILE_H
