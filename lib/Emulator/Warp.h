//===- Warp.h - 32 lanes and what they hold -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a warp. Its lanes are one group while they are at the same
// instruction; a branch that they disagree on splits them.
//
// Lanes meet again at the immediate post-dominator of the branch, as the code
// that the assembler makes does: every region of divergence keeps the lanes
// that went in, and those that reached its end wait there for the rest.
// Unlike a stack of regions, a group that waits (for a barrier, for data)
// leaves its turn to the other groups of the warp, so that lanes may wait for
// one another as they may on a GPU since Volta. Going on with the smallest
// program counter would be simpler, but lanes would meet late where a block is
// laid out behind the place where they meet, and `.aligned` could not be
// checked.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_WARP_H
#define MOE_LIB_EMULATOR_WARP_H

#include "Order.h"
#include "Program.h"

#include "moe/Emulator/Memory.h"
#include "moe/Emulator/Report.h"

#include <memory>

namespace mlir::moe::emulator {

struct Block;

/// Thrown when a block cannot go on; the hazard is in the report.
struct StopBlock {};

enum class WaitKind : uint8_t {
  None,
  /// Until other lanes come to the same instruction.
  Lanes,
  /// bar.sync: `what` is the barrier, `generation` the one that was joined.
  Barrier,
  ClusterBarrier,
  /// An mbarrier at shared offset `what`; `generation` is 1 where the wait has
  /// a time limit.
  MBarrier,
  /// Copies of this warp's own.
  AsyncCopies,
  /// Until the other warps of its warpgroup come to the same instruction.
  Warpgroup,
  /// setmaxnreg.inc: until other warps give registers back.
  Registers,
  /// Its turn is over: the wait ends by itself.
  Yield,
};

struct Wait {
  WaitKind kind = WaitKind::None;
  uint64_t what = 0;
  uint64_t generation = 0;
};

/// Lanes at the same instruction.
struct LaneGroup {
  uint32_t pc;
  uint32_t lanes;
  int32_t region;
  Wait wait;
};

/// Lanes that went apart and meet at `end`.
struct Region {
  uint32_t end;
  uint32_t members;
  uint32_t arrived;
  int32_t parent;
};

/// Copies and matrix products of a warp that are not complete; each family
/// keeps its own.
struct AsyncCopies;
struct MatrixProducts;

constexpr uint32_t kPatience = 16;

struct Warp {
  Warp();
  Warp(Warp &&) noexcept;
  Warp &operator=(Warp &&) = delete;
  ~Warp();

  /// The two pools that an Operand is an offset into, and one byte plane of
  /// undefined lanes for each byte of a register.
  uint8_t *pools[2] = {nullptr, nullptr};
  uint8_t *poisonPools[2] = {nullptr, nullptr};

  /// The group that runs; pc is one past the instruction that runs.
  uint32_t pc = 0;
  uint32_t active = 0;
  /// Where it waits for the rest of its region.
  uint32_t meet = kNoPc;
  int32_t region = -1;
  /// Some register may hold undefined bytes.
  bool poisoned = false;
  /// The running group came back to an instruction that it waited at.
  Wait wait;
  bool blocked = false;

  /// Lanes that the launch started, and that have not ended.
  uint32_t started = 0;
  uint32_t live = 0;
  /// In its block, and in its cluster.
  uint32_t number = 0;
  uint32_t index = 0;
  Block *block = nullptr;
  Knowledge knowledge;
  /// How often a wait with a time limit may still end without what it waits
  /// for, since the last one that got it; and whether one is to end so now.
  uint32_t patience = kPatience;
  bool timedOut = false;
  /// The generation of the cluster's barrier that its last arrival completes.
  uint64_t clusterArrivals = 0;

  std::vector<LaneGroup> groups;
  std::vector<Region> regions;
  /// Where its last access to global memory was.
  const Allocation *lastAllocation = nullptr;
  std::unique_ptr<AsyncCopies> copies;
  std::unique_ptr<MatrixProducts> products;

  //===--- Registers ------------------------------------------------------===//

  template <typename T>
  const T *read(Operand operand) const {
    return reinterpret_cast<const T *>(pools[operand.code & 1] +
                                       operand.offset());
  }
  template <typename T>
  T *write(Operand operand) {
    return reinterpret_cast<T *>(pools[0] + operand.offset());
  }
  uint32_t predicate(Operand operand) const { return *read<uint32_t>(operand); }
  /// Sets the bits of the lanes that run.
  void setPredicate(Operand operand, uint32_t bits) {
    uint32_t &word = *write<uint32_t>(operand);
    word = (word & ~active) | (bits & active);
  }

  /// Lanes of which byte i of a register is undefined are word i.
  const uint32_t *poison(Operand operand) const {
    return reinterpret_cast<const uint32_t *>(poisonPools[operand.code & 1] +
                                              operand.offset() / 8);
  }
  uint32_t *poisonToWrite(Operand operand) {
    return reinterpret_cast<uint32_t *>(poisonPools[0] + operand.offset() / 8);
  }
  /// Lanes with an undefined byte among the first `bytes`; 0: a predicate.
  uint32_t poisonedLanes(Operand operand, uint32_t bytes) const;
  /// Makes bytes of the running lanes undefined, or defined.
  void setPoison(Operand operand, uint32_t bytes, uint32_t lanes);

  //===--- Control --------------------------------------------------------===//

  /// Splits the running group.
  void diverge(uint32_t taken, const Instruction &branch);
  /// The running group reached the end of its region.
  void arrive();
  /// Ends some of the running lanes.
  void exit(uint32_t lanes);
  /// The running lanes that the guard of `instruction` lets run.
  uint32_t guarded(const Instruction &instruction) const {
    if (!instruction.guard.exists())
      return active;
    uint32_t lanes = predicate(instruction.guard);
    return active & (instruction.guardNegated ? ~lanes : lanes);
  }
  /// The running group stays at this instruction and runs it again later, with
  /// `wait` as it is now.
  void waitFor(WaitKind kind, uint64_t what = 0, uint64_t generation = 0);
  /// Lets another group run; false when there is none.
  bool pick();
  bool done() const { return live == 0; }
  /// True when all of `lanes` that live are in the running group; else the
  /// group waits for them.
  bool gather(uint32_t lanes);

  //===--- Reports --------------------------------------------------------===//

  /// Writes a hazard at the instruction that runs, of the lowest of `lanes`.
  void report(const Instruction &instruction, HazardKind kind, uint32_t lanes,
              const std::string &text);
  /// The same, and ends the block.
  [[noreturn]] void stop(const Instruction &instruction, HazardKind kind,
                         uint32_t lanes, const std::string &text);
  /// Reports that `lanes` use undefined data as `what`.
  void reportUndefined(const Instruction &instruction, uint32_t lanes,
                       const char *what);
  /// For `.aligned`: true when all lanes of the warp run this instruction
  /// together; else the group waits for the others.
  bool converge(const Instruction &instruction);

private:
  void resume(size_t group);
  void finish(int32_t region, uint32_t lanes);
};

/// The lowest lane of a set that is not empty.
inline uint32_t firstLane(uint32_t lanes) { return __builtin_ctz(lanes); }
/// How many there are; most of the time all.
inline uint32_t countLanes(uint32_t lanes) {
  return lanes == kAllLanes ? kLanes : __builtin_popcount(lanes);
}

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_WARP_H
