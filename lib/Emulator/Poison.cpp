//===- Poison.cpp - undefined bytes on their way through registers -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Lanes.h"

#include <algorithm>

using namespace mlir::moe::emulator;

static void propagateMix(Warp &warp, const Instruction &i) {
  uint32_t lanes = warp.poisonedLanes(i.a, i.widths[2]) |
                   warp.poisonedLanes(i.b, i.widths[3]) |
                   warp.poisonedLanes(i.c, i.widths[4]);
  warp.setPoison(i.d, i.widths[0], lanes);
  warp.setPoison(i.e, i.widths[1], lanes);
}

void mlir::moe::emulator::mixPoison(Warp &warp, const Instruction &i,
                                    uint32_t bytes) {
  if (!warp.poisoned)
    return;
  uint32_t lanes = 0;
  for (uint32_t k = 0; k < i.count; ++k)
    lanes |= warp.poisonedLanes(listOperand(warp, i, k), bytes);
  lanes |= warp.poisonedLanes(i.a, i.widths[2]) |
           warp.poisonedLanes(i.b, i.widths[3]) |
           warp.poisonedLanes(i.c, i.widths[4]);
  warp.setPoison(i.d, i.widths[0], lanes);
  warp.setPoison(i.e, i.widths[1], lanes);
}

static void propagateBytes(Warp &warp, const Instruction &i) {
  uint32_t *to = warp.poisonToWrite(i.d);
  for (uint32_t byte = 0; byte < std::max<uint32_t>(i.widths[0], 1); ++byte) {
    uint32_t lanes = 0;
    for (Operand source : {i.a, i.b, i.c})
      if (source.exists())
        lanes |= warp.poison(source)[byte];
    to[byte] = (to[byte] & ~warp.active) | (lanes & warp.active);
  }
}

static void propagateSelect(Warp &warp, const Instruction &i) {
  uint32_t choice = warp.predicate(i.c), unknown = warp.poison(i.c)[0];
  const uint32_t *a = warp.poison(i.a), *b = warp.poison(i.b);
  uint32_t *to = warp.poisonToWrite(i.d);
  for (uint32_t byte = 0; byte < std::max<uint32_t>(i.widths[0], 1); ++byte) {
    uint32_t lanes = (a[byte] & choice) | (b[byte] & ~choice) | unknown;
    to[byte] = (to[byte] & ~warp.active) | (lanes & warp.active);
  }
}

void mlir::moe::emulator::propagatePoison(Warp &warp, const Instruction &i) {
  uint32_t active = warp.active;
  if (i.guard.exists()) {
    uint32_t unknown = warp.poison(i.guard)[0] & active;
    if (unknown)
      warp.reportUndefined(i, unknown, "the condition of an instruction");
    warp.active = warp.guarded(i);
  }
  switch (i.poison) {
  case Poison::Own:
    break;
  case Poison::Mix:
    propagateMix(warp, i);
    break;
  case Poison::Bytes:
    propagateBytes(warp, i);
    break;
  case Poison::Select:
    propagateSelect(warp, i);
    break;
  }
  warp.active = active;
}
