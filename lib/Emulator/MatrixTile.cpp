//===- MatrixTile.cpp - tiles of wgmma in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixTile.h"

#include "Access.h"
#include "TensorBox.h"

#include <cstring>

using namespace mlir::moe::emulator;

/// What a descriptor can address.
static constexpr uint32_t kAddressMask = (1u << 18) - 1;
static constexpr uint32_t kPiece = 16;

MatrixDescriptor::MatrixDescriptor(uint64_t bits)
    : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
      stride((bits >> 32 & 0x3fff) << 4) {
  static constexpr uint32_t kWidths[] = {0, 128, 64, 32};
  width = kWidths[bits >> 62];
}

uint32_t MatrixDescriptor::offsetOf(uint32_t row, uint32_t byte) const {
  uint32_t rows = row / 8 * stride;
  if (width == 0)
    return (start + rows + row % 8 * kPiece + byte / kPiece * leading +
            byte % kPiece) &
           kAddressMask;
  return swizzled((start + rows + row % 8 * width + byte) & kAddressMask,
                  width);
}

uint32_t MatrixDescriptor::transposedOffsetOf(uint32_t row, uint32_t k) const {
  uint32_t byte = row * 2;
  if (width == 0)
    return (start + byte / kPiece * stride + k / 8 * leading + k % 8 * kPiece +
            byte % kPiece) &
           kAddressMask;
  return swizzled((start + byte / width * leading + k / 8 * stride +
                   k % 8 * width + byte % width) &
                      kAddressMask,
                  width);
}

namespace {
/// Bytes of shared memory with their bounds and shadow.
struct SharedBytes {
  Warp &warp;
  const Instruction &instruction;
  const Block &block;
  uint32_t end;
  bool checks;

  SharedBytes(Warp &warp, const Instruction &i)
      : warp(warp), instruction(i), block(*warp.block) {
    const Grid &grid = block.cluster->grid;
    end = kSharedStart + grid.sharedBytes;
    checks = grid.program.checks;
  }
  /// Copies some bytes; whether one of them is undefined.
  bool read(uint32_t offset, uint32_t bytes, uint8_t *to) {
    if (offset < kSharedStart || offset + bytes > end)
      resolveOne(warp, instruction, Space::Shared, AccessKind::AsyncRead,
                 offset, bytes, 1, warp.active);
    std::memcpy(to, block.shared + offset, bytes);
    return checks && std::memchr(block.sharedShadow + offset, 1, bytes);
  }
};
} // namespace

void mlir::moe::emulator::readTile(Warp &warp, const Instruction &i,
                                   const MatrixDescriptor &tile,
                                   Element element, bool transposed,
                                   uint32_t first, uint32_t rows, float *to,
                                   std::vector<bool> *undefined) {
  SharedBytes shared(warp, i);
  uint32_t depth = kTileBytes * 8 / bitsOf(element);
  for (uint32_t row = 0; row < rows; ++row) {
    uint8_t bytes[kTileBytes];
    bool poison = false;
    if (transposed) {
      for (uint32_t k = 0; k < depth; ++k)
        poison |= shared.read(tile.transposedOffsetOf(first + row, k), 2,
                              bytes + 2 * k);
    } else {
      for (uint32_t piece = 0; piece < kTileBytes; piece += kPiece)
        poison |= shared.read(tile.offsetOf(first + row, piece), kPiece,
                              bytes + piece);
    }
    expandElements(element, bytes, to + size_t(row) * depth, depth);
    if (poison && undefined)
      (*undefined)[row] = true;
  }
}

void mlir::moe::emulator::checkTileOrder(Warp &warp, const Instruction &i,
                                         const MatrixDescriptor &tile,
                                         bool transposed, uint32_t first,
                                         uint32_t rows) {
  const Block &block = *warp.block;
  if (!block.stamps.tracked())
    return;
  uint32_t size = transposed ? 2 : kPiece;
  uint32_t end = kSharedStart + block.cluster->grid.sharedBytes;
  for (uint32_t row = first; row < first + rows; ++row)
    for (uint32_t byte = 0; byte < kTileBytes; byte += size) {
      uint32_t offset = transposed ? tile.transposedOffsetOf(row, byte / size)
                                   : tile.offsetOf(row, byte);
      // What is out of bounds is found when it is read.
      if (offset >= kSharedStart && offset + size <= end &&
          checkAsyncRead(warp, i, warp.active, block, offset, size,
                         "a matrix product"))
        return;
    }
}
