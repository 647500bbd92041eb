//===- Warpgroup.cpp - four warps and the shared memory they read -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProducts.h"

#include <algorithm>

using namespace mlir::moe::emulator;

static uint32_t memberOf(const Warp &warp) {
  return warp.number % kWarpsOfGroup;
}

MatrixProducts &mlir::moe::emulator::productsOf(Warp &warp) {
  if (!warp.products) {
    warp.products = std::make_unique<MatrixProducts>();
    const Program &program = warp.block->cluster->grid.program;
    if (!program.watchedOf.empty())
      warp.products->registers.resize(program.registerBytes /
                                      kSmallestRegister);
  }
  return *warp.products;
}

Warpgroup &mlir::moe::emulator::warpgroupOf(Warp &warp) {
  return productsOf(warp.block->warps[warp.number - memberOf(warp)]).warpgroup;
}

//===----------------------------------------------------------------------===//
// The same instructions
//===----------------------------------------------------------------------===//

bool mlir::moe::emulator::needWarpgroup(Warp &warp, const Instruction &i) {
  if (!warp.converge(i))
    return false;
  size_t first = warp.number - memberOf(warp);
  if (warp.active != kAllLanes ||
      first + kWarpsOfGroup > warp.block->warps.size())
    warp.stop(i, HazardKind::Divergence, warp.active,
              "runs in a warpgroup: four whole warps");
  return true;
}

/// "wgmma.fence.sync.aligned in line 7"
static std::string describe(const Warp &warp, const Instruction &i) {
  const Program &program = warp.block->cluster->grid.program;
  return program.names[&i - program.instructions.data()] + " in line " +
         std::to_string(i.line);
}

void mlir::moe::emulator::addStep(Warp &warp, const WarpgroupStep &step) {
  Warpgroup &group = warpgroupOf(warp);
  uint64_t number = group.reached[memberOf(warp)]++;
  if (number == group.before + group.steps.size())
    group.steps.push_back(step);
  const WarpgroupStep &first = group.steps[number - group.before];
  if (!(first == step)) {
    std::string text = "another warp of the warpgroup runs ";
    if (first.instruction != step.instruction)
      text += describe(warp, *first.instruction) + " at this time";
    else if (first.accumulate != step.accumulate)
      text += "it with another scale-d";
    else
      text += "it with another matrix descriptor";
    warp.stop(*step.instruction, HazardKind::Divergence, warp.active, text);
  }
  uint64_t all =
      *std::min_element(std::begin(group.reached), std::end(group.reached));
  for (; group.before < all; ++group.before)
    group.steps.pop_front();
}

bool mlir::moe::emulator::isWarpgroupHere(Warp &warp) {
  const Warpgroup &group = warpgroupOf(warp);
  uint64_t here = group.reached[memberOf(warp)];
  return std::all_of(std::begin(group.reached), std::end(group.reached),
                     [=](uint64_t reached) { return reached >= here; });
}

