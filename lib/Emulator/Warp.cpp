//===- Warp.cpp - divergence, waiting and reports of a warp -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Warp.h"

#include "AsyncCopy.h"
#include "Block.h"
#include "MatrixProducts.h"

#include <cstring>

using namespace mlir::moe::emulator;

Warp::Warp() = default;
Warp::Warp(Warp &&) noexcept = default;
Warp::~Warp() = default;

//===----------------------------------------------------------------------===//
// Undefined bytes
//===----------------------------------------------------------------------===//

uint32_t Warp::poisonedLanes(Operand operand, uint32_t bytes) const {
  if (!operand.exists())
    return 0;
  const uint32_t *planes = poison(operand);
  uint32_t lanes = planes[0];
  for (uint32_t i = 1; i < bytes; ++i)
    lanes |= planes[i];
  return lanes;
}

void Warp::setPoison(Operand operand, uint32_t bytes, uint32_t lanes) {
  if (!operand.exists())
    return;
  uint32_t *planes = poisonToWrite(operand);
  for (uint32_t i = 0; i < (bytes ? bytes : 1); ++i)
    planes[i] = (planes[i] & ~active) | (lanes & active);
}

//===----------------------------------------------------------------------===//
// Groups and regions
//===----------------------------------------------------------------------===//

void Warp::diverge(uint32_t taken, const Instruction &branch) {
  uint32_t rest = active & ~taken;
  bool inside = region >= 0 && regions[region].end == branch.meet;
  if (branch.meet != kNoPc && !inside) {
    // Regions that are over are reused from the top.
    while (!regions.empty() && regions.back().members == 0)
      regions.pop_back();
    regions.push_back({branch.meet, active, 0, region});
    region = static_cast<int32_t>(regions.size() - 1);
    meet = branch.meet;
  }
  if (branch.target == meet) {
    regions[region].arrived |= taken;
    active = rest;
  } else if (pc == meet) {
    regions[region].arrived |= rest;
    active = taken;
    pc = branch.target;
  } else {
    groups.push_back({branch.target, taken, region, {}});
    active = rest;
  }
}

void Warp::arrive() {
  while (pc == meet) {
    Region &here = regions[region];
    here.arrived |= active;
    if (here.arrived != here.members) {
      active = 0;
      pick();
      return;
    }
    active = here.arrived;
    region = here.parent;
    here.members = 0;
    meet = region >= 0 ? regions[region].end : kNoPc;
  }
}

/// Lanes have ended: regions no longer wait for them.
void Warp::finish(int32_t from, uint32_t lanes) {
  for (int32_t r = from; r >= 0;) {
    Region &here = regions[r];
    here.members &= ~lanes;
    int32_t parent = here.parent;
    if (here.members != 0 && here.arrived == here.members) {
      groups.push_back({here.end, here.arrived, parent, {}});
      here.members = 0;
      // It may be where the enclosing region ends as well; that is seen when
      // the group runs.
    }
    r = parent;
  }
}

void Warp::exit(uint32_t lanes) {
  live &= ~lanes;
  active &= ~lanes;
  finish(region, lanes);
  if (active == 0 && live != 0)
    pick();
}

void Warp::waitFor(WaitKind kind, uint64_t what, uint64_t generation) {
  --pc;
  wait = {kind, what, generation};
  blocked = true;
}

void Warp::resume(size_t index) {
  LaneGroup group = groups[index];
  groups.erase(groups.begin() + static_cast<ptrdiff_t>(index));
  if (active != 0)
    groups.push_back({pc, active, region, wait});
  pc = group.pc;
  active = group.lanes;
  region = group.region;
  wait = group.wait;
  meet = region >= 0 ? regions[region].end : kNoPc;
  blocked = false;
}

bool Warp::pick() {
  if (groups.empty())
    return false;
  // The newest group that need not wait: depth first, as a stack would.
  for (size_t i = groups.size(); i-- > 0;) {
    if (groups[i].wait.kind == WaitKind::None) {
      resume(i);
      return true;
    }
  }
  // All wait: each gets its turn to look again.
  resume(0);
  return true;
}

bool Warp::gather(uint32_t lanes) {
  lanes &= live;
  if ((lanes & ~active) == 0) {
    wait = {};
    return true;
  }
  // Groups that wait at this very instruction join.
  for (size_t i = groups.size(); i-- > 0;) {
    const LaneGroup &other = groups[i];
    if (other.wait.kind != WaitKind::Lanes || other.pc != pc - 1 ||
        other.region != region)
      continue;
    active |= other.lanes;
    groups.erase(groups.begin() + static_cast<ptrdiff_t>(i));
  }
  if ((lanes & ~active) == 0) {
    wait = {};
    return true;
  }
  waitFor(WaitKind::Lanes, lanes);
  return false;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void Warp::report(const Instruction &instruction, HazardKind kind,
                  uint32_t lanes, const std::string &text) {
  const Grid &grid = block->cluster->grid;
  const Program &program = grid.program;
  size_t index = &instruction - program.instructions.data();
  Hazard hazard;
  hazard.kind = kind;
  hazard.kernel = program.entry;
  hazard.line = instruction.line;
  hazard.instruction = program.names[index];
  hazard.location = program.locations[index];
  std::memcpy(hazard.block, block->id, sizeof(hazard.block));
  uint32_t thread = number * kLanes + (lanes ? firstLane(lanes) : 0);
  hazard.thread[0] = thread % grid.block[0];
  hazard.thread[1] = thread / grid.block[0] % grid.block[1];
  hazard.thread[2] = thread / grid.block[0] / grid.block[1];
  hazard.message = text;
  block->cluster->grid.hazards.add(std::move(hazard));
}

void Warp::stop(const Instruction &instruction, HazardKind kind, uint32_t lanes,
                const std::string &text) {
  report(instruction, kind, lanes, text);
  throw StopBlock();
}

void Warp::reportUndefined(const Instruction &instruction, uint32_t lanes,
                           const char *what) {
  report(instruction, HazardKind::Undefined, lanes,
         std::string("undefined data becomes ") + what);
}

bool Warp::converge(const Instruction &instruction) {
  if (!gather(started))
    return false;
  if (active != started)
    stop(instruction, HazardKind::Divergence, active,
         "threads of the warp have ended before an instruction that all of "
         "them have to run");
  return true;
}
