//===- Order.cpp - which warp knows of which writes -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Order.h"

#include "Block.h"

#include <algorithm>

using namespace mlir::moe::emulator;

static void joinTimes(std::vector<uint32_t> &into,
                      const std::vector<uint32_t> &other) {
  if (into.size() < other.size())
    into.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

void Knowledge::join(const Knowledge &other) {
  joinTimes(seen, other.seen);
  joinTimes(fenced, other.fenced);
}

void WriteStamps::reset() { std::fill(words.begin(), words.end(), 0); }

static void tick(Warp &warp) {
  uint32_t &time = warp.knowledge.seen[warp.index];
  time = std::min(time + 1, kLastTime);
}

void mlir::moe::emulator::startOrder(Warp &warp, uint32_t warps) {
  warp.knowledge.seen.assign(warps, 0);
  warp.knowledge.fenced.assign(warps, 0);
  tick(warp);
}

void mlir::moe::emulator::release(Warp &warp, Knowledge &into) {
  if (warp.knowledge.seen.empty())
    return;
  into.join(warp.knowledge);
  tick(warp);
}

void mlir::moe::emulator::acquire(Warp &warp, const Knowledge &from) {
  if (!warp.knowledge.seen.empty())
    warp.knowledge.join(from);
}

void mlir::moe::emulator::fenceAsyncProxy(Warp &warp) {
  if (warp.knowledge.seen.empty())
    return;
  joinTimes(warp.knowledge.fenced, warp.knowledge.seen);
  tick(warp);
}

void mlir::moe::emulator::tickLanes(Warp &warp) {
  if (!warp.knowledge.seen.empty())
    tick(warp);
}

void mlir::moe::emulator::orderByFence(Warp &warp) {
  Knowledge &fences = warp.block->cluster->fences;
  release(warp, fences);
  acquire(warp, fences);
}

uint32_t mlir::moe::emulator::stampOf(const Warp &warp) {
  if (warp.knowledge.seen.empty())
    return 0;
  return (warp.index + 1) << kTimeBits | warp.knowledge.seen[warp.index];
}

Knowledge mlir::moe::emulator::knowledgeAtIssue(Warp &warp) {
  Knowledge known = warp.knowledge;
  tick(warp);
  return known;
}

bool mlir::moe::emulator::knows(const Warp &warp, uint32_t stamp) {
  return stamp == 0 || warp.knowledge.seen[warpOf(stamp)] >= timeOf(stamp);
}

bool mlir::moe::emulator::isOfWarp(const Warp &warp, uint32_t stamp) {
  return stamp != 0 && warpOf(stamp) == warp.index;
}

std::string mlir::moe::emulator::writerOf(const Warp &teller, uint32_t stamp) {
  const std::vector<Block> &blocks = teller.block->cluster->blocks;
  auto warps = static_cast<uint32_t>(blocks[0].warps.size());
  uint32_t index = warpOf(stamp);
  if (index == teller.index)
    return "this warp";
  std::string text = "warp " + std::to_string(index % warps);
  if (blocks.size() > 1)
    text += " of block " + std::to_string(index / warps) + " of the cluster";
  return text;
}

/// Calls `check(stamp, byte)` for each stamp of a range, until it returns true,
/// and tells whether it did; stamps like the one before are left out.
template <typename Check>
static bool forStamps(const Block &block, uint32_t offset, uint32_t bytes,
                      Check check) {
  if (!block.stamps.tracked() || bytes == 0)
    return false;
  uint32_t last = 0;
  for (uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    uint32_t stamp = block.stamps.words[word];
    if (stamp == last)
      continue;
    last = stamp;
    if (stamp != 0 && check(stamp, 4 * word - kSharedStart))
      return true;
  }
  return false;
}

bool mlir::moe::emulator::checkAsyncRead(Warp &warp, const Instruction &i,
                                         uint32_t lanes, const Block &block,
                                         uint32_t offset, uint32_t bytes,
                                         const char *what) {
  auto check = [&](uint32_t stamp, uint32_t byte) {
    bool ordered = knows(warp, stamp);
    if (ordered && warp.knowledge.fenced[warpOf(stamp)] >= timeOf(stamp))
      return false;
    warp.report(
        i, ordered ? HazardKind::MissingProxyFence : HazardKind::Race, lanes,
        std::string(what) + " reads byte " + std::to_string(byte) +
            " of shared memory, which " + writerOf(warp, stamp) +
            " has written, without a " +
            (ordered ? "fence.proxy.async" : "barrier") + " in between");
    return true;
  };
  return forStamps(block, offset, bytes, check);
}

void mlir::moe::emulator::checkOverwritten(Warp &warp, const Instruction &i,
                                           uint32_t lanes,
                                           const Knowledge &issued,
                                           const Block &block, uint32_t offset,
                                           uint32_t bytes, const char *what) {
  auto check = [&](uint32_t stamp, uint32_t byte) {
    if (issued.seen[warpOf(stamp)] >= timeOf(stamp))
      return false;
    warp.report(i, HazardKind::Race, lanes,
                std::string(what) + " is not done with byte " +
                    std::to_string(byte) + " of shared memory when " +
                    writerOf(warp, stamp) + " writes there");
    return true;
  };
  forStamps(block, offset, bytes, check);
}
