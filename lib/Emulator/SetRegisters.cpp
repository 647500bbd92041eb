//===- SetRegisters.cpp - setmaxnreg -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block owns what its warps start with. setmaxnreg.dec gives registers of a
// warp back; setmaxnreg.inc waits until there are enough. Where the text does
// not say how many there are (Program::entryRegisters) only the form of the
// instruction is checked.
//
//===----------------------------------------------------------------------===//

#include "MatrixProducts.h"

using namespace mlir::moe::emulator;

static uint32_t registersOf(const Warp &warp, uint32_t atEntry) {
  uint32_t count = warp.products ? warp.products->registersOfThread : 0;
  return count ? count : atEntry;
}

/// Whether the block has registers for one more warp that wants `count`.
static bool haveRegisters(const Warp &warp, uint32_t count, uint32_t atEntry) {
  const std::vector<Warp> &warps = warp.block->warps;
  uint64_t used = count;
  for (const Warp &other : warps)
    if (&other != &warp && !other.done())
      used += registersOf(other, atEntry);
  return used <= uint64_t(atEntry) * warps.size();
}

template <bool Increases>
static void setRegisters(Warp &warp, const Instruction &i) {
  bool again = warp.wait.kind == WaitKind::Registers;
  if (!needWarpgroup(warp, i))
    return;
  auto count = static_cast<uint32_t>(i.immediate);
  uint32_t atEntry = warp.block->cluster->grid.program.entryRegisters;
  uint32_t now = registersOf(warp, atEntry);
  if (!again) {
    addStep(warp, {&i});
    if (now != 0 && (Increases ? count < now : count > now))
      warp.stop(i, HazardKind::InvalidValue, warp.active,
                std::string(Increases ? "increases" : "decreases") +
                    " the registers of a thread from " + std::to_string(now) +
                    " to " + std::to_string(count));
  }
  if (Increases && atEntry != 0 && !haveRegisters(warp, count, atEntry))
    return warp.waitFor(WaitKind::Registers);
  warp.wait = {};
  productsOf(warp).registersOfThread = count;
}

void mlir::moe::emulator::decodeSetRegisters(DecodeContext &context) {
  context.out().kind = Class::Other;
  context.out().poison = Poison::Own;
  std::string_view action = context.needOneOf({"inc", "dec"});
  context.needOneOf({"sync"});
  context.needOneOf({"aligned"});
  context.needOneOf({"u32"});
  context.needOperands(1);
  int64_t registers = context.integer(0);
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    context.fail("takes a multiple of 8 from 24 to 256");
  context.out().immediate = registers;
  context.run(action == "inc" ? setRegisters<true> : setRegisters<false>);
}
