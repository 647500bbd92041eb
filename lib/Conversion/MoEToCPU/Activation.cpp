//===- Activation.cpp - moe.activation and its functions -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

/// `x * sigmoid(scale * x)`.
static Value swish(Emitter &e, Value x, double scale) {
  Type type = x.getType();
  Value exponent = e.mulf(x, e.constantLike(type, -scale));
  Value one = e.constantLike(type, 1);
  Value denominator = e.addf(one, math::ExpOp::create(e, exponent).getResult());
  return e.divf(x, denominator);
}

/// 0.5 x (1 + tanh(z)) is x sigmoid(2z), which loses no digits where tanh(z)
/// is near -1.
static Value gelu(Emitter &e, Value x) {
  Type type = x.getType();
  constexpr double kTwoSqrtTwoOverPi = 1.5957691216057308;
  Value one = e.constantLike(type, 1);
  Value square = e.mulf(x, x);
  Value cubic = e.mulf(square, e.constantLike(type, 0.044715));
  Value inner = e.mulf(x, e.addf(one, cubic));
  Value exponent = e.mulf(inner, e.constantLike(type, -kTwoSqrtTwoOverPi));
  Value denominator = e.addf(one, math::ExpOp::create(e, exponent).getResult());
  return e.divf(x, denominator);
}

/// Both clamps compare so that a NaN stays.
static Value clampAbove(Emitter &e, Value x, double limit) {
  if (std::isinf(limit))
    return x;
  Value bound = e.constantLike(x.getType(), limit);
  return e.select(e.compare(arith::CmpFPredicate::OGT, x, bound), bound, x);
}
static Value clampBelow(Emitter &e, Value x, double limit) {
  if (std::isinf(limit))
    return x;
  Value bound = e.constantLike(x.getType(), limit);
  return e.select(e.compare(arith::CmpFPredicate::OLT, x, bound), bound, x);
}
static Value clampBoth(Emitter &e, Value x, double limit) {
  return clampBelow(e, clampAbove(e, x, limit), -limit);
}

/// `beta * tanh(x / beta)`.
static Value softcap(Emitter &e, Value x, double beta) {
  Value bound = e.constantLike(x.getType(), beta);
  return e.mulf(math::TanhOp::create(e, e.divf(x, bound)), bound);
}

static Value sigmoid(Emitter &e, Value x) {
  Value one = e.constantLike(x.getType(), 1);
  Value negated = e.mulf(x, e.constantLike(x.getType(), -1));
  return e.divf(one, e.addf(one, math::ExpOp::create(e, negated).getResult()));
}

Value cpu::activate(Emitter &e, ActivationAttr activation, Value gate,
                    Value up) {
  double limit = activation.limitValue();
  switch (activation.getKind()) {
  case ActivationKind::SwiGLU: {
    Value act = swish(e, clampAbove(e, gate, limit), 1);
    return e.mulf(act, clampBoth(e, up, limit));
  }
  case ActivationKind::SwiGLUOAI: {
    Value act = swish(e, clampAbove(e, gate, limit), activation.alphaValue());
    Value bounded = clampBoth(e, up, limit);
    return e.mulf(e.addf(bounded, e.constantLike(up.getType(), 1)), act);
  }
  case ActivationKind::SwiGLUStep: {
    Value act = clampAbove(e, swish(e, gate, 1), limit);
    return e.mulf(act, clampBoth(e, up, limit));
  }
  case ActivationKind::GeGLU:
    return e.mulf(gelu(e, gate), up);
  case ActivationKind::SiTU: {
    Value bounded = softcap(e, gate, activation.betaValue());
    Value act = e.mulf(bounded, sigmoid(e, gate));
    return e.mulf(act, softcap(e, up, activation.linearBetaValue()));
  }
  case ActivationKind::GELU:
    return gelu(e, gate);
  case ActivationKind::ReLU2: {
    Value positive = clampBelow(e, gate, 0);
    return e.mulf(positive, positive);
  }
  case ActivationKind::SiLU:
    return swish(e, gate, 1);
  }
  llvm_unreachable("every kind is listed");
}

Value cpu::activateColumns(Emitter &e, ActivationAttr activation, Value memref,
                           ValueRange indices, int64_t outputs, Value column,
                           int64_t width,
                           function_ref<Value(Value, Value, int64_t)> prepare) {
  auto loadAt = [&](Value first, int64_t count) {
    SmallVector<Value> at(indices);
    at.push_back(first);
    return prepare(e.loadVector(memref, at, count), first, count);
  };
  if (!activation.isGated())
    return activate(e, activation, loadAt(column, width), nullptr);
  if (activation.getLayout() == GateUpLayout::Halves) {
    Value gate = loadAt(column, width);
    Value up = loadAt(e.add(column, outputs), width);
    return activate(e, activation, gate, up);
  }
  Value both = loadAt(e.mul(column, 2), 2 * width);
  auto parts = vector::DeinterleaveOp::create(e, both);
  return activate(e, activation, parts.getRes1(), parts.getRes2());
}

void cpu::lower(Emitter &e, ActivationOp op) {
  Value h = op.getH(), a = op.getA();
  int64_t outputs = cast<MemRefType>(a.getType()).getDimSize(1);
  auto asLoaded = [](Value vector, Value, int64_t) { return vector; };
  e.loop(e.sharedDim({h, a}), [&](Value row) {
    e.columnLoop(outputs, [&](Value column, int64_t width) {
      Value result = activateColumns(e, op.getActivation(), h, {row}, outputs,
                                     column, width, asLoaded);
      e.storeVector(result, a, {row, column});
    });
  });
}
