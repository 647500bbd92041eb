//===- Gate.cpp - the definition of moe.gate -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

template <typename Real>
static void gate(const Array &x, const Array &weight, ArrayRef<float> bias,
                 Array &logits) {
  int64_t tokens = x.dim(0), hidden = x.dim(1), experts = weight.dim(0);
  Matrix<Real> matrix(weight, 0, hidden, experts, /*columnMajor=*/true);
  std::vector<Real> row(hidden), sums(experts);
  for (int64_t t = 0; t < tokens; ++t) {
    load(x, t * hidden, hidden, row.data());
    matrix.multiply(row.data(), sums.data());
    if (!bias.empty())
      for (int64_t e = 0; e < experts; ++e)
        sums[e] += bias[e];
    store<Real>(sums, logits, t * experts);
  }
}

LogicalResult reference::eval(GateOp op, Frame &frame) {
  FailureOr<Array> logits = frame.destination(op, op.getLogits());
  TRY(logits);
  auto run = frame.getOptions().computeInF64 ? gate<double> : gate<float>;
  run(frame.get(op.getX()), frame.get(op.getWeight()),
      frame.getFloats(op.getBias()), *logits);
  return frame.set(op.getResult(0), std::move(*logits));
}
