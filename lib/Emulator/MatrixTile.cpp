//===- MatrixTile.cpp - tiles of wgmma in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixTile.h"

#include "Access.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

/// What a descriptor can address.
static constexpr uint32_t kAddressMask = (1u << 18) - 1;

MatrixDescriptor::MatrixDescriptor(uint64_t bits)
    : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
      stride((bits >> 32 & 0x3fff) << 4) {
  static constexpr uint32_t kWidths[] = {0, 128, 64, 32};
  width = kWidths[bits >> 62];
  base = bits >> 49 & 7;
}

/// Of a descriptor with swizzle: where the byte at an address of the unswizzled
/// tile is.
static uint32_t permuted(const MatrixDescriptor &tile, uint32_t address) {
  address &= kAddressMask;
  uint32_t pieces = tile.width / kPieceBytes - 1;
  return address ^ ((((address >> 7) - tile.base) & pieces) << 4);
}

uint32_t MatrixDescriptor::offsetOf(uint32_t row, uint32_t byte) const {
  uint32_t rows = start + row / 8 * stride;
  if (width == 0)
    return (rows + row % 8 * kPieceBytes + byte / kPieceBytes * leading +
            byte % kPieceBytes) &
           kAddressMask;
  return permuted(*this, rows + row % 8 * width + byte);
}

uint32_t MatrixDescriptor::transposedOffsetOf(uint32_t row, uint32_t k) const {
  uint32_t byte = row * 2;
  if (width == 0)
    return (start + byte / kPieceBytes * stride + k / 8 * leading +
            k % 8 * kPieceBytes + byte % kPieceBytes) &
           kAddressMask;
  return permuted(*this, start + byte / width * leading + k / 8 * stride +
                             k % 8 * width + byte % width);
}

//===----------------------------------------------------------------------===//
// Before it is read
//===----------------------------------------------------------------------===//

static bool isUndefined(const uint8_t *shadow) {
  uint64_t halves[2];
  std::memcpy(halves, shadow, sizeof(halves));
  return (halves[0] | halves[1]) != 0;
}

/// Reports writes that a piece's reader may not see, but for stamps that were
/// looked at before.
static void checkStamps(Warp &warp, const Instruction &i, uint32_t offset,
                        std::vector<uint32_t> &known, bool &reported) {
  const uint32_t *words = &warp.block->stamps.words[offset / 4];
  for (uint32_t word = 0; word < kPieceBytes / 4; ++word) {
    uint32_t stamp = words[word];
    if (stamp == 0 ||
        std::find(known.begin(), known.end(), stamp) != known.end())
      continue;
    known.push_back(stamp);
    reported =
        reported || checkAsyncRead(warp, i, warp.active, *warp.block,
                                   offset + 4 * word, 4, "a matrix product");
  }
}

uint32_t mlir::moe::emulator::checkTile(Warp &warp, const Instruction &i,
                                        const TileView &tile) {
  const Block &block = *warp.block;
  const Grid &grid = block.cluster->grid;
  uint32_t end = kSharedStart + grid.sharedBytes, undefined = 0;
  bool checks = grid.program.checks;
  std::vector<uint32_t> known;
  bool reported = false;
  forPieces(tile, [&](uint32_t offset, uint32_t, uint32_t) {
    if (offset < kSharedStart || offset + kPieceBytes > end)
      resolveOne(warp, i, Space::Shared, AccessKind::AsyncRead, offset,
                 kPieceBytes, 1, warp.active);
    if (!checks)
      return;
    undefined += isUndefined(block.sharedShadow + offset);
    checkStamps(warp, i, offset, known, reported);
  });
  return undefined;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

uint32_t mlir::moe::emulator::readTile(Warp &warp, const TileView &tile,
                                       float *to,
                                       std::vector<bool> &undefined) {
  const Block &block = *warp.block;
  bool checks = block.cluster->grid.program.checks;
  uint32_t undefinedPieces = 0;
  alignas(64) uint8_t bytes[kMaxTileRows * kTileBytes];
  forPieces(tile, [&](uint32_t offset, uint32_t row, uint32_t at) {
    const uint8_t *from = block.shared + offset;
    uint8_t *place = bytes + row * kTileBytes;
    if (!tile.transposed)
      std::memcpy(place + at, from, kPieceBytes);
    else
      for (uint32_t j = 0; j < kPieceBytes / 2; ++j)
        std::memcpy(place + j * kTileBytes + 2 * at, from + 2 * j, 2);
    if (!checks || !isUndefined(block.sharedShadow + offset))
      return;
    ++undefinedPieces;
    for (uint32_t j = 0; j < (tile.transposed ? kPieceBytes / 2 : 1); ++j)
      if (!tile.transposed ||
          std::memchr(block.sharedShadow + offset + 2 * j, 1, 2))
        undefined[row + j] = true;
  });
  expandElements(tile.element, bytes, to, tile.rows * tile.depth());
  return undefinedPieces;
}
