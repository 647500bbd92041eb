//===- Control.cpp - branches and the end of threads -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace mlir::moe::emulator;

static void jump(Warp &warp, const Instruction &i) { warp.pc = i.target; }

static void branch(Warp &warp, const Instruction &i) {
  uint32_t taken = warp.guarded(i);
  if (taken == warp.active)
    warp.pc = i.target;
  else if (taken != 0)
    warp.diverge(taken, i);
}

static void endThreads(Warp &warp, const Instruction &i) {
  if (uint32_t lanes = warp.guarded(i))
    warp.exit(lanes);
}

static void trap(Warp &warp, const Instruction &i) {
  warp.stop(i, HazardKind::Trap, warp.active, "the kernel trapped");
}

static void sleep(Warp &warp, const Instruction &) {
  // Time passes when other warps run.
  if (warp.wait.kind == WaitKind::Yield)
    warp.wait = {};
  else
    warp.waitFor(WaitKind::Yield);
}

static void decodeBranch(DecodeContext &context) {
  context.take("uni");
  context.needOperands(1);
  Instruction &out = context.out();
  out.target = context.label(0);
  out.ownGuard = true;
  out.kind = Class::Control;
  out.poison = Poison::Own;
  out.ends = !out.guard.exists();
  context.run(out.ends ? jump : branch);
}

static void decodeEnd(DecodeContext &context) {
  context.take("uni");
  context.needOperands(0);
  context.out().ends = true;
  context.out().ownGuard = true;
  context.out().poison = Poison::Own;
  context.out().kind = Class::Control;
  context.run(endThreads);
}

static void decodeTrap(DecodeContext &context) {
  context.needOperands(0);
  context.out().kind = Class::Control;
  context.out().poison = Poison::Own;
  context.run(trap);
}

static void decodeSleep(DecodeContext &context) {
  context.take("u32");
  context.needOperands(1);
  context.a(0, 32);
  context.out().kind = Class::Control;
  context.out().poison = Poison::Own;
  context.run(sleep);
}

void mlir::moe::emulator::addControlInstructions(InstructionTable &table) {
  table.add("bra", decodeBranch);
  table.add("ret", decodeEnd);
  table.add("exit", decodeEnd);
  table.add("trap", decodeTrap);
  table.add("nanosleep", decodeSleep);
}
