//===- Coalescing.cpp - what one access of a warp costs -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coalescing.h"

#include <algorithm>

using namespace mlir::moe::emulator;

static constexpr uint32_t kSectorBytes = 32;
static constexpr uint32_t kBanks = 32;
static constexpr uint32_t kBankBytes = 4;

static uint64_t addressOf(const Access &access, uint32_t lane) {
  return reinterpret_cast<uint64_t>(access.data[lane]);
}

/// Accesses are aligned to their size: none of at most 32 bytes is in two
/// sectors.
static uint64_t countSectors(const Access &access, uint32_t active,
                             uint32_t bytes) {
  if (access.contiguous)
    return (addressOf(access, kLanes - 1) + bytes - 1) / kSectorBytes -
           addressOf(access, 0) / kSectorBytes + 1;
  uint64_t seen[kLanes];
  uint32_t count = 0;
  uint64_t highest = 0;
  for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
    uint64_t sector = addressOf(access, firstLane(lanes)) / kSectorBytes;
    // Most of the time addresses rise with the lane.
    if (count > 0 && sector <= highest &&
        std::find(seen, seen + count, sector) != seen + count)
      continue;
    highest = std::max(highest, sector);
    seen[count++] = sector;
  }
  return count;
}

namespace {
/// The words that lanes want of each bank; lanes that want the same word share
/// it.
struct Banks {
  uint64_t words[kBanks][kLanes];
  uint32_t counts[kBanks] = {};
  uint32_t passes = 0;

  void want(uint64_t word) {
    uint32_t bank = word % kBanks;
    uint64_t *known = words[bank];
    uint32_t &count = counts[bank];
    if (std::find(known, known + count, word) != known + count)
      return;
    known[count++] = word;
    passes = std::max(passes, count);
  }
};
} // namespace

/// Lanes of up to 4 bytes are served together; of 8 a half, of 16 a quarter of
/// the warp.
static uint64_t countConflicts(const Warp &warp, const Access &access,
                               uint32_t bytes) {
  uint64_t conflicts = 0;
  uint32_t words = std::max(bytes / kBankBytes, 1u);
  uint32_t together = kLanes / words;
  for (uint32_t first = 0; first < kLanes; first += together) {
    Banks banks;
    for (uint32_t lane = first; lane < first + together; ++lane) {
      if (!(warp.active >> lane & 1))
        continue;
      uint64_t offset = addressOf(access, lane) -
                        reinterpret_cast<uint64_t>(warp.block->shared);
      for (uint32_t k = 0; k < words; ++k)
        banks.want(offset / kBankBytes + k);
    }
    conflicts += banks.passes > 1 ? banks.passes - 1 : 0;
  }
  return conflicts;
}

static bool isInShared(const Warp &warp, const uint8_t *data) {
  const uint8_t *begin = warp.block->shared + kSharedStart;
  return data >= begin && data < begin + warp.block->cluster->grid.sharedBytes;
}

void mlir::moe::emulator::countTraffic(Warp &warp, const Access &access,
                                       uint32_t bytes) {
  if (warp.active == 0)
    return;
  Counts &counts = warp.block->cluster->counts;
  if (access.global)
    counts.sectors += countSectors(access, warp.active, bytes);
  else if (!access.contiguous &&
           isInShared(warp, access.data[firstLane(warp.active)]))
    counts.bankConflicts += countConflicts(warp, access, bytes);
}
