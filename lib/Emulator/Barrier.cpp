//===- Barrier.cpp - barriers of warps, blocks and clusters; fences -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Decode.h"

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

namespace {
enum BarrierMode : uint8_t { kSync, kArrive, kCount, kAll, kAny };
} // namespace

/// Threads that a barrier without a count waits for: warps that have ended no
/// longer count.
static uint32_t liveThreads(const Block &block) {
  return block.liveWarps * kLanes;
}

/// The value of an operand that has to be the same for all lanes.
static uint32_t uniform(Warp &warp, const Instruction &i, Operand operand,
                        const char *what) {
  const auto *values = warp.read<uint32_t>(operand);
  if (uint32_t lanes = warp.poisonedLanes(operand, 4) & warp.active)
    warp.reportUndefined(i, lanes, what);
  uint32_t value = values[firstLane(warp.active)];
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
    if (values[firstLane(lanes)] != value)
      warp.stop(i, HazardKind::BarrierMisuse, lanes,
                std::string("threads of one warp differ in ") + what);
  return value;
}

void mlir::moe::emulator::releaseBarriers(Block &block) {
  for (NamedBarrier &barrier : block.barriers)
    if (barrier.arrived != 0 && !barrier.counted &&
        barrier.arrived >= liveThreads(block))
      barrier.finish();
}

/// bar.red: what the threads of a warp say.
static void castVotes(Warp &warp, const Instruction &i, BarrierVotes &votes) {
  if (uint32_t lanes = warp.poisonedLanes(i.c, 0) & warp.active)
    warp.reportUndefined(i, lanes, "the predicate of a barrier");
  uint32_t yes = warp.predicate(i.c) ^ (i.size ? kAllLanes : 0);
  votes.yes += countLanes(yes & warp.active);
  votes.threads += countLanes(warp.active);
  ++votes.readers;
}

/// What all of them said in a generation that is over.
static void readVotes(Warp &warp, const Instruction &i, NamedBarrier &barrier,
                      uint64_t generation) {
  BarrierVotes &votes = barrier.results[generation];
  warp.setPoison(i.d, i.widths[0], 0);
  if (i.option == kCount) {
    for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
      warp.write<uint32_t>(i.d)[firstLane(lanes)] = votes.yes;
  } else {
    bool result =
        i.option == kAll ? votes.yes == votes.threads : votes.yes != 0;
    warp.setPredicate(i.d, result ? kAllLanes : 0);
  }
  if (--votes.readers == 0)
    barrier.results.erase(generation);
}

static void blockBarrier(Warp &warp, const Instruction &i) {
  Block &block = *warp.block;
  if (warp.wait.kind == WaitKind::Barrier) {
    if (block.barriers[warp.wait.what].generation == warp.wait.generation)
      return warp.waitFor(WaitKind::Barrier, warp.wait.what,
                          warp.wait.generation);
    acquire(warp, block.barriers[warp.wait.what].order.complete);
    if (i.option >= kCount)
      readVotes(warp, i, block.barriers[warp.wait.what], warp.wait.generation);
    warp.wait = {};
    return;
  }
  // Threads that have ended do not take part.
  if (!warp.gather(warp.started))
    return;
  uint32_t number = uniform(warp, i, i.a, "the number of a barrier");
  if (number >= kNamedBarriers)
    warp.stop(i, HazardKind::BarrierMisuse, warp.active,
              "barrier " + std::to_string(number) + ": a block has 16");
  NamedBarrier &barrier = block.barriers[number];
  bool counted = i.b.exists();
  uint32_t expected = liveThreads(block);
  if (counted) {
    expected = uniform(warp, i, i.b, "the thread count of a barrier");
    if (expected == 0 || expected % kLanes != 0)
      warp.stop(i, HazardKind::BarrierMisuse, warp.active,
                "a barrier of " + std::to_string(expected) +
                    " threads: a multiple of 32 is needed");
    if (barrier.arrived != 0 && barrier.expected != expected)
      warp.stop(i, HazardKind::BarrierMisuse, warp.active,
                "barrier " + std::to_string(number) + " is used for " +
                    std::to_string(expected) + " threads here, and for " +
                    std::to_string(barrier.expected) + " by those that wait");
  }
  barrier.expected = expected;
  barrier.counted = counted;
  // Whole warps arrive, even where the last one of the block is smaller.
  barrier.arrived += kLanes;
  ++block.cluster->counts.barrierWaits;
  uint64_t generation = barrier.generation;
  if (barrier.arrived > expected)
    warp.stop(i, HazardKind::BarrierMisuse, warp.active,
              "barrier " + std::to_string(number) + " of " +
                  std::to_string(expected) + " threads got " +
                  std::to_string(barrier.arrived));
  release(warp, barrier.order.arrived);
  if (i.option >= kCount)
    castVotes(warp, i, barrier.votes);
  bool last = barrier.arrived == expected;
  if (last)
    barrier.finish();
  if (i.option == kArrive)
    return;
  if (!last)
    return warp.waitFor(WaitKind::Barrier, number, generation);
  acquire(warp, barrier.order.complete);
  if (i.option >= kCount)
    readVotes(warp, i, barrier, generation);
}

static void decodeBlockBarrier(DecodeContext &context, bool arrives) {
  context.takeOneOf({"aligned"});
  Instruction &out = context.out();
  context.needOperands(1, 2);
  context.a(0, 32);
  if (context.operandCount() == 2)
    context.b(1, 32);
  else if (arrives)
    context.fail("needs a number of threads");
  out.option = arrives ? kArrive : kSync;
  context.run(blockBarrier);
}

