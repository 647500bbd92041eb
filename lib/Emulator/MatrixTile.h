//===- MatrixTile.h - tiles of wgmma in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A matrix descriptor: bits 0-13 the start, 16-29 the leading and 32-45 the
// stride byte offset, all divided by 16; bits 62-63 the swizzle.
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
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_MATRIX_TILE_H
#define MOE_LIB_EMULATOR_MATRIX_TILE_H

#include "Block.h"
#include "MatrixMath.h"

namespace mlir::moe::emulator {

struct MatrixDescriptor {
  uint32_t start, leading, stride, width;

  explicit MatrixDescriptor(uint64_t bits);
  /// Offset in shared memory of byte `byte` of k of row `row` (K-major).
  uint32_t offsetOf(uint32_t row, uint32_t byte) const;
  /// The same of an element of 2 bytes where m or n is contiguous.
  uint32_t transposedOffsetOf(uint32_t row, uint32_t k) const;
};

/// Bytes of k that one product takes, for every type.
constexpr uint32_t kTileBytes = 32;

/// Reads rows [first, first + rows) of a tile: kTileBytes of k each, as f32 to
/// `to`, depth = kTileBytes / element bytes values a row. Bits of `undefined`
/// (may be null) are set for rows with an undefined byte. Stops the block at
/// bytes outside of shared memory.
void readTile(Warp &warp, const Instruction &i, const MatrixDescriptor &tile,
              Element element, bool transposed, uint32_t first, uint32_t rows,
              float *to, std::vector<bool> *undefined);

/// Reports when the tile was written without a proxy fence, or without a
/// barrier, between the write and this instruction, which begins to read it.
void checkTileOrder(Warp &warp, const Instruction &i,
                    const MatrixDescriptor &tile, bool transposed,
                    uint32_t first, uint32_t rows);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MATRIX_TILE_H
