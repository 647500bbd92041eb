//===- GlobalRaces.cpp - unordered accesses to global memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalRaces.h"

#include "AccessChecks.h"
#include "Block.h"

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

GlobalRecords::GlobalRecords(const Allocation &allocation)
    : begin(allocation.address() & ~uint64_t(3)),
      count((allocation.address() + allocation.bytes - begin) / 4 / kPageWords +
            1),
      pages(new std::atomic<Word *>[count]) {
  for (uint64_t i = 0; i < count; ++i)
    pages[i].store(nullptr, std::memory_order_relaxed);
}

GlobalRecords::~GlobalRecords() {
  for (uint64_t i = 0; i < count; ++i)
    delete[] pages[i].load(std::memory_order_relaxed);
}

GlobalRecords::Word *GlobalRecords::addPage(uint64_t page) {
  auto fresh = std::make_unique<Word[]>(kPageWords);
  Word *expected = nullptr;
  if (pages[page].compare_exchange_strong(expected, fresh.get(),
                                          std::memory_order_acq_rel))
    return fresh.release();
  return expected;
}

namespace {
/// One access, in the 64 bits of a record: cluster + 1, warp of the cluster,
/// time, bytes of the word, lane, strong. 0 is none.
struct Touch {
  static constexpr uint32_t kClusterBits = 24, kWarpBits = 9, kTimeBits = 20;
  static constexpr uint32_t kLastTime = (1u << kTimeBits) - 1;

  uint32_t cluster = 0, warp = 0, time = 0;
  uint8_t bytes = 0, lane = 0;
  bool strong = false;

  uint64_t pack() const {
    return uint64_t(cluster) << 40 | uint64_t(warp) << 31 |
           uint64_t(time) << 11 | uint64_t(bytes) << 7 | uint64_t(lane) << 1 |
           uint64_t(strong);
  }
  static Touch unpack(uint64_t word) {
    return {uint32_t(word >> 40),
            uint32_t(word >> 31) & ((1u << kWarpBits) - 1),
            uint32_t(word >> 11) & kLastTime,
            uint8_t(word >> 7 & 15),
            uint8_t(word >> 1 & 63),
            (word & 1) != 0};
  }
  static bool inOtherCluster(uint64_t packed, uint64_t other) {
    return packed >> 40 != other >> 40;
  }
  /// An access of the same warp and time came before.
  void add(const Touch &earlier, bool writes) {
    LaneBytes both =
        LaneBytes{earlier.bytes, earlier.lane}.with({bytes, lane}, writes);
    bytes = both.bytes;
    lane = both.lane;
    strong &= earlier.strong;
  }
  bool isOf(const Touch &other) const {
    return cluster == other.cluster && warp == other.warp && time == other.time;
  }
};
static_assert(Touch::kClusterBits == 24 && 40 - Touch::kWarpBits == 31 &&
              31 - Touch::kTimeBits == 11);
} // namespace

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static bool races(const Warp &warp, const Touch &now, const Touch &earlier) {
  if (earlier.cluster == 0 || !(earlier.bytes & now.bytes) ||
      (earlier.strong && now.strong))
    return false;
  if (earlier.cluster != now.cluster)
    return !warp.block->cluster->grid.checks->ordersClusters;
  if (earlier.isOf(now))
    return LaneBytes{earlier.bytes, earlier.lane}.meets(now.lane);
  // A time that no longer fits counts as known.
  return earlier.time != Touch::kLastTime &&
         warp.knowledge.seen[earlier.warp] < earlier.time;
}

static std::string whoIs(const Warp &warp, const Touch &now,
                         const Touch &earlier) {
  const Cluster &cluster = *warp.block->cluster;
  if (earlier.cluster != now.cluster) {
    // Blocks of a grid without clusters are numbered as %ctaid counts.
    const char *what =
        cluster.blocks.size() > 1 ? "a block of cluster " : "block ";
    return what + std::to_string(earlier.cluster - 1) + " of the grid";
  }
  if (!earlier.isOf(now))
    return earlier.warp == warp.index
               ? "this warp"
               : "warp " +
                     std::to_string(earlier.warp % warp.block->warps.size()) +
                     (cluster.blocks.size() > 1 ? " of the cluster" : "");
  if (earlier.lane == kSeveralLanes)
    return "another lane of this warp";
  return "lane " + std::to_string(earlier.lane) + " of this warp";
}

