//===- Block.h - blocks, clusters and the grid that runs -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_BLOCK_H
#define MOE_LIB_EMULATOR_BLOCK_H

#include "Order.h"
#include "SharedRaces.h"
#include "Warp.h"

#include "moe/Emulator/Launch.h"

#include <map>
#include <mutex>
#include <random>

namespace mlir::moe::emulator {

struct BulkCopy;
struct Cluster;
class LaunchChecks;

/// What the threads of bar.red say.
struct BarrierVotes {
  uint32_t yes = 0, threads = 0;
  /// Warps that have not read the result.
  uint32_t readers = 0;
};

/// bar.sync ID: counts threads until all are there.
struct NamedBarrier {
  uint32_t arrived = 0;
  uint32_t expected = 0;
  /// Whether the count was given: else it falls when warps end.
  bool counted = false;
  uint64_t generation = 0;
  Rendezvous order;
  /// Of this generation, and of those before that someone has yet to read.
  BarrierVotes votes;
  std::map<uint64_t, BarrierVotes> results;

  /// All are there.
  void finish() {
    arrived = 0;
    expected = 0;
    if (votes.readers)
      results[generation] = votes;
    votes = {};
    ++generation;
    order.finish();
  }
};
constexpr uint32_t kNamedBarriers = 16;

/// What is known of an mbarrier besides its 8 bytes.
struct MBarrierInfo {
  /// Instruction that initialised it, and what its write was stamped with.
  uint32_t line = 0;
  uint32_t stamp = 0;
  /// A fence came behind its initialisation: bulk copies may use it.
  bool fenced = false;
  /// The 8 bytes as the emulator left them.
  uint64_t word = 0;
  /// Phases that have ended.
  uint64_t phases = 0;
  Rendezvous order;
};

struct Block {
  Cluster *cluster = nullptr;
  /// In its cluster.
  uint32_t rank = 0;
  uint32_t id[3] = {0, 0, 0};
  /// Shared memory by offset, from kSharedStart on; shadow 1: undefined.
  uint8_t *shared = nullptr;
  uint8_t *sharedShadow = nullptr;
  uint8_t *local = nullptr;
  NamedBarrier barriers[kNamedBarriers];
  /// By shared offset.
  std::map<uint32_t, MBarrierInfo> mbarriers;
  WriteStamps stamps;
  SharedRecords records;
  std::vector<Warp> warps;
  /// Warps with threads that have not ended.
  uint32_t liveWarps = 0;
};

/// Where all host threads write what they find.
class HazardSink {
public:
  HazardSink(size_t most, uint64_t seed) : most(most), seed(seed) {}

  void add(Hazard hazard);
  bool full() const { return hazards.size() >= most; }
  std::vector<Hazard> take() { return std::move(hazards); }

private:
  std::mutex mutex;
  size_t most;
  uint64_t seed;
  std::vector<Hazard> hazards;
};

/// A launch while it runs; shared by all host threads.
struct Grid {
  const Launch &launch;
  const Program &program;
  const Memory &memory;
  const uint8_t *parameters;
  const uint8_t *constants;
  /// All zero, for constants.
  const uint8_t *constantPoison;
  uint32_t block[3];
  uint32_t clusterExtents[3];
  uint32_t sharedBytes;
  HazardSink &hazards;
  /// Null in a run without checks.
  LaunchChecks *checks = nullptr;
};

/// Blocks that run together on one host thread.
struct Cluster {
  explicit Cluster(const Grid &grid);

  const Grid &grid;
  /// In the grid.
  uint64_t number = 0;
  uint32_t id[3] = {0, 0, 0};
  std::vector<Block> blocks;
  NamedBarrier barrier;
  /// What warps knew at their fences.
  Knowledge fences;
  /// Bulk copies in flight, in the order of their issue.
  std::vector<std::shared_ptr<BulkCopy>> pending;
  Counts counts;
  /// By instruction: warps and threads.
  std::vector<std::pair<uint64_t, uint64_t>> executed;
  std::mt19937_64 random;
  uint64_t budget = 0;

  /// Warps of all blocks that have not ended.
  uint32_t liveWarps() const;

  /// Runs one cluster of the grid to its end.
  void run(uint64_t number);

private:
  void start(uint64_t number);
  void startWarp(Block &block, Warp &warp);
  void fillSpecials(Block &block, Warp &warp);
  /// Lets a warp run for a while; whether it did anything.
  bool turn(Warp &warp);
  bool round();
  bool completeOne();
  /// Nothing can go on: time limits of waits run out. False where there is
  /// none.
  bool passTime();
  void reportDeadlock();

  /// One piece of memory each for all warps and blocks.
  std::vector<uint8_t> registers, poison, shared, shadow, local;
  uint64_t localBytes = 0;
};

/// A warp has ended: barriers that wait for all warps may be complete.
void releaseBarriers(Block &block);

/// Number k of the instruction's list.
inline Operand listOperand(const Warp &warp, const Instruction &i, uint32_t k) {
  return warp.block->cluster->grid.program.lists[i.list + k];
}

/// The lanes that take part in an instruction with a member mask: all running
/// ones have to be among them. Waits for those that are not here yet, and
/// returns 0.
uint32_t gatherMembers(Warp &warp, const Instruction &i, Operand mask);

/// Runs the picked group of a warp for at most `turns` instructions or until it
/// waits; returns the instructions that it ran.
uint64_t runWarp(Warp &warp, uint64_t turns);

/// Sets the poison of the destination of an instruction that is about to run.
void propagatePoison(Warp &warp, const Instruction &instruction);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_BLOCK_H