/// bar.red.popc.u32 d, a {, b}, {!}c
static void decodeBarrierVote(DecodeContext &context) {
  context.take("aligned");
  std::string_view operation = context.needOneOf({"popc", "and", "or"});
  bool counts = operation == "popc";
  context.needOneOf({counts ? "u32" : "pred"});
  context.needOperands(3, 4);
  Instruction &out = context.out();
  size_t last = context.operandCount() - 1;
  context.d(0, counts ? 32 : 1);
  context.a(1, 32);
  if (last == 3)
    context.b(2, 32);
  OperandSyntax predicate = context.operand(last);
  out.size = predicate.negated;
  predicate.negated = false;
  out.c = context.source(predicate, 1);
  out.option = counts ? kCount : operation == "and" ? kAll : kAny;
  context.run(blockBarrier);
}

//===----------------------------------------------------------------------===//
// Warps and clusters
//===----------------------------------------------------------------------===//

static void warpBarrier(Warp &warp, const Instruction &i) {
  if (gatherMembers(warp, i, i.a))
    tickLanes(warp);
}

static void clusterArrive(Warp &warp, const Instruction &i) {
  if (i.size && !warp.converge(i))
    return;
  Cluster &cluster = *warp.block->cluster;
  if (warp.clusterArrivals > cluster.barrier.generation)
    warp.stop(i, HazardKind::BarrierMisuse, warp.active,
              "a thread arrives at the barrier of the cluster twice");
  warp.clusterArrivals = cluster.barrier.generation + 1;
  cluster.barrier.arrived += 1;
  release(warp, cluster.barrier.order.arrived);
  if (cluster.barrier.arrived == cluster.liveWarps())
    cluster.barrier.finish();
}

static void clusterWait(Warp &warp, const Instruction &i) {
  if (i.size && !warp.converge(i))
    return;
  Cluster &cluster = *warp.block->cluster;
  if (warp.clusterArrivals == 0)
    warp.stop(i, HazardKind::BarrierMisuse, warp.active,
              "a thread waits at the barrier of the cluster without having "
              "arrived");
  if (cluster.barrier.generation < warp.clusterArrivals)
    return warp.waitFor(WaitKind::ClusterBarrier);
  acquire(warp, cluster.barrier.order.complete);
  warp.wait = {};
  ++cluster.counts.barrierWaits;
}

static void decodeClusterBarrier(DecodeContext &context) {
  std::string_view what = context.needOneOf({"arrive", "wait"});
  // A relaxed arrival may have fences before it, and counts as one that
  // releases.
  if (what == "wait")
    context.take("acquire");
  else
    context.takeOneOf({"release", "relaxed"});
  context.take("aligned");
  context.needOperands(0);
  // One arrival a warp: lanes that are apart would be counted twice.
  context.out().size = 1;
  context.run(what == "arrive" ? clusterArrive : clusterWait);
}

static void decodeBarrier(DecodeContext &context) {
  context.out().kind = Class::Barrier;
  context.out().poison = Poison::Own;
  if (context.take("cluster"))
    return decodeClusterBarrier(context);
  if (context.take("warp")) {
    context.needOneOf({"sync"});
    context.needOperands(1);
    context.a(0, 32);
    return context.run(warpBarrier);
  }
  context.take("cta");
  if (context.take("red"))
    return decodeBarrierVote(context);
  decodeBlockBarrier(context,
                     context.needOneOf({"sync", "arrive"}) == "arrive");
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

// A block's threads run on one thread of the host, and blocks share memory
// through atomics of the host: values are in order without fences. The checks
// take every fence as one that pairs with all others of its cluster.
static void fence(Warp &warp, const Instruction &) { orderByFence(warp); }

/// Bulk copies may use the mbarriers whose initialisation the warp knows of.
static void fenceMBarriers(Warp &warp, const Instruction &) {
  for (auto &[offset, info] : warp.block->mbarriers)
    info.fenced |= knows(warp, info.stamp);
}

/// What the warp knows of in shared memory may be read by bulk copies and
/// wgmma.
static void fenceProxy(Warp &warp, const Instruction &i) {
  if (!warp.block->cluster->grid.checks)
    return;
  fenceMBarriers(warp, i);
  fenceAsyncProxy(warp);
}

static void decodeFence(DecodeContext &context) {
  context.out().kind = Class::Barrier;
  context.out().poison = Poison::Own;
  context.needOperands(0);
  context.run(fence);
  if (context.take("proxy")) {
    if (context.needOneOf({"async", "alias"}) == "alias")
      return;
    // Global memory has no proxies here.
    if (context.takeOneOf({"global", "shared::cta", "shared::cluster"}) !=
        "global")
      context.run(fenceProxy);
    return;
  }
  if (context.take("mbarrier_init")) {
    context.needOneOf({"release"});
    context.needOneOf({"cluster"});
    return context.run(fence, fenceMBarriers);
  }
  context.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  context.needOneOf({"cta", "cluster", "gpu", "sys"});
}

static void decodeMemoryBarrier(DecodeContext &context) {
  context.out().kind = Class::Barrier;
  context.out().poison = Poison::Own;
  context.needOneOf({"cta", "gl", "sys"});
  context.needOperands(0);
  context.run(fence);
}

/// Dependent launches run one after the other here.
static void decodeGridDependency(DecodeContext &context) {
  context.out().kind = Class::Barrier;
  context.out().poison = Poison::Own;
  context.needOneOf({"launch_dependents", "wait"});
  context.needOperands(0);
  context.run(fence);
}

void mlir::moe::emulator::addBarrierInstructions(InstructionTable &table) {
  table.add("bar", decodeBarrier);
  table.add("barrier", decodeBarrier);
  table.add("fence", decodeFence);
  table.add("membar", decodeMemoryBarrier);
  table.add("griddepcontrol", decodeGridDependency);
}
