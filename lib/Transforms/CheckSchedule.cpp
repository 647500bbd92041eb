//===- CheckSchedule.cpp - refuse schedules that the chip cannot run -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A schedule may come from the selector, from a user or from a file tuned for
// another chip. Whatever its origin, it is checked here against the chip that
// is compiled for, so that no kernel fails at launch:
//
//   grouped_gemm {schedule = <wgmma, tile = [128, 256, 64], stages = 8>}
//   error: ... stages x (a tile 16384 + b tile 32768) bytes = 393216 ...
//
// After moe-select-schedule. Never changes the IR.
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/MoEDialect.h"
#include "moe/Schedule/TensorCoreSupport.h"
#include "moe/Target/Target.h"
#include "moe/Transforms/Passes.h"

namespace mlir::moe {
#define GEN_PASS_DEF_CHECKSCHEDULEPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct CheckSchedule : moe::impl::CheckSchedulePassBase<CheckSchedule> {
  using CheckSchedulePassBase::CheckSchedulePassBase;

  void runOnOperation() override;
};
} // namespace

void CheckSchedule::runOnOperation() {
  markAllAnalysesPreserved();
  const Target *target = lookupTarget(getOperation()->getLoc(), arch);
  if (!target)
    return signalPassFailure();
  WalkResult result = getOperation()->walk([&](GroupedGemmOp op) {
    return failed(checkSchedule(op, *target)) ? WalkResult::interrupt()
                                              : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
