//===- SharedRaces.cpp - unordered accesses to shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedRaces.h"

#include "Block.h"

using namespace mlir::moe::emulator;

namespace {
/// One access while it is compared with what came before it.
struct Comparison {
  Warp &warp;
  const Instruction &instruction;
  const Block &block;
  uint8_t lane;
  uint32_t stamp;
  AccessRole role;

  /// Whether an earlier access is unordered with this one.
  bool races(uint32_t earlier, LaneBytes by) const {
    if (earlier == 0)
      return false;
    if (earlier != stamp)
      return !knows(warp, earlier);
    // The warp itself, since it last let others know.
    return by.meets(lane);
  }
  void report(uint32_t earlier, uint8_t earlierLane, uint32_t byte,
              const char *did) const;
};
} // namespace

void Comparison::report(uint32_t earlier, uint8_t earlierLane, uint32_t byte,
                        const char *did) const {
  bool own = earlier == stamp;
  std::string who =
      !own ? writerOf(warp, earlier)
      : earlierLane == kSeveralLanes
          ? "another lane of this warp"
          : "lane " + std::to_string(earlierLane) + " of this warp";
  warp.report(instruction, HazardKind::Race,
              lane == kSeveralLanes ? warp.active : 1u << lane,
              std::string(role.writes ? "writes" : "reads") + " byte " +
                  std::to_string(byte - kSharedStart) +
                  " of shared memory, which " + who + " has " + did +
                  ", without a " + (own ? "bar.warp.sync" : "barrier") +
                  " in between");
}

/// A write has to come behind the reads that it ends.
static void compareWithReads(const Comparison &now, const SharedRecord &record,
                             uint32_t word, uint8_t bytes) {
  for (int k = 0; k < 2; ++k) {
    if (!(record.read[k].bytes & bytes) ||
        (record.strongReads[k] && now.role.strong))
      continue;
    if (!now.races(record.reads[k], record.read[k]))
      continue;
    return now.report(record.reads[k], record.read[k].lane, 4 * word, "read");
  }
}

static void compareWithWrite(const Comparison &now, const SharedRecord &record,
                             uint32_t word, uint8_t bytes) {
  if (!(record.written.bytes & bytes) ||
      (record.strongWrite && now.role.strong))
    return;
  // Lanes that write one place in one instruction: one of them wins.
  if (now.role.writes && record.write == now.stamp)
    return;
  if (now.races(record.write, record.written))
    now.report(record.write, record.written.lane, 4 * word, "written");
}

static void recordWrite(const Comparison &now, SharedRecord &record,
                        uint8_t bytes) {
  LaneBytes later{bytes, now.lane};
  bool goesOn = record.write == now.stamp;
  record.written = goesOn ? record.written.with(later, true) : later;
  record.strongWrite = now.role.strong && (!goesOn || record.strongWrite);
  record.write = now.stamp;
  for (int k = 0; k < 2; ++k) {
    record.read[k].bytes &= ~bytes;
    if (record.read[k].bytes == 0)
      record.reads[k] = 0;
  }
}

/// The slot of this warp, else one that this access comes behind, else a free
/// one; none where two other warps are unordered with it.
static int slotOf(const Comparison &now, const SharedRecord &record) {
  for (int k = 0; k < 2; ++k)
    if (record.reads[k] == now.stamp)
      return k;
  for (int k = 0; k < 2; ++k)
    if (record.reads[k] == 0 || knows(now.warp, record.reads[k]))
      return k;
  return -1;
}

static void recordRead(const Comparison &now, SharedRecord &record,
                       uint8_t bytes) {
  int k = slotOf(now, record);
  if (k < 0)
    return;
  LaneBytes later{bytes, now.lane};
  bool goesOn = record.reads[k] == now.stamp;
  record.read[k] = goesOn ? record.read[k].with(later, false) : later;
  record.strongReads[k] = now.role.strong && (!goesOn || record.strongReads[k]);
  record.reads[k] = now.stamp;
}

