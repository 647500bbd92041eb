//===- GemmProblems.cpp - grouped GEMMs as problems of the cost model -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmProblems.h"

#include "moe/Schedule/TensorCoreSupport.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::moe;

static TokenProblem describeProblem(GroupedGemmOp op) {
  auto typeA = cast<ShapedType>(op.getA().getType());
  TokenProblem sized;
  GemmProblem &problem = sized.problem;
  problem.experts = op.getNumExperts();
  problem.columns = op.getNumColumns();
  problem.k = op.getK();
  problem.elementBytes = typeA.getElementTypeBitWidth() / 8;
  problem.gated = op.getActivation() && op.getActivation()->isGated();
  problem.block = op.getBlock() ? static_cast<int64_t>(*op.getBlock()) : 0;
  problem.simtReason = whySimt(op);
  if (problem.simtReason.empty())
    problem.wgmmaReason = whyNoWgmma(op);

  bool token = op.getRowSource() == RowSource::Token;
  if (op.getGrouping() == Grouping::Masked || typeA.isDynamicDim(0))
    sized.rowsPerToken = op.getSlots();
  else
    problem.rows = typeA.getDimSize(0) * (token ? op.getSlots() : 1);
  // k_grouped: the ragged rows are contracted.
  sized.contractsTokens = problem.k < 0;
  return sized;
}

SmallVector<GemmGroup> moe::undecidedGemms(Operation *root) {
  llvm::MapVector<std::pair<Value, Value>, GemmGroup> groups;
  root->walk([&](GroupedGemmOp op) {
    if (op.getSchedule())
      return;
    bool ids = op.getGrouping() == Grouping::Ids && op.getNumResults() != 0;
    Value key = ids                       ? op.getRows().front()
                : op.getNumResults() != 0 ? op.getResult(0)
                                          : op.getC();
    GemmGroup &group = groups[{key, op.getExpertMap()}];
    group.ops.push_back(op);
    group.problems.push_back(describeProblem(op));
  });
  return llvm::map_to_vector(groups, [](auto &entry) { return entry.second; });
}
