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

#include "GemmProblems.h"

#include "moe/MoE/FunctionAttributes.h"
#include "moe/MoE/MoEDialect.h"
#include "moe/Target/Target.h"
#include "moe/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::moe {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct SelectSchedule : moe::impl::SelectSchedulePassBase<SelectSchedule> {
  using SelectSchedulePassBase::SelectSchedulePassBase;

  void runOnOperation() override;
  /// The number of tokens to decide for in the function that holds `op`.
  int64_t tokensFor(Operation *op);
  void write(GroupedGemmOp op, const GemmProblem &problem,
             const Candidate &choice, ArrayRef<Candidate> ranked);
};
} // namespace

int64_t SelectSchedule::tokensFor(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  std::optional<TokenRange> range;
  if (function)
    range = tokenRange(function->getDiscardableAttr(kTokenRange));
  return range ? representativeTokens(*range, tokens) : tokens;
}

/// A time in microseconds with three significant digits.
static std::string micros(double time) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(time < 1000 ? "%.3g" : "%.0f", time);
  return text;
}

/// The remark of a variant names it: every variant is at one place.
static remark::RemarkOpts remarkOptions(Operation *op) {
  auto options = remark::RemarkOpts::name("schedule").category("moe-schedule");
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function || !function->hasAttr(kTokenRange))
    return options;
  return options.function(function.getName());
}

void SelectSchedule::write(GroupedGemmOp op, const GemmProblem &problem,
                           const Candidate &choice,
                           ArrayRef<Candidate> ranked) {
  op.setScheduleAttr(ScheduleAttr::get(
      &getContext(), choice.mma, Orientation::TokensM,
      {choice.rows, choice.columns, choice.k}, choice.stages, choice.warps,
      /*cluster=*/1, /*split_k=*/1));

  remark::RemarkOpts options = remarkOptions(op);
  remark::passed(op.getLoc(), options)
      << llvm::formatv("{0} for {1} rows, {2} experts, N = {3}, K = {4}: {5}; "
                       "predicted {6} us ({7} us memory, {8} us math){9}",
                       describe(choice), problem.rows, problem.experts,
                       problem.columns, problem.k, choice.reason,
                       micros(choice.micros), micros(choice.memoryMicros),
                       micros(choice.mathMicros),
                       problem.block ? "; block written by the user" : "")
             .str();
  for (const Candidate &other : ranked) {
    if (other.mma == choice.mma && other.block == choice.block)
      continue;
    remark::missed(op.getLoc(), options)
        << llvm::formatv("best rejected: {0}, predicted {1} us, {2}",
                         describe(other), micros(other.micros), other.reason)
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
  for (GemmGroup &group : undecidedGemms(getOperation())) {
    int64_t decideFor = tokensFor(group.ops.front());
    std::vector<GemmProblem> problems;
    std::vector<std::vector<Candidate>> ranked;
    for (const TokenProblem &problem : group.problems) {
      problems.push_back(problem.at(decideFor));
      ranked.push_back(rankSchedules(problems.back(), *target));
    }
    std::vector<Candidate> choices = chooseTogether(ranked);
    for (auto [i, op] : llvm::enumerate(group.ops))
      write(op, problems[i], choices[i], ranked[i]);
  }
}
