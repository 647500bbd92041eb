//===- RunWarp.cpp - the loop over instructions -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

using namespace mlir::moe::emulator;

/// Runs one instruction for the lanes that its guard leaves.
static void runGuarded(Warp &warp, const Instruction &instruction) {
  uint32_t before = warp.active, groups = warp.groups.size();
  uint32_t lanes = warp.guarded(instruction);
  if (lanes == 0)
    return;
  warp.active = lanes;
  instruction.run(warp, instruction);
  // Lanes that waited here have joined where the number of groups changed.
  warp.active = warp.groups.size() == groups ? before : before | warp.active;
}

template <bool Checks>
static uint64_t runLoop(Warp &warp, uint64_t turns) {
  Cluster &cluster = *warp.block->cluster;
  const Instruction *code = cluster.grid.program.instructions.data();
  auto *executed = cluster.executed.data();
  uint64_t left = turns;
  while (left != 0) {
    if (warp.pc == warp.meet) {
      warp.arrive();
      if (warp.blocked || warp.active == 0)
        break;
      continue;
    }
    uint32_t pc = warp.pc++;
    const Instruction &instruction = code[pc];
    --left;
    if (Checks && warp.poisoned)
      propagatePoison(warp, instruction);
    executed[pc].first += 1;
    executed[pc].second += countLanes(warp.active);
    if (instruction.guard.exists() && !instruction.ownGuard)
      runGuarded(warp, instruction);
    else
      instruction.run(warp, instruction);
    if (warp.blocked) {
      ++left;
      executed[pc].first -= 1;
      executed[pc].second -= countLanes(warp.active);
      // Other lanes of the warp may go on.
      bool others = false;
      for (const LaneGroup &group : warp.groups)
        others |= group.wait.kind == WaitKind::None;
      if (!others)
        break;
      warp.pick();
    }
    if (warp.live == 0 || warp.active == 0)
      break;
  }
  return turns - left;
}

uint64_t mlir::moe::emulator::runWarp(Warp &warp, uint64_t turns) {
  // A group that waits looks again; if there are several, another one does.
  if (warp.blocked || warp.active == 0) {
    warp.blocked = false;
    if (!warp.groups.empty())
      warp.pick();
  }
  return warp.block->cluster->grid.program.checks ? runLoop<true>(warp, turns)
                                                  : runLoop<false>(warp, turns);
}