static void report(Warp &warp, const Instruction &i, const Touch &now,
                   const Touch &earlier, const Allocation &allocation,
                   uint64_t address, bool writes, const char *did) {
  const char *lacks =
      earlier.cluster != now.cluster ? "; blocks of one launch have no order"
      : earlier.isOf(now)            ? ", without a bar.warp.sync in between"
                                     : ", without a barrier in between";
  uint64_t byte =
      address > allocation.address() ? address - allocation.address() : 0;
  warp.report(i, HazardKind::Race,
              now.lane == kSeveralLanes ? warp.active : 1u << now.lane,
              std::string(writes ? "writes" : "reads") + " byte " +
                  std::to_string(byte) + " of \"" + allocation.name +
                  "\", which " + whoIs(warp, now, earlier) + " has " + did +
                  lacks);
}

/// The record of a read: that of another cluster stays, so that this cluster's
/// own write is compared with it.
static void recordRead(GlobalRecords::Word &word, Touch now) {
  uint64_t old = word.read.load(std::memory_order_relaxed);
  Touch earlier = Touch::unpack(old);
  if (earlier.isOf(now)) {
    now.add(earlier, false);
  } else if (earlier.cluster != 0 && earlier.cluster != now.cluster) {
    return;
  }
  uint64_t packed = now.pack();
  if (packed != old)
    word.read.store(packed, std::memory_order_relaxed);
}

static void recordWrite(GlobalRecords::Word &word, Touch now) {
  Touch earlier = Touch::unpack(word.write.load(std::memory_order_relaxed));
  if (earlier.isOf(now))
    now.add(earlier, true);
  word.write.store(now.pack(), std::memory_order_relaxed);
}

/// All comparisons of one word.
static void noteWord(Warp &warp, const Instruction &i, const Touch &now,
                     GlobalRecords::Word &word, const Allocation &allocation,
                     uint64_t address, bool writes) {
  Touch write = Touch::unpack(word.write.load(std::memory_order_relaxed));
  // Lanes that write one place in one instruction: one of them wins.
  if (!(writes && write.isOf(now)) && races(warp, now, write))
    report(warp, i, now, write, allocation, address, writes, "written");
  if (!writes)
    return recordRead(word, now);
  Touch read = Touch::unpack(word.read.load(std::memory_order_relaxed));
  if (races(warp, now, read))
    report(warp, i, now, read, allocation, address, true, "read");
  recordWrite(word, now);
}

/// Whether nobody has touched the word before, or it is only read, and by this
/// warp again or another cluster: most are. First it is recorded, then looked
/// at: of two clusters that run at once one sees the other.
static bool isPlain(GlobalRecords::Word &word, uint64_t packed, bool writes) {
  if (writes) {
    uint64_t nobody = 0;
    return word.write.compare_exchange_strong(nobody, packed) &&
           word.read.load() == 0;
  }
  uint64_t read = word.read.load(std::memory_order_relaxed);
  if (read == 0)
    word.read.store(packed);
  return word.write.load() == 0 &&
         (read == 0 || read == packed || Touch::inOtherCluster(read, packed));
}

void mlir::moe::emulator::noteGlobal(Warp &warp, const Instruction &i,
                                     GlobalRecords &records,
                                     const Allocation &allocation, uint8_t lane,
                                     uint64_t address, uint32_t bytes,
                                     AccessRole role) {
  const Cluster &cluster = *warp.block->cluster;
  if (cluster.number + 1 >= 1u << Touch::kClusterBits)
    return;
  Touch now;
  now.cluster = static_cast<uint32_t>(cluster.number + 1);
  now.warp = warp.index;
  now.time = std::min(warp.knowledge.seen[warp.index], Touch::kLastTime);
  now.lane = lane;
  now.strong = role.strong;
  now.bytes = 0xf;
  uint64_t end = address + bytes, whole = now.pack();
  for (uint64_t at = address & ~uint64_t(3); at < end; at += 4) {
    GlobalRecords::Word &word = records.word(at);
    bool isWhole = at >= address && at + 4 <= end;
    if (isWhole && isPlain(word, whole, role.writes))
      continue;
    uint32_t first = address > at ? uint32_t(address - at) : 0;
    uint32_t last = end < at + 4 ? uint32_t(end - at) : 4;
    now.bytes = uint8_t((0xfu << first) & (0xfu >> (4 - last)));
    noteWord(warp, i, now, word, allocation, at, role.writes);
  }
}
