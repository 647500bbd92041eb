//===- Shuffle.cpp - values from other lanes of the warp -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Lanes.h"

using namespace mlir::moe::emulator;

uint32_t mlir::moe::emulator::gatherMembers(Warp &warp, const Instruction &i,
                                            Operand mask) {
  const auto *masks = warp.read<uint32_t>(mask);
  uint32_t members = masks[firstLane(warp.active)];
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    if (masks[lane] != members)
      warp.stop(i, HazardKind::Divergence, 1u << lane,
                "threads of one warp give different member masks");
    if (!(members >> lane & 1))
      warp.stop(i, HazardKind::Divergence, 1u << lane,
                "a thread runs this instruction that its member mask leaves "
                "out");
  }
  return warp.gather(members) ? members : 0;
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

namespace {
enum ShuffleMode : uint8_t { kUp, kDown, kButterfly, kIndex };
} // namespace

/// Where a lane reads, and whether that is inside its segment. `c` holds the
/// clamp in its low 5 bits and the segment mask above.
static std::pair<uint32_t, bool> sourceLane(uint8_t mode, uint32_t lane,
                                            uint32_t b, uint32_t c) {
  uint32_t segment = c >> 8 & 31, clamp = c & 31;
  b &= 31;
  uint32_t last = (lane & segment) | (clamp & ~segment);
  uint32_t first = lane & segment;
  uint32_t from = lane;
  bool inside = false;
  switch (mode) {
  case kUp:
    from = lane - b;
    inside = int32_t(from) >= int32_t(last);
    break;
  case kDown:
    from = lane + b;
    inside = from <= last;
    break;
  case kButterfly:
    from = lane ^ b;
    inside = from <= last;
    break;
  case kIndex:
    from = first | (b & ~segment);
    inside = from <= last;
    break;
  default:
    break;
  }
  return {inside ? from : lane, inside};
}

static void shuffle(Warp &warp, const Instruction &i) {
  if (!gatherMembers(warp, i, listOperand(warp, i, 0)))
    return;
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  uint32_t values[kLanes], from[kLanes] = {}, inside = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    auto [source, valid] = sourceLane(i.option, lane, b[lane], c[lane]);
    from[lane] = source;
    inside |= uint32_t(valid) << lane;
    values[lane] = a[source];
  }
  uint32_t absent = 0;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    absent |= (warp.active >> from[lane] & 1) ? 0 : 1u << lane;
  }
  if (absent)
    warp.report(i, HazardKind::Undefined, absent,
                "a value is read from a thread that does not run this "
                "instruction");
  if (warp.poisoned) {
    uint32_t planes[4];
    for (uint32_t byte = 0; byte < 4; ++byte) {
      uint32_t source = warp.poison(i.a)[byte], moved = 0;
      for (uint32_t lane = 0; lane < kLanes; ++lane)
        moved |= (source >> from[lane] & 1) << lane;
      planes[byte] = moved;
    }
    uint32_t *to = warp.poisonToWrite(i.d);
    for (uint32_t byte = 0; byte < 4 && i.d.exists(); ++byte)
      to[byte] = (to[byte] & ~warp.active) | (planes[byte] & warp.active);
    warp.setPoison(i.e, 0, 0);
  }
  if (i.e.exists())
    warp.setPredicate(i.e, inside);
  if (i.d.exists())
    forLanes<uint32_t>(warp, i.d, [&](uint32_t lane) { return values[lane]; });
}

static void decodeShuffle(DecodeContext &context) {
  context.needOneOf({"sync"});
  std::string_view mode = context.needOneOf({"up", "down", "bfly", "idx"});
  context.needOneOf({"b32"});
  context.needOperands(5);
  Instruction &out = context.out();
  context.d(0, 32);
  context.pairSecond(0, 1);
  context.a(1, 32);
  context.b(2, 32);
  context.c(3, 32);
  // The mask is a fifth operand: a register of the list.
  context.append(context.source(context.operand(4), 32), 2);
  out.option = mode == "up"     ? kUp
               : mode == "down" ? kDown
               : mode == "bfly" ? kButterfly
                                : kIndex;
  out.kind = Class::Shuffle;
  out.poison = Poison::Own;
  context.run(shuffle);
}

void mlir::moe::emulator::addShuffleInstructions(InstructionTable &table) {
  table.add("shfl", decodeShuffle);
}