/// Calls `function(word, mask of its bytes)`.
template <typename Function>
static void forWords(uint32_t offset, uint32_t bytes, Function function) {
  uint32_t end = offset + bytes;
  for (uint32_t word = offset / 4; 4 * word < end; ++word) {
    uint32_t first = offset > 4 * word ? offset - 4 * word : 0;
    uint32_t last = end < 4 * word + 4 ? end - 4 * word : 4;
    function(word,
             static_cast<uint8_t>((0xfu << first) & (0xfu >> (4 - last))));
  }
}

/// Whether a read of a whole word changes nothing and meets nobody: most do.
static bool isRepeated(const SharedRecord &record, const uint32_t *seen,
                       uint32_t stamp, uint8_t lane) {
  uint32_t write = record.write;
  if (write != 0 && (write == stamp || seen[warpOf(write)] < timeOf(write)))
    return false;
  for (int k = 0; k < 2; ++k)
    if (record.reads[k] == stamp)
      return record.read[k].bytes == 0xf && !record.strongReads[k] &&
             (record.read[k].lane == lane ||
              record.read[k].lane == kSeveralLanes);
  // A third warp is forgotten.
  return record.reads[0] != 0 && record.reads[1] != 0 &&
         seen[warpOf(record.reads[0])] < timeOf(record.reads[0]) &&
         seen[warpOf(record.reads[1])] < timeOf(record.reads[1]);
}

/// The same of one that nobody has touched before.
static bool isFirst(SharedRecord &record, const Comparison &now) {
  if (record.write != 0 || record.reads[0] != 0 || record.reads[1] != 0)
    return false;
  LaneBytes all{0xf, now.lane};
  if (now.role.writes) {
    record.write = now.stamp;
    record.written = all;
    record.strongWrite = now.role.strong;
  } else {
    record.reads[0] = now.stamp;
    record.read[0] = all;
    record.strongReads[0] = now.role.strong;
  }
  return true;
}

void mlir::moe::emulator::noteShared(Warp &warp, const Instruction &i,
                                     Block &block, uint8_t lane,
                                     uint32_t offset, uint32_t bytes,
                                     AccessRole role) {
  Comparison now{warp, i, block, lane, stampOf(warp), role};
  const uint32_t *seen = warp.knowledge.seen.data();
  forWords(offset, bytes, [&](uint32_t word, uint8_t mask) {
    SharedRecord &record = block.records.words[word];
    if (mask == 0xf &&
        ((!role.writes && isRepeated(record, seen, now.stamp, lane)) ||
         isFirst(record, now)))
      return;
    compareWithWrite(now, record, word, mask);
    if (!role.writes)
      return recordRead(now, record, mask);
    compareWithReads(now, record, word, mask);
    recordWrite(now, record, mask);
  });
}

void mlir::moe::emulator::noteLanding(Warp &warp, Block &block, uint32_t offset,
                                      uint32_t bytes) {
  if (!block.records.tracked())
    return;
  uint32_t stamp = stampOf(warp);
  forWords(offset, bytes, [&](uint32_t word, uint8_t) {
    SharedRecord &record = block.records.words[word];
    if (isOfWarp(warp, record.write))
      record.write = stamp;
  });
}

void mlir::moe::emulator::noteBulkWrite(Warp &warp, const Instruction &i,
                                        Block &block, uint8_t lane,
                                        uint32_t offset, uint32_t bytes) {
  if (!block.records.tracked())
    return;
  Comparison now{warp, i, block, lane, stampOf(warp), {true}};
  bool reported = false;
  forWords(offset, bytes, [&](uint32_t word, uint8_t mask) {
    SharedRecord &record = block.records.words[word];
    // Its own warp's lanes are ordered by what elects the one that issues.
    for (int k = 0; k < 2 && !reported; ++k)
      if (record.reads[k] != 0 && !knows(warp, record.reads[k])) {
        now.report(record.reads[k], record.read[k].lane, 4 * word, "read");
        reported = true;
      }
    if (!reported && record.write != 0 && !knows(warp, record.write)) {
      now.report(record.write, record.written.lane, 4 * word, "written");
      reported = true;
    }
    (void)mask;
    record = SharedRecord();
  });
}
