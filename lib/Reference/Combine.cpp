//===- Combine.cpp - the definition of moe.combine -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

namespace {
/// Sums the slots of one token after the other.
template <typename Real>
class Combiner {
public:
  Combiner(CombineOp op, const Frame &frame, Array &out)
      : op(op), frame(frame), out(out), columns(out.dim(1)),
        slots(frame.get(op.getIds()).dim(1)), row(columns) {}

  void run() {
    std::vector<Real> sums(columns);
    for (int64_t t = 0, tokens = out.dim(0); t < tokens; ++t) {
      llvm::fill(sums, Real(0));
      for (int64_t j = 0; j < slots; ++j)
        addSlot(t, j, sums);
      finish(t, sums);
      store<Real>(sums, out, t * columns);
    }
  }

private:
  void addSlot(int64_t t, int64_t j, std::vector<Real> &sums) {
    ArrayRef<int32_t> map = frame.getInts32(op.getExpertMap());
    int64_t experts = op.getExperts();
    int64_t global = map.empty() ? experts : static_cast<int64_t>(map.size());
    int64_t r = t * slots + j, id = frame.getInts32(op.getIds())[r];
    Real weight = frame.get(op.getWeights()).floatAt(r);
    if (localExpert(id, map, experts) >= 0) {
      load(frame.get(op.getY()), r * columns, columns, row.data());
      if (!op.getWeighted())
        weight = 1;
    } else if (id >= global &&
               id < global + static_cast<int64_t>(op.getIdentityExperts())) {
      load(frame.get(op.getX()), t * columns, columns, row.data());
    } else {
      return;
    }
    for (int64_t h = 0; h < columns; ++h)
      sums[h] += weight * row[h];
  }

  void finish(int64_t t, std::vector<Real> &sums) {
    Real scale = op.getScale().convertToFloat();
    Real routedScale = op.getRoutedScale().convertToFloat();
    Real residualScale = op.getResidualScale().convertToFloat();
    if (op.getResidual())
      load(frame.get(op.getResidual()), t * columns, columns, row.data());
    for (int64_t h = 0; h < columns; ++h) {
      Real sum = routedScale * sums[h];
      if (op.getResidual())
        sum = residualScale * row[h] + sum;
      sums[h] = scale * sum;
    }
  }

  CombineOp op;
  const Frame &frame;
  Array &out;
  int64_t columns, slots;
  std::vector<Real> row;
};
} // namespace

LogicalResult reference::eval(CombineOp op, Frame &frame) {
  FailureOr<Array> out = frame.destination(op, op.getOut());
  TRY(out);
  if (frame.getOptions().computeInF64)
    Combiner<double>(op, frame, *out).run();
  else
    Combiner<float>(op, frame, *out).run();
  return frame.set(op.getResult(0), std::move(*out));
}
