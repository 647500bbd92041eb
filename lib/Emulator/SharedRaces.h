//===- SharedRaces.h - unordered accesses to shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each 4 bytes of shared memory: who wrote last, and two of those who have
// read since. An access of another warp has to know of the write, and a write
// of the reads (Order.h). Between lanes of one warp it takes a bar.warp.sync,
// or whatever else makes the warp's time go on.
//
// What is kept is exact or left out: of three warps that read a word the third
// is forgotten, and of two that write different bytes of a word the first one.
// Hazards may be missed then, none is invented.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_SHAREDRACES_H
#define MOE_LIB_EMULATOR_SHAREDRACES_H

#include <cstdint>
#include <vector>

namespace mlir::moe::emulator {

struct Block;
struct Instruction;
struct Warp;

/// Which lane an access is of: one, or several of the warp, or some that need
/// not be compared.
constexpr uint8_t kSeveralLanes = 32;
constexpr uint8_t kAnyLane = 33;

/// The bytes of a word that a warp has accessed since its time last went on,
/// and by which lane.
struct LaneBytes {
  uint8_t bytes, lane;

  /// Adds another access of the warp. Bytes of different lanes do not fit into
  /// one record: those before are forgotten. Lanes that write one place are not
  /// compared with those that read it: as a rule they write the same.
  LaneBytes with(LaneBytes later, bool writes) const {
    if (lane == later.lane)
      return {static_cast<uint8_t>(bytes | later.bytes), lane};
    auto common = static_cast<uint8_t>(bytes & later.bytes);
    if (common == 0)
      return later;
    return {common, writes ? kAnyLane : kSeveralLanes};
  }
  bool meets(uint8_t other) const {
    return lane != kAnyLane && (other == kSeveralLanes || lane != other);
  }
};

/// How an access takes part in races.
struct AccessRole {
  bool writes;
  /// An atomic operation, or a load or store with an order: two of them never
  /// race.
  bool strong = false;
};

struct SharedRecord {
  /// Stamps; 0: nobody.
  uint32_t write = 0;
  uint32_t reads[2] = {0, 0};
  LaneBytes written = {0, 0};
  LaneBytes read[2] = {{0, 0}, {0, 0}};
  bool strongWrite = false;
  bool strongReads[2] = {false, false};
};

/// Of a block; empty in a run without checks.
struct SharedRecords {
  /// By shared offset / 4.
  std::vector<SharedRecord> words;

  bool tracked() const { return !words.empty(); }
  void reset() { words.assign(words.size(), SharedRecord()); }
};

/// A lane, or kSeveralLanes of them, reads or writes bytes at a shared offset
/// of a block.
void noteShared(Warp &warp, const Instruction &i, Block &block, uint8_t lane,
                uint32_t offset, uint32_t bytes, AccessRole role);

/// A copy of a lane of the warp has written: what was noted at its issue is now
/// part of what the warp did until now.
void noteLanding(Warp &warp, Block &block, uint32_t offset, uint32_t bytes);

/// A bulk copy that the lane issues is going to write there: reports accesses
/// that the warp does not know of, and forgets them.
void noteBulkWrite(Warp &warp, const Instruction &i, Block &block, uint8_t lane,
                   uint32_t offset, uint32_t bytes);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_SHAREDRACES_H
