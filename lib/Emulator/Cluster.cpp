//===- Cluster.cpp - blocks that run together -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include "AsyncCopy.h"
#include "BulkCopy.h"
#include "MBarrier.h"
#include "MatrixProducts.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

/// Instructions of a warp's turn: long, since changing warps costs cache.
static constexpr uint64_t kTurn = 4096;
static constexpr uint64_t kAlignment = 1024;
static constexpr uint64_t kRoundsOfPatience = 16;

static uint8_t *align(std::vector<uint8_t> &memory, size_t bytes) {
  memory.resize(bytes + kAlignment);
  uint64_t begin = reinterpret_cast<uint64_t>(memory.data());
  return memory.data() + (kAlignment - begin % kAlignment) % kAlignment;
}

/// Whether there are reads of shared memory that need a proxy fence.
static bool usesAsyncProxy(const Program &program) {
  auto begins = [](const std::string &name, const char *prefix) {
    return name.rfind(prefix, 0) == 0;
  };
  return program.checks &&
         std::any_of(program.names.begin(), program.names.end(),
                     [&](const std::string &name) {
                       return begins(name, "wgmma.mma_async") ||
                              begins(name, "cp.async.bulk") ||
                              begins(name, "cp.reduce.async.bulk");
                     });
}

Cluster::Cluster(const Grid &grid)
    : grid(grid), executed(grid.program.instructions.size()),
      random(grid.launch.seed) {
  const uint32_t *extents = grid.clusterExtents;
  size_t count = size_t(extents[0]) * extents[1] * extents[2];
  size_t threads = size_t(grid.block[0]) * grid.block[1] * grid.block[2];
  size_t warps = (threads + kLanes - 1) / kLanes;
  size_t each = grid.program.registerBytes;
  localBytes = grid.program.shared.localBytes;
  size_t stride = (kSharedStart + grid.sharedBytes + 2 * kAlignment - 1) /
                  kAlignment * kAlignment;
  uint8_t *registerData = align(registers, count * warps * each);
  uint8_t *poisonData = align(poison, count * warps * each / 8);
  uint8_t *sharedData = align(shared, count * stride);
  uint8_t *shadowData = align(shadow, count * stride);
  local.resize(count * warps * kLanes * localBytes);
  blocks.resize(count);
  for (size_t b = 0; b < count; ++b) {
    Block &block = blocks[b];
    block.cluster = this;
    block.rank = static_cast<uint32_t>(b);
    block.shared = sharedData + b * stride;
    block.sharedShadow = shadowData + b * stride;
    block.local = local.data() + b * warps * kLanes * localBytes;
    if (usesAsyncProxy(grid.program))
      block.stamps.words.resize((kSharedStart + grid.sharedBytes + 3) / 4);
    if (grid.program.checks)
      block.records.words.resize((kSharedStart + grid.sharedBytes + 3) / 4);
    block.warps.resize(warps);
    for (size_t w = 0; w < warps; ++w) {
      Warp &warp = block.warps[w];
      warp.block = &block;
      warp.number = static_cast<uint32_t>(w);
      warp.index = static_cast<uint32_t>(b * warps + w);
      warp.pools[0] = registerData + (b * warps + w) * each;
      warp.pools[1] = const_cast<uint8_t *>(grid.constants);
      warp.poisonPools[0] = poisonData + (b * warps + w) * each / 8;
      warp.poisonPools[1] = const_cast<uint8_t *>(grid.constantPoison);
    }
  }
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

void Cluster::start(uint64_t number) {
  uint64_t clusters[3], rest = number;
  for (int i = 0; i < 3; ++i) {
    clusters[i] = grid.launch.grid[i] / grid.clusterExtents[i];
    id[i] = static_cast<uint32_t>(rest % clusters[i]);
    rest /= clusters[i];
  }
  this->number = number;
  barrier = {};
  fences = {};
  pending.clear();
  random.seed(grid.launch.seed + number);
  budget = grid.launch.maxInstructions;
  for (Block &block : blocks) {
    uint32_t inner = block.rank;
    for (int i = 0; i < 3; ++i) {
      uint32_t extent = grid.clusterExtents[i];
      block.id[i] = id[i] * extent + inner % extent;
      inner /= extent;
    }
    std::memset(block.shared, 0xff, kSharedStart + grid.sharedBytes);
    std::memset(block.sharedShadow, 1, kSharedStart + grid.sharedBytes);
    std::fill(std::begin(block.barriers), std::end(block.barriers),
              NamedBarrier());
    block.mbarriers.clear();
    block.stamps.reset();
    block.records.reset();
    block.liveWarps = static_cast<uint32_t>(block.warps.size());
    for (Warp &warp : block.warps)
      startWarp(block, warp);
  }
}

void Cluster::startWarp(Block &block, Warp &warp) {
  uint64_t threads = uint64_t(grid.block[0]) * grid.block[1] * grid.block[2];
  uint64_t count = std::min<uint64_t>(threads - warp.number * kLanes, kLanes);
  warp.started = count == kLanes ? kAllLanes : (1u << count) - 1;
  warp.live = warp.active = warp.started;
  warp.pc = 0;
  warp.meet = kNoPc;
  warp.region = -1;
  warp.wait = {};
  warp.blocked = false;
  warp.clusterArrivals = 0;
  warp.patience = kPatience;
  warp.timedOut = false;
  warp.lastAllocation = nullptr;
  if (grid.program.checks)
    startOrder(warp, static_cast<uint32_t>(blocks.size() * block.warps.size()));
  warp.groups.clear();
  warp.regions.clear();
  warp.copies.reset();
  warp.products.reset();
  const Program &program = grid.program;
  std::memset(warp.poisonPools[0], 0, program.registerBytes / 8);
  warp.poisoned = program.checks && !program.undefinedRegisters.empty();
  for (auto &[operand, bytes] : program.undefinedRegisters)
    std::memset(warp.poisonToWrite(operand), 0xff, bytes / 8);
  fillSpecials(block, warp);
}

/// The value of a special register that all threads of the block share.
static uint32_t blockValue(const Cluster &cluster, const Block &block,
                           Special special) {
  const Grid &grid = cluster.grid;
  const uint32_t *cluster3 = grid.clusterExtents;
  auto of = [&](Special first, const uint32_t *values) {
    return values[size_t(special) - size_t(first)];
  };
  if (special <= Special::NTidZ)
    return of(Special::NTidX, grid.block);
  if (special <= Special::CtaIdZ)
    return of(Special::CtaIdX, block.id);
  if (special <= Special::NCtaIdZ)
    return of(Special::NCtaIdX, grid.launch.grid);
  if (special >= Special::ClusterNCtaIdX && special <= Special::ClusterNCtaIdZ)
    return of(Special::ClusterNCtaIdX, cluster3);
  if (special >= Special::ClusterIdX && special <= Special::ClusterIdZ)
    return of(Special::ClusterIdX, cluster.id);
  if (special >= Special::ClusterCtaIdX && special <= Special::ClusterCtaIdZ) {
    size_t i = size_t(special) - size_t(Special::ClusterCtaIdX);
    return block.id[i] % cluster3[i];
  }
  if (special >= Special::NClusterIdX && special <= Special::NClusterIdZ) {
    size_t i = size_t(special) - size_t(Special::NClusterIdX);
    return grid.launch.grid[i] / cluster3[i];
  }
  switch (special) {
  case Special::NWarpId:
    return static_cast<uint32_t>(block.warps.size());
  case Special::ClusterCtaRank:
    return block.rank;
  case Special::ClusterNCtaRank:
    return static_cast<uint32_t>(cluster.blocks.size());
  case Special::IsExplicitCluster:
    return cluster.blocks.size() > 1 ? kAllLanes : 0;
  case Special::DynamicSmemSize:
    return grid.launch.sharedBytes;
  case Special::TotalSmemSize:
    return kSharedStart + grid.sharedBytes;
  case Special::NSmId:
    return 1;
  default: // %smid, %gridid
    return 0;
  }
}

static uint32_t threadValue(const Grid &grid, const Warp &warp, uint32_t lane,
                            Special special) {
  uint32_t thread = warp.number * kLanes + lane;
  switch (special) {
  case Special::TidX:
    return thread % grid.block[0];
  case Special::TidY:
    return thread / grid.block[0] % grid.block[1];
  case Special::TidZ:
    return thread / grid.block[0] / grid.block[1];
  case Special::WarpId:
    return warp.number;
  case Special::LaneMaskEq:
    return 1u << lane;
  case Special::LaneMaskLt:
    return (1u << lane) - 1;
  case Special::LaneMaskLe:
    return (2u << lane) - 1;
  case Special::LaneMaskGe:
    return ~((1u << lane) - 1);
  case Special::LaneMaskGt:
    return ~((2u << lane) - 1);
  default: // %laneid
    return lane;
  }
}

void Cluster::fillSpecials(Block &block, Warp &warp) {
  for (auto &[special, operand] : grid.program.specials) {
    auto *values = warp.write<uint32_t>(operand);
    if (special == Special::IsExplicitCluster) {
      *values = blockValue(*this, block, special);
      continue;
    }
    bool each =
        special <= Special::TidZ || special == Special::LaneId ||
        special == Special::WarpId ||
        (special >= Special::LaneMaskEq && special <= Special::LaneMaskGt);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      values[lane] = each ? threadValue(grid, warp, lane, special)
                          : blockValue(*this, block, special);
  }
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

bool Cluster::turn(Warp &warp) {
  uint64_t most =
      std::min(budget, grid.launch.seed == 0 ? kTurn : 1 + random() % 64);
  uint64_t ran = runWarp(warp, most);
  budget -= ran;
  if (budget == 0) {
    const Instruction &at = grid.program.instructions[std::min<size_t>(
        warp.pc, grid.program.instructions.size() - 1)];
    warp.stop(at, HazardKind::Limit, warp.active,
              "the block ran " + std::to_string(grid.launch.maxInstructions) +
                  " instructions and is not at its end");
  }
  if (warp.done()) {
    finishMatrixProducts(warp);
    if (--warp.block->liveWarps == 0)
      checkBulkCopiesAtEnd(*warp.block);
    releaseBarriers(*warp.block);
    if (barrier.arrived != 0 && barrier.arrived == liveWarps())
      barrier.finish();
  }
  return ran != 0;
}

uint32_t Cluster::liveWarps() const {
  uint32_t count = 0;
  for (const Block &block : blocks)
    count += block.liveWarps;
  return count;
}

bool Cluster::round() {
  bool progress = false;
  for (Block &block : blocks)
    for (Warp &warp : block.warps)
      if (!warp.done())
        progress |= turn(warp);
  return progress;
}

bool Cluster::completeOne() {
  // Copies of a warp that no one has waited for come before bulk copies: both
  // are as late as they can be.
  bool any = false;
  for (Block &block : blocks)
    for (Warp &warp : block.warps)
      any |= completeAsyncCopies(warp);
  return any || advanceBulkCopies(*this);
}

bool Cluster::passTime() {
  bool any = false;
  for (Block &block : blocks)
    for (Warp &warp : block.warps) {
      bool limited = !warp.done() && warp.wait.kind == WaitKind::MBarrier &&
                     warp.wait.generation != 0;
      for (const LaneGroup &group : warp.groups)
        limited |=
            group.wait.kind == WaitKind::MBarrier && group.wait.generation != 0;
      if (!limited || warp.patience == 0)
        continue;
      --warp.patience;
      warp.timedOut = any = true;
    }
  return any;
}

static std::string describe(const Block &block, const LaneGroup &group) {
  switch (group.wait.kind) {
  case WaitKind::Lanes:
    return "for other lanes of its warp to run the same instruction";
  case WaitKind::Barrier:
    return "at barrier " + std::to_string(group.wait.what);
  case WaitKind::ClusterBarrier:
    return "at the barrier of the cluster";
  case WaitKind::MBarrier:
    return "for " +
           describeMBarrier(block, static_cast<uint32_t>(group.wait.what));
  case WaitKind::AsyncCopies:
    return "for copies of its own";
  case WaitKind::Warpgroup:
    return "for the other warps of its warpgroup";
  case WaitKind::Registers:
    return "for registers that other warps would have to release";
  default:
    return "for nothing";
  }
}

void Cluster::reportDeadlock() {
  const Instruction *code = grid.program.instructions.data();
  std::string text;
  Warp *first = nullptr;
  const Instruction *at = nullptr;
  HazardKind kind = HazardKind::Deadlock;
  for (Block &block : blocks)
    for (Warp &warp : block.warps) {
      if (warp.done())
        continue;
      std::vector<LaneGroup> groups = warp.groups;
      if (warp.active)
        groups.push_back({warp.pc, warp.active, warp.region, warp.wait});
      for (const LaneGroup &group : groups) {
        if (group.wait.kind == WaitKind::Lanes)
          kind = HazardKind::Divergence;
        if (!first) {
          first = &warp;
          at = &code[group.pc];
        }
        if (text.size() > 1000)
          continue;
        text += "; warp " + std::to_string(warp.number) +
                (blocks.size() > 1 ? " of block " + std::to_string(block.rank) +
                                         " of the cluster"
                                   : "") +
                " waits in line " + std::to_string(code[group.pc].line) + " " +
                describe(block, group);
      }
    }
  if (first)
    first->stop(*at, kind, first->active, "no thread can go on" + text);
}

void Cluster::run(uint64_t number) {
  start(number);
  auto live = [&] {
    for (const Block &block : blocks)
      if (block.liveWarps != 0)
        return true;
    return false;
  };
  try {
    // A warp that polls never lets the block come to a stop: copies land after
    // some rounds all the same.
    for (uint64_t rounds = 1; live(); ++rounds) {
      bool progress = round();
      if (grid.launch.seed != 0 && random() % 4 == 0)
        progress |= advanceBulkCopies(*this);
      if (progress ? rounds % kRoundsOfPatience == 0 : live())
        if (!completeOne() && !progress && !passTime())
          reportDeadlock();
    }
    // What was never waited for still has to reach its memory.
    while (completeOne()) {
    }
    // NOLINTNEXTLINE(bugprone-empty-catch): the hazard is in the report already
  } catch (const StopBlock &) {
  }
}
