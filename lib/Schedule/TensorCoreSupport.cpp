//===- TensorCoreSupport.cpp - which GEMMs tensor cores compute -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Schedule/TensorCoreSupport.h"

#include "moe/MoE/BufferFacts.h"
#include "moe/Schedule/Schedule.h"
#include "moe/Target/Target.h"
#include "moe/Target/TensorCore.h"

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

bool moe::hasDynamicGroups(GroupedGemmOp op) {
  auto isDynamic = [](Value value) {
    auto type = cast<ShapedType>(value.getType());
    return type.isDynamicDim(0) || type.isDynamicDim(1);
  };
  return op.getGrouping() == Grouping::Masked &&
         (isDynamic(op.getA()) || isDynamic(op.getC()));
}

/// Why the grouping keeps `op` from tensor cores.
static std::string refuseGrouping(GroupedGemmOp op) {
  Grouping grouping = op.getGrouping();
  if (grouping == Grouping::KGrouped)
    return "k_grouped contracts the ragged dimension";
  bool needsTable =
      grouping != Grouping::Dense && grouping != Grouping::Aligned;
  if (needsTable && op.getNumResults() == 0)
    return "on memrefs no row table can be put in front of it";
  if (hasDynamicGroups(op))
    return "the capacity of its groups is dynamic";
  return "";
}

/// Why the memory of an operand keeps `op` from tensor cores.
static std::string refuseMemory(GroupedGemmOp op) {
  for (auto [value, name] : {std::pair<Value, const char *>{op.getA(), "a"},
                             {op.getB(), "b"},
                             {op.getBias(), "bias"},
                             {op.getC(), "c"}}) {
    if (!value)
      continue;
    BufferFacts facts = bufferFacts(value);
    auto shape = cast<ShapedType>(value.getType()).getShape();
    if (llvm::is_contained(facts.strides, ShapedType::kDynamic) &&
        !facts.isContiguous(shape))
      return std::string("the distance between rows of ") + name +
             " is known at the call only";
  }
  return "";
}

/// The operands of a GEMM whose types and grouping are taken.
static TensorCoreOperands describeOperands(GroupedGemmOp op) {
  TensorCoreOperands operands;
  operands.isNK = op.getBLayout() == BLayout::NK;
  operands.n = op.getNumColumns();
  operands.k = op.getK();
  operands.alignmentA = bufferFacts(op.getA()).rowAlignment();
  BufferFacts factsB = bufferFacts(op.getB());
  operands.alignmentB = factsB.rowAlignment();
  operands.isSliceB = factsB.isSlice;
  return operands;
}

std::string moe::whySimt(GroupedGemmOp op) {
  Type a = cast<ShapedType>(op.getA().getType()).getElementType();
  Type b = cast<ShapedType>(op.getB().getType()).getElementType();
  TensorCoreOperands types;
  types.is16Bit = !a.isF32();
  types.sameType = a == b || a.isF32();
  std::string reason = refuseOperands(types);
  if (reason.empty())
    reason = refuseGrouping(op);
  if (!reason.empty())
    return reason;
  reason = refuseOperands(describeOperands(op));
  return reason.empty() ? refuseMemory(op) : reason;
}

std::string moe::whyNoWgmma(GroupedGemmOp op) {
  return refuseWgmma(describeOperands(op));
}

//===----------------------------------------------------------------------===//
// Its schedule
//===----------------------------------------------------------------------===//

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
  if (schedule.getMma() == Mma::Wgmma)
    reason = whyNoWgmma(op);
  if (!reason.empty())
    return op.emitOpError("has a schedule with mma = wgmma, but ")
           << reason << "; use mma = mma_sync";
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
  TensorCoreTile tile;
  tile.wgmma = schedule.getMma() == Mma::Wgmma;
  tile.rows = schedule.tileRows();
  tile.columns = schedule.tileColumns();
  tile.parts = op.getActivation() && op.getActivation()->isGated() ? 2 : 1;
  tile.block = op.getBlock() ? static_cast<int64_t>(*op.getBlock()) : 0;
  std::string reason = refuseTile(tile);
  if (!reason.empty())
    return op.emitOpError(reason);
  if (schedule.tileK() != kTileK)
    return op.emitOpError("requires tiles of ")
           << kTileK << " elements of K, but got " << schedule.tileK();
  int64_t stages = schedule.getStages();
  if (stages < kMinStages || stages > kMaxStages)
    return op.emitOpError("requires ") << kMinStages << " to " << kMaxStages
                                       << " stages, but got " << stages;
  int64_t warps = warpsOf(schedule.getMma(), tile.rows);
  if (schedule.getWarps() != warps)
    return op.emitOpError("requires ")
           << warps << " warps for mma = " << stringifyMma(schedule.getMma())
           << " and tiles of " << tile.rows << " rows, but got "
           << schedule.getWarps();
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

LogicalResult moe::checkSchedule(GroupedGemmOp op, const Target &target) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule || schedule.getMma() == Mma::Simt)
    return success();
  if (failed(checkFamily(op, schedule, target)) ||
      failed(checkTile(op, schedule)))
    return failure();
  return checkSharedMemory(op, schedule, target);
}
