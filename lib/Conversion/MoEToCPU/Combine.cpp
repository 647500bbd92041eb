//===- Combine.cpp - moe.combine -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

namespace {
/// The loops of one op: tokens, then vectors of columns, then slots, so that
/// the sum of a vector stays in a register.
class CombineLowering {
public:
  CombineLowering(Emitter &e, CombineOp op)
      : e(e), op(op),
        slots(cast<MemRefType>(op.getIds().getType()).getDimSize(1)) {}
  void lower();

private:
  Value addSlot(Value token, Value slot, Value column, int64_t width,
                Value sum);
  Value identity(Value id, Value token, Value weight, Value column,
                 int64_t width, Value sum);
  Value scaled(Value vector, const APFloat &factor);

  Emitter &e;
  CombineOp op;
  int64_t slots;
};
} // namespace

/// `vector * factor`, without a multiplication by one.
Value CombineLowering::scaled(Value vector, const APFloat &factor) {
  if (factor.isExactlyValue(1.0))
    return vector;
  return e.mulf(vector,
                e.constantLike(vector.getType(), factor.convertToFloat()));
}

void CombineLowering::lower() {
  Value out = op.getOut();
  int64_t columns = cast<MemRefType>(out.getType()).getDimSize(1);
  Value tokens = e.sharedDim(
      {out, op.getIds(), op.getWeights(), op.getX(), op.getResidual()});
  tokens = e.min(tokens, e.div(e.dim(op.getY(), 0), slots));
  e.loop(tokens, [&](Value token) {
    e.columnLoop(columns, [&](Value column, int64_t width) {
      Value zero = e.constantLike(VectorType::get(width, e.getF32Type()), 0);
      Value sum =
          e.loop(e.index(slots), {zero},
                 [&](Value slot, ValueRange carried) -> SmallVector<Value> {
                   return {addSlot(token, slot, column, width, carried[0])};
                 })[0];
      sum = scaled(sum, op.getRoutedScale());
      if (Value residual = op.getResidual()) {
        Value kept = e.loadVector(residual, {token, column}, width);
        sum = e.addf(scaled(kept, op.getResidualScale()), sum);
      }
      e.storeVector(scaled(sum, op.getScale()), out, {token, column});
    });
  });
}

/// `sum` with the share of one slot: a row of y, an identity expert, or none.
Value CombineLowering::addSlot(Value token, Value slot, Value column,
                               int64_t width, Value sum) {
  Value id = e.load(op.getIds(), {token, slot});
  Value weight = e.load(op.getWeights(), {token, slot});
  Value local = e.localExpert(id, op.getExpertMap(), op.getExperts());
  Value exists = e.isBelow(local, op.getExperts());
  auto routed = [&]() -> SmallVector<Value> {
    Value row = e.add(e.mul(token, slots), slot);
    Value y = e.loadVector(op.getY(), {row, column}, width);
    if (op.getWeighted())
      y = e.mulf(e.splat(weight, width), y);
    return {e.addf(sum, y)};
  };
  auto other = [&]() -> SmallVector<Value> {
    if (op.getIdentityExperts() == 0)
      return {sum};
    return {identity(id, token, weight, column, width, sum)};
  };
  return e.choose(exists, routed, other)[0];
}

Value CombineLowering::identity(Value id, Value token, Value weight,
                                Value column, int64_t width, Value sum) {
  Value map = op.getExpertMap();
  Value first = map ? e.dim(map, 0) : e.index(op.getExperts());
  Value isIdentity = e.isBelow(e.sub(id, first), op.getIdentityExperts());
  return e.choose(
      isIdentity,
      [&]() -> SmallVector<Value> {
        Value x = e.loadVector(op.getX(), {token, column}, width);
        return {e.addf(sum, e.mulf(e.splat(weight, width), x))};
      },
      [&]() -> SmallVector<Value> { return {sum}; })[0];
}

void cpu::lower(Emitter &e, CombineOp op) { CombineLowering(e, op).lower(); }
