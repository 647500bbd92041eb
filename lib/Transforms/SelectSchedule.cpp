//===- SelectSchedule.cpp - choose the kernel of each grouped GEMM -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Reads the shapes of every moe.grouped_gemm without a schedule, ranks the
// kernels that can compute it (lib/Schedule) and writes the winner:
//
//   moe.grouped_gemm ... {grouping = ids}
//   -> moe.grouped_gemm ... {schedule = #moe.schedule<mma = wgmma, ...>}
//
// After moe-fuse, before moe-align-rows, which reads the block height.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreSupport.h"

#include "moe/MoE/MoEDialect.h"
#include "moe/Schedule/Schedule.h"
#include "moe/Target/Target.h"
#include "moe/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::moe {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
/// A GEMM to decide, with the kernels that can compute it, best first.
struct Pending {
  GroupedGemmOp op;
  GemmProblem problem;
  std::vector<Candidate> ranked;
};

struct SelectSchedule : moe::impl::SelectSchedulePassBase<SelectSchedule> {
  using SelectSchedulePassBase::SelectSchedulePassBase;

  void runOnOperation() override;
  GemmProblem describeProblem(GroupedGemmOp op);
  /// Decides GEMMs that share a row table, and so the height of its blocks.
  void selectTogether(MutableArrayRef<Pending> group);
  void write(Pending &pending, const Candidate &choice);
};
} // namespace

GemmProblem SelectSchedule::describeProblem(GroupedGemmOp op) {
  auto typeA = cast<ShapedType>(op.getA().getType());
  GemmProblem problem;
  problem.experts = op.getNumExperts();
  problem.columns = op.getNumColumns();
  problem.k = op.getK();
  problem.elementBytes = typeA.getElementTypeBitWidth() / 8;
  problem.gated = op.getActivation() && op.getActivation()->isGated();
  problem.block = op.getBlock() ? static_cast<int64_t>(*op.getBlock()) : 0;
  problem.simtReason = whySimt(op);

  // Dynamic row counts are replaced by what `tokens` tokens would give.
  int64_t staticRows =
      op.getGrouping() == Grouping::Masked || typeA.isDynamicDim(0)
          ? ShapedType::kDynamic
          : typeA.getDimSize(0);
  bool token = op.getRowSource() == RowSource::Token;
  if (ShapedType::isDynamic(staticRows))
    problem.rows = tokens * op.getSlots();
  else
    problem.rows = token ? staticRows * op.getSlots() : staticRows;
  if (problem.k < 0) // k_grouped: the ragged rows are contracted
    problem.k = tokens;
  return problem;
}

/// The candidate of `pending` with the family and block of `like`, or null.
static const Candidate *find(const Pending &pending, const Candidate &like) {
  for (const Candidate &candidate : pending.ranked)
    if (candidate.mma == like.mma && candidate.block == like.block)
      return &candidate;
  return nullptr;
}

void SelectSchedule::selectTogether(MutableArrayRef<Pending> group) {
  // The block with the least time over the whole group; the first GEMM's
  // ranking is the order in which ties are broken.
  const Candidate *best = nullptr;
  double bestMicros = 0;
  for (const Candidate &candidate : group.front().ranked) {
    double micros = 0;
    bool everywhere = true;
    for (const Pending &pending : group) {
      const Candidate *same = find(pending, candidate);
      everywhere &= same != nullptr;
      micros += same ? same->micros : 0;
    }
    if (everywhere && candidate.mma != Mma::Simt &&
        (!best || micros < bestMicros)) {
      best = &candidate;
      bestMicros = micros;
    }
  }
  for (Pending &pending : group) {
    const Candidate *choice = best ? find(pending, *best) : nullptr;
    write(pending, choice ? *choice : pending.ranked.front());
  }
}

void SelectSchedule::write(Pending &pending, const Candidate &choice) {
  const GemmProblem &problem = pending.problem;
  pending.op.setScheduleAttr(ScheduleAttr::get(
      &getContext(), choice.mma, Orientation::TokensM,
      {choice.rows, choice.columns, choice.k}, choice.stages, choice.warps,
      /*cluster=*/1, /*split_k=*/1));

  auto options = remark::RemarkOpts::name("schedule").category("moe-schedule");
  remark::passed(pending.op.getLoc(), options)
      << llvm::formatv("{0} for {1} rows, {2} experts, N = {3}, K = {4}: {5}; "
                       "predicted {6:F1} us ({7:F1} us memory, {8:F1} us "
                       "math){9}",
                       describe(choice), problem.rows, problem.experts,
                       problem.columns, problem.k, choice.reason, choice.micros,
                       choice.memoryMicros, choice.mathMicros,
                       problem.block ? "; block written by the user" : "")
             .str();
  for (const Candidate &other : pending.ranked) {
    if (&other == &choice)
      continue;
    remark::missed(pending.op.getLoc(), options)
        << llvm::formatv("best rejected: {0}, predicted {1:F1} us, {2}",
                         describe(other), other.micros, other.reason)
               .str();
    break;
  }
}

void SelectSchedule::runOnOperation() {
  const Target *target = lookupTarget(getOperation()->getLoc(), arch);
  if (!target)
    return signalPassFailure();
  if (tokens < 1 || tokens > std::numeric_limits<int32_t>::max()) {
    emitError(getOperation()->getLoc(), "moe-select-schedule requires tokens "
                                        "to be in [1, 2147483647], but got ")
        << static_cast<int64_t>(tokens);
    return signalPassFailure();
  }
  // GEMMs by the same ids share a row table; every other GEMM is a group of
  // its own, keyed by its result or destination.
  llvm::MapVector<std::pair<Value, Value>, SmallVector<Pending>> groups;
  getOperation()->walk([&](GroupedGemmOp op) {
    if (op.getSchedule())
      return;
    bool ids = op.getGrouping() == Grouping::Ids && op.getNumResults() != 0;
    Value key = ids                       ? op.getRows().front()
                : op.getNumResults() != 0 ? op.getResult(0)
                                          : op.getC();
    GemmProblem problem = describeProblem(op);
    std::vector<Candidate> ranked = rankSchedules(problem, *target);
    groups[{key, op.getExpertMap()}].push_back({op, problem, ranked});
  });
  for (auto &[key, group] : groups)
    selectTogether(group);
}
