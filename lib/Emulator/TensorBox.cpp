//===- TensorBox.cpp - a box of a tensor and its place in shared memory -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBox.h"

#include "Access.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

/// Calls `function(offset, address)` for every row of the box: where it begins
/// in the unswizzled tile, and the address of coordinate 0 of the tensor's row;
/// the address is 0 where the row is outside.
template <typename Function>
void TensorBox::forRows(Function function) const {
  uint32_t index[kMaxTensorRank] = {};
  uint64_t rowBytes = uint64_t(map.box[0]) * map.elementBytes;
  uint64_t rows = map.boxBytes() / rowBytes;
  for (uint64_t row = 0; row < rows; ++row) {
    auto address = reinterpret_cast<uint64_t>(map.address);
    bool inside = true;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t coordinate = at[d] + int64_t(index[d]) * map.elementStrides[d];
      inside &= coordinate >= 0 && uint64_t(coordinate) < map.extents[d];
      address += uint64_t(coordinate) * map.strides[d - 1];
    }
    function(static_cast<uint32_t>(row * rowBytes), inside ? address : 0);
    for (uint32_t d = 1; d < map.rank && ++index[d] == map.box[d]; ++d)
      index[d] = 0;
  }
}

/// Elements of the row that are inside the tensor: [first, last).
static std::pair<int64_t, int64_t> insideOf(const TensorMap &map, int64_t at) {
  int64_t step = map.elementStrides[0];
  int64_t first = at >= 0 ? 0 : (-at + step - 1) / step;
  int64_t left = int64_t(map.extents[0]) - at;
  int64_t last = left <= 0 ? 0 : (left + step - 1) / step;
  last = std::min<int64_t>(last, map.box[0]);
  return {std::min(first, last), last};
}

/// NaN of every float type, for elements outside.
static void fill(uint8_t *bytes, uint64_t count, bool nan) {
  std::memset(bytes, nan ? 0xff : 0, count);
}

void TensorBox::load(Block &block, uint32_t offset) const {
  const Memory &memory = block.cluster->grid.memory;
  bool checks = block.cluster->grid.program.checks;
  uint32_t bytes = map.elementBytes, step = map.elementStrides[0];
  uint32_t rowBytes = map.box[0] * bytes;
  auto [first, last] = insideOf(map, at[0]);
  const Allocation *allocation =
      memory.nearest(reinterpret_cast<uint64_t>(map.address));
  const uint8_t *shadow =
      checks && allocation ? allocation->shadow.get() : nullptr;
  std::vector<uint8_t> row(rowBytes), undefined(rowBytes);
  forRows([&, first = first, last = last](uint32_t begin, uint64_t address) {
    fill(row.data(), rowBytes, map.fillNaN);
    std::fill(undefined.begin(), undefined.end(), 0);
    for (int64_t k = first; k < last && address; ++k) {
      uint64_t count = step == 1 ? uint64_t(last - first) * bytes : bytes;
      uint64_t from = address + uint64_t(at[0] + k * step) * bytes;
      std::memcpy(row.data() + k * bytes,
                  reinterpret_cast<const uint8_t *>(from), count);
      if (shadow)
        std::memcpy(undefined.data() + k * bytes,
                    shadow + (from - allocation->address()), count);
      if (step == 1)
        break;
    }
    for (uint32_t piece = 0; piece < rowBytes; piece += 16) {
      uint32_t to = swizzled(offset + begin + piece, map.swizzle);
      std::memcpy(block.shared + to, row.data() + piece, 16);
      if (checks)
        std::memcpy(block.sharedShadow + to, undefined.data() + piece, 16);
    }
  });
}

bool TensorBox::store(Block &block, uint32_t offset) const {
  const Memory &memory = block.cluster->grid.memory;
  bool checks = block.cluster->grid.program.checks, defined = true;
  uint32_t bytes = map.elementBytes, step = map.elementStrides[0];
  auto [first, last] = insideOf(map, at[0]);
  const Allocation *allocation =
      memory.nearest(reinterpret_cast<uint64_t>(map.address));
  uint8_t *shadow = checks && allocation ? allocation->shadow.get() : nullptr;
  forRows([&, first = first, last = last](uint32_t begin, uint64_t address) {
    for (int64_t k = first; k < last && address; ++k) {
      auto place = static_cast<uint32_t>(begin + k * bytes);
      uint32_t from = swizzled(offset + place, map.swizzle);
      uint64_t to = address + uint64_t(at[0] + k * step) * bytes;
      std::memcpy(reinterpret_cast<uint8_t *>(to), block.shared + from, bytes);
      if (!checks)
        continue;
      for (uint32_t byte = 0; byte < bytes; ++byte)
        defined &= block.sharedShadow[from + byte] == 0;
      if (shadow)
        std::memcpy(shadow + (to - allocation->address()),
                    block.sharedShadow + from, bytes);
    }
  });
  return defined;
}

void mlir::moe::emulator::checkTensorMemory(Warp &warp, const Instruction &i,
                                            const TensorBox &box,
                                            uint32_t lanes) {
  const TensorMap &map = box.map;
  uint64_t bytes = map.extents[0] * map.elementBytes;
  for (uint32_t d = 1; d < map.rank; ++d)
    bytes += (map.extents[d] - 1) * map.strides[d - 1];
  resolveOne(warp, i, Space::Global, AccessKind::AsyncRead,
             reinterpret_cast<uint64_t>(map.address), bytes, 16, lanes);
}
