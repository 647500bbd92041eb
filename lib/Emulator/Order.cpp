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

/// A stamp is the warp's index plus 1 and its time. A time that no longer fits
/// stays at the largest one: hazards may be missed then, none is invented.
static constexpr uint32_t kTimeBits = 22;
static constexpr uint32_t kLastTime = (1u << kTimeBits) - 1;

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

uint32_t mlir::moe::emulator::stampOf(const Warp &warp) {
  return (warp.index + 1) << kTimeBits | warp.knowledge.seen[warp.index];
}

static std::string warpName(const Warp &reader, const Block &block,
                          uint32_t index) {
  const Cluster &cluster = *block.cluster;
  auto warps = static_cast<uint32_t>(block.warps.size());
  if (index == reader.index)
    return "this warp";
  return "warp " + std::to_string(index % warps) +
         (cluster.blocks.size() > 1
              ? " of block " + std::to_string(index / warps) + " of the cluster"
              : "");
}

/// Calls `check(warp, time, offset)` for each stamp of a range, until it
/// returns true; stamps like the one before are left out.
template <typename Check>
static void forStamps(const Block &block, uint32_t offset, uint32_t bytes,
                      Check check) {
  if (!block.stamps.tracked() || bytes == 0)
    return;
  uint32_t last = 0;
  for (uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    uint32_t stamp = block.stamps.words[word];
    if (stamp == last)
      continue;
    last = stamp;
    if (stamp != 0 &&
        check((stamp >> kTimeBits) - 1, stamp & kLastTime, 4 * word))
      return;
  }
}

void mlir::moe::emulator::checkAsyncRead(Warp &warp, const Instruction &i,
                                         uint32_t lanes, const Block &block,
                                         uint32_t offset, uint32_t bytes,
                                         const char *what) {
  const Knowledge &known = warp.knowledge;
  forStamps(block, offset, bytes,
            [&](uint32_t writer, uint32_t time, uint32_t at) {
              bool ordered = known.seen[writer] >= time;
              if (ordered && known.fenced[writer] >= time)
                return false;
              std::string place = std::string(what) + " reads byte " +
                                  std::to_string(at - kSharedStart) +
                                  " of shared memory, which " +
                                  warpName(warp, block, writer) + " has written";
              warp.report(i,
                          ordered ? HazardKind::MissingProxyFence
                                  : HazardKind::Race,
                          lanes,
                          place + (ordered ? ", without a fence.proxy.async "
                                             "in between"
                                           : ", without a barrier in between"));
              return true;
            });
}

void mlir::moe::emulator::checkOverwritten(
    Warp &warp, const Instruction &i, uint32_t lanes, const Knowledge &issued,
    const Block &block, uint32_t offset, uint32_t bytes, const char *what) {
  forStamps(
      block, offset, bytes, [&](uint32_t writer, uint32_t time, uint32_t at) {
        if (issued.seen[writer] >= time)
          return false;
        warp.report(i, HazardKind::Race, lanes,
                    std::string(what) + " is not done with byte " +
                        std::to_string(at - kSharedStart) +
                        " of shared memory when " +
                        warpName(warp, block, writer) + " writes there");
        return true;
      });
}
