//===- Activation.cpp - activations as scalar code --------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::cta;

namespace {

constexpr double kLog2E = 1.4426950408889634;

/// f32 code with the fast exponential and reciprocal of the chip; their
/// relative error of some 2^-22 is far below the rounding of the result.
struct Math {
  OpBuilder &b;
  Location loc;

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value add(Value x, double y) { return add(x, constant(y)); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value scale(Value x, double factor) { return mul(x, constant(factor)); }
  // A NaN stays a NaN.
  Value atMost(Value x, double limit) {
    return arith::MinimumFOp::create(b, loc, x, constant(limit));
  }
  Value atLeast(Value x, double limit) {
    return arith::MaximumFOp::create(b, loc, x, constant(limit));
  }
  Value clamp(Value x, double limit) {
    return atLeast(atMost(x, limit), -limit);
  }

  /// 2^x.
  Value exp2(Value x) {
    return LLVM::Exp2Op::create(b, loc, x, LLVM::FastmathFlags::afn);
  }
  Value reciprocal(Value x) {
    return NVVM::RcpApproxFtzF32Op::create(b, loc, b.getF32Type(), x);
  }
  /// 1 / (1 + e^(-x)): 0 and 1 at the infinities.
  Value sigmoid(Value x) { return reciprocal(add(exp2(scale(x, -kLog2E)), 1)); }
  Value silu(Value x) { return mul(x, sigmoid(x)); }
  /// 2 sigmoid(2x) - 1, and near 0, where that cancels, x - x^3 / 3.
  Value tanh(Value x) {
    Value wide = add(scale(sigmoid(scale(x, 2)), 2), -1);
    Value square = mul(x, x);
    Value near = mul(x, add(scale(square, -1.0 / 3), 1));
    Value isNear = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                         square, constant(1e-3));
    return arith::SelectOp::create(b, loc, isNear, near, wide);
  }
  /// x (1 + tanh z) / 2 = x sigmoid(2z), z = sqrt(2 / pi) (x + 0.044715 x^3).
  Value gelu(Value x) {
    constexpr double kTwoSqrtTwoOverPi = 1.5957691216057308;
    Value inner = add(scale(mul(x, x), 0.044715), 1);
    return mul(x, sigmoid(scale(mul(x, inner), kTwoSqrtTwoOverPi)));
  }
};

} // namespace

Value cta::emitActivation(OpBuilder &b, Location loc,
                          const GemmActivationSpec &activation, Value gate,
                          Value up) {
  Math m{b, loc};
  auto limit = activation.limit;
  switch (activation.kind) {
  case GemmActivation::None:
    return gate;
  case GemmActivation::Silu:
    return m.silu(gate);
  case GemmActivation::Gelu:
    return m.gelu(gate);
  case GemmActivation::Relu2: {
    Value positive = m.atLeast(gate, 0);
    return m.mul(positive, positive);
  }
  case GemmActivation::SwiGLU:
    gate = limit ? m.atMost(gate, *limit) : gate;
    up = limit ? m.clamp(up, *limit) : up;
    return m.mul(m.silu(gate), up);
  case GemmActivation::SwiGLUOAI: {
    gate = limit ? m.atMost(gate, *limit) : gate;
    up = limit ? m.clamp(up, *limit) : up;
    Value glu = m.mul(gate, m.sigmoid(m.scale(gate, activation.alpha)));
    return m.mul(m.add(up, 1), glu);
  }
  case GemmActivation::SwiGLUStep: {
    Value act = m.silu(gate);
    act = limit ? m.atMost(act, *limit) : act;
    up = limit ? m.clamp(up, *limit) : up;
    return m.mul(act, up);
  }
  case GemmActivation::GeGLU:
    return m.mul(m.gelu(gate), up);
  case GemmActivation::SiTU: {
    double beta = activation.beta, linear = activation.linearBeta;
    Value bounded = m.scale(m.tanh(m.scale(gate, 1 / beta)), beta);
    Value bent = m.scale(m.tanh(m.scale(up, 1 / linear)), linear);
    return m.mul(m.mul(bounded, m.sigmoid(gate)), bent);
  }
  }
  return gate;
}
