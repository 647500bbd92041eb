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

#include "TensorCoreSupport.h"

#include "moe/MoE/MoEDialect.h"
#include "moe/Schedule/Schedule.h"
#include "moe/Target/Target.h"
#include "moe/Transforms/Passes.h"

namespace mlir::moe {
#define GEN_PASS_DEF_CHECKSCHEDULEPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

/// Most columns of b in a tile.
constexpr int64_t kMaxColumns = 256;
/// A ring needs two stages to overlap loads with MMAs; more than 16 never help.
constexpr int64_t kMinStages = 2, kMaxStages = 16;
/// The tensor-core kernels step along K by one 128-byte line of 16-bit values.
constexpr int64_t kTileK = 64;

static LogicalResult checkFamily(GroupedGemmOp op, ScheduleAttr schedule,
                                 const Target &target) {
  StringRef mma = stringifyMma(schedule.getMma());
  bool exists =
      schedule.getMma() == Mma::Wgmma ? target.hasWgmma : target.hasMmaBF16;
  if (!exists)
    return op.emitOpError("has a schedule with mma = ")
           << mma << ", which " << target.arch
           << " does not have; use mma = mma_sync or compile for sm_90a";
  std::string reason = whySimt(op);
  if (!reason.empty())
    return op.emitOpError("has a schedule with mma = ")
           << mma << ", but " << reason << "; use mma = simt";
  if (schedule.getOrientation() != Orientation::TokensM)
    return op.emitOpError("has a schedule with orientation = weights_m, which "
                          "no kernel computes; use tokens_m");
  if (schedule.getCluster() != 1 || schedule.getSplitK() != 1)
    return op.emitOpError("has a schedule with cluster = ")
           << schedule.getCluster() << " and split_k = " << schedule.getSplitK()
           << ", but no kernel computes tiles in clusters or splits K; use 1";
  return success();
}

static LogicalResult checkTile(GroupedGemmOp op, ScheduleAttr schedule) {
  bool wgmma = schedule.getMma() == Mma::Wgmma;
  int64_t rows = schedule.tileRows(), columns = schedule.tileColumns();
  bool legalRows = wgmma ? rows == 64 || rows == 128 : rows == 16 || rows == 32;
  if (!legalRows)
    return op.emitOpError("requires tiles of ")
           << (wgmma ? "64 or 128" : "16 or 32")
           << " rows for mma = " << stringifyMma(schedule.getMma())
           << ", but got " << rows;
  // Four warps share the columns of c 16 by 16; a wgmma has them in eights. A
  // gated activation needs as many columns of b for gate as for up.
  int64_t parts = op.getActivation() && op.getActivation()->isGated() ? 2 : 1;
  int64_t step = (wgmma ? 8 : 64) * parts;
  if (columns < step || columns > kMaxColumns || columns % step != 0)
    return op.emitOpError("requires tiles of ")
           << step << " to " << kMaxColumns << " columns in steps of " << step
           << " for mma = " << stringifyMma(schedule.getMma())
           << (parts == 2 ? " with a gated activation" : "") << ", but got "
           << columns;
  if (schedule.tileK() != kTileK)
    return op.emitOpError("requires tiles of ")
           << kTileK << " elements of K, but got " << schedule.tileK();
  int64_t stages = schedule.getStages();
  if (stages < kMinStages || stages > kMaxStages)
    return op.emitOpError("requires ") << kMinStages << " to " << kMaxStages
                                       << " stages, but got " << stages;
  int64_t warps = warpsOf(schedule.getMma(), rows);
  if (schedule.getWarps() != warps)
    return op.emitOpError("requires ")
           << warps << " warps for mma = " << stringifyMma(schedule.getMma())
           << " and tiles of " << rows << " rows, but got "
           << schedule.getWarps();
  int64_t block = op.getBlock() ? static_cast<int64_t>(*op.getBlock()) : rows;
  if (block % rows != 0 && (block >= 16 || rows != 16))
    return op.emitOpError("requires its blocks of ")
           << block << " rows to be made of whole tiles, but got tiles of "
           << rows << " rows; write "
           << (block >= 64 && wgmma ? "a tile of 64 rows"
               : block >= 32        ? "mma = mma_sync and a tile of 32 rows"
                                    : "mma = mma_sync and a tile of 16 rows");
  return success();
}

static LogicalResult checkSharedMemory(GroupedGemmOp op, ScheduleAttr schedule,
                                       const Target &target) {
  int64_t elementBytes =
      cast<ShapedType>(op.getB().getType()).getElementTypeBitWidth() / 8;
  int64_t stages = schedule.getStages();
  SharedPlan plan =
      planShared(schedule.getMma(), schedule.tileRows(), schedule.tileColumns(),
                 schedule.tileK(), stages, elementBytes);
  if (plan.total(stages) <= target.sharedPerBlock)
    return success();
  InFlightDiagnostic diag = op.emitOpError("needs ");
  diag << plan.total(stages) << " bytes of shared memory: " << stages
       << " stages of a tile of a (" << plan.tileA
       << " bytes) and a tile of b (" << plan.tileB << " bytes)";
  if (plan.staging)
    diag << ", barriers (" << plan.barriers << " bytes) and staging ("
         << plan.staging << " bytes)";
  diag << "; " << target.arch << " has " << target.sharedPerBlock
       << " per block; ";
  for (int64_t fewer = stages - 1; fewer >= kMinStages; --fewer)
    if (plan.total(fewer) <= target.sharedPerBlock)
      return diag << fewer << " stages fit";
  return diag << "use a tile of fewer columns";
}

namespace {
struct CheckSchedule : moe::impl::CheckSchedulePassBase<CheckSchedule> {
  using CheckSchedulePassBase::CheckSchedulePassBase;

  void runOnOperation() override;
};
} // namespace

static LogicalResult check(GroupedGemmOp op, const Target &target) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule || schedule.getMma() == Mma::Simt)
    return success();
  if (failed(checkFamily(op, schedule, target)) ||
      failed(checkTile(op, schedule)))
    return failure();
  return checkSharedMemory(op, schedule, target);
}

void CheckSchedule::runOnOperation() {
  markAllAnalysesPreserved();
  const Target *target = lookupTarget(getOperation()->getLoc(), arch);
  if (!target)
    return signalPassFailure();
  WalkResult result = getOperation()->walk([&](GroupedGemmOp op) {
    return failed(check(op, *target)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