void mlir::moe::emulator::checkStepsAtEnd(Warp &warp) {
  size_t first = warp.number - memberOf(warp);
  std::vector<Warp> &warps = warp.block->warps;
  if (!warps[first].products || first + kWarpsOfGroup > warps.size())
    return;
  const Warpgroup &group = warps[first].products->warpgroup;
  for (uint32_t member = 0; member < kWarpsOfGroup; ++member) {
    uint64_t reached = group.reached[member];
    if (!warps[first + member].done() ||
        reached == group.before + group.steps.size())
      continue;
    const Instruction &next = *group.steps[reached - group.before].instruction;
    warp.stop(next, HazardKind::Divergence, 1,
              "warp " + std::to_string(first + member) +
                  " ends without it, and another warp of its warpgroup "
                  "runs it");
  }
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

void mlir::moe::emulator::addTileRead(Warp &warp, const Instruction &i,
                                      const TileView &tile) {
  Warpgroup &group = warpgroupOf(warp);
  auto read =
      std::find_if(group.reads.begin(), group.reads.end(),
                   [&](const TileRead &other) { return other.tile == tile; });
  if (read == group.reads.end()) {
    TileRead fresh{tile, kNever, 0, nullptr, 0, {}};
    forPieces(tile, [&](uint32_t offset, uint32_t, uint32_t) {
      fresh.low = std::min(fresh.low, offset);
      fresh.high = std::max(fresh.high, offset + kPieceBytes);
    });
    read = group.reads.insert(read, fresh);
  }
  read->product = &i;
  read->group = warp.products->committed;
  std::fill(std::begin(read->done), std::end(read->done), kNever);
  std::fill(std::begin(group.lastDone), std::end(group.lastDone), kNever);
}

void mlir::moe::emulator::finishTileReads(Warp &warp, uint32_t complete) {
  if (warp.knowledge.seen.empty())
    return;
  Warpgroup &group = warpgroupOf(warp);
  uint32_t member = memberOf(warp), last = 0;
  for (TileRead &read : group.reads) {
    uint32_t &done = read.done[member];
    if (done == kNever && read.group < complete)
      done = warp.knowledge.seen[warp.index];
    last = std::max(last, done);
  }
  group.lastDone[member] = last;
}

/// Whether the writer knows one of the times, each of another warp.
static bool knowsOne(const Warp &writer, const Block &block, size_t first,
                     const uint32_t times[kWarpsOfGroup]) {
  for (uint32_t member = 0; member < kWarpsOfGroup; ++member)
    if (writer.knowledge.seen[block.warps[first + member].index] >=
        times[member])
      return true;
  return false;
}

/// Calls `function(first warp, read)` for tiles that a writer to [low, high)
/// may not know to be read, until it returns true; whether it did.
template <typename Function>
static bool anyUnknownRead(const Warp &writer, const Block &block, uint32_t low,
                           uint32_t high, Function function) {
  if (block.cluster->grid.program.watchedOf.empty())
    return false;
  for (size_t first = 0; first + kWarpsOfGroup <= block.warps.size();
       first += kWarpsOfGroup) {
    const MatrixProducts *products = block.warps[first].products.get();
    if (!products ||
        knowsOne(writer, block, first, products->warpgroup.lastDone))
      continue;
    for (const TileRead &read : products->warpgroup.reads)
      if (read.low < high && low < read.high &&
          !knowsOne(writer, block, first, read.done) && function(first, read))
        return true;
  }
  return false;
}

bool mlir::moe::emulator::mayMeetTileReads(const Warp &writer,
                                           const Block &block, uint32_t low,
                                           uint32_t high) {
  return anyUnknownRead(writer, block, low, high,
                        [](size_t, const TileRead &) { return true; });
}

void mlir::moe::emulator::checkTileReads(Warp &writer, const Instruction &i,
                                         uint32_t lanes, const Block &block,
                                         uint32_t offset, uint32_t bytes) {
  auto check = [&](size_t first, const TileRead &read) {
    uint32_t byte = kNever;
    forPieces(read.tile, [&](uint32_t at, uint32_t, uint32_t) {
      if (at < offset + bytes && offset < at + kPieceBytes)
        byte = std::min(byte, std::max(at, offset));
    });
    if (byte == kNever)
      return false;
    bool waited = std::any_of(std::begin(read.done), std::end(read.done),
                              [](uint32_t time) { return time != kNever; });
    writer.report(i, HazardKind::Race, lanes,
                  "writes byte " + std::to_string(byte - kSharedStart) +
                      " of shared memory, which the wgmma in line " +
                      std::to_string(read.product->line) + " of warps " +
                      std::to_string(first) + " to " +
                      std::to_string(first + kWarpsOfGroup - 1) +
                      " reads, without " +
                      (waited ? "a barrier behind its wgmma.wait_group"
                              : "a wgmma.wait_group in between"));
    return true;
  };
  anyUnknownRead(writer, block, offset, offset + bytes, check);
}
