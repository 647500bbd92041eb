//===- ApproximateVectorMath.cpp - exp and tanh in vectors -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `math.exp` of a vector would become one call of libm for each element.
// Polynomials of f32 accuracy keep activations in registers; scalars, and
// vectors of f64, keep libm.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::moe {
#define GEN_PASS_DEF_APPROXIMATEVECTORMATHPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;

namespace {
struct ApproximateVectorMath
    : public moe::impl::ApproximateVectorMathPassBase<ApproximateVectorMath> {
  void runOnOperation() override;
};
} // namespace

void ApproximateVectorMath::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (!isa<math::ExpOp, math::TanhOp>(op))
      return;
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (type && type.getElementType().isF32())
      ops.push_back(op);
  });
  RewritePatternSet patterns(&getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::ExpOp::getOperationName() ||
           name == math::TanhOp::getOperationName();
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
    signalPassFailure();
}
