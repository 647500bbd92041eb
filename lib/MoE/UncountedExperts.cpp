//===- UncountedExperts.cpp - combines and GEMMs of other experts -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/UncountedExperts.h"

#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::moe;

/// The GEMM by experts that computed the flat rows `y`, or null.
static GroupedGemmOp gemmOf(Value y) {
  bool sorted = false;
  while (Operation *op = y.getDefiningOp()) {
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      y = cast.getSource();
    } else if (auto unpermute = dyn_cast<UnpermuteOp>(op)) {
      y = unpermute.getRows();
      sorted = true;
    } else {
      auto gemm = dyn_cast<GroupedGemmOp>(op);
      bool byExpert =
          gemm && (gemm.getGrouping() == Grouping::Ids ||
                   gemm.getGrouping() == Grouping::Aligned ||
                   (sorted && gemm.getGrouping() != Grouping::Dense));
      return byExpert ? gemm : GroupedGemmOp();
    }
  }
  return {};
}

void moe::warnAboutUncountedExperts(Operation *root) {
  root->walk([](CombineOp op) {
    GroupedGemmOp gemm = gemmOf(op.getY());
    if (!gemm || op.getExpertMap() || op.getIdentityExperts() != 0)
      return;
    int64_t counted = op.getExperts(), computed = gemm.getNumExperts();
    if (counted == computed)
      return;
    InFlightDiagnostic warning =
        op.emitWarning("'moe.combine' op counts ")
        << counted << " experts, but y has the rows of " << computed << ": ";
    if (counted < computed)
      warning << "slots of experts " << counted << " and up are left out";
    else
      warning << "slots of experts " << computed
              << " and up read rows that the GEMM does not write";
    warning << "; write experts = " << computed << " unless that is meant";
    warning.attachNote(gemm.getLoc()) << "the GEMM is here";
  });
}
