//===- Activations.cpp - activation functions in f32 ------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <cmath>

using namespace mlir;
using namespace mlir::moe;

/// exp(x) by the hardware's 2^x.
static Val fastExp(Val x) {
  KernelBuilder &k = *x.kernel;
  Val scaled = x * 1.4426950408889634;
  auto flags =
      LLVM::FastmathFlagsAttr::get(k.b.getContext(), LLVM::FastmathFlags::afn);
  return k.wrap(LLVM::Exp2Op::create(k.b, x.type(), scaled, flags));
}

static Val fastReciprocal(Val x) {
  KernelBuilder &k = *x.kernel;
  return k.wrap(NVVM::RcpApproxFtzF32Op::create(k.b, x.type(), x));
}

Val moe::fastSigmoid(Val x) { return fastReciprocal(fastExp(-x) + 1.0); }

Val moe::fastTanh(Val x) {
  KernelBuilder &k = *x.kernel;
  // 1 - 2 / (1 + exp(2x)) cancels near zero; a series takes over there.
  Val wide = k.fma(fastReciprocal(fastExp(x * 2.0) + 1.0), -2, 1);
  Val square = x * x;
  Val series = k.f32(62.0 / 2835);
  for (double c : {-17.0 / 315, 2.0 / 15, -1.0 / 3, 1.0})
    series = k.fma(series, square, c);
  Val near = x * series;
  return select(k.abs(x) < 0.3, near, wide);
}

/// x * sigmoid(x).
static Val silu(Val x) { return x * fastSigmoid(x); }

static Val gelu(Val x) {
  KernelBuilder &k = *x.kernel;
  Val cubic = k.fma(x * x * x, 0.044715, x);
  Val t = fastTanh(cubic * std::sqrt(2 / M_PI));
  Val half = x * 0.5;
  return half * (t + 1.0);
}

/// min(x, limit), NaN stays.
static Val clampAbove(Val x, double limit) {
  return std::isinf(limit) ? x : select(x > limit, limit, x);
}
static Val clampBelow(Val x, double limit) {
  return std::isinf(limit) ? x : select(x < limit, limit, x);
}
static Val clampBoth(Val x, double limit) {
  return clampBelow(clampAbove(x, limit), -limit);
}

Val moe::activate(ActivationAttr activation, Val gate, Val up) {
  double limit = activation.limitValue();
  switch (activation.getKind()) {
  case ActivationKind::SwiGLU: {
    Val act = silu(clampAbove(gate, limit));
    return act * clampBoth(up, limit);
  }
  case ActivationKind::SwiGLUOAI: {
    Val g = clampAbove(gate, limit);
    Val act = g * fastSigmoid(g * activation.alphaValue());
    return (clampBoth(up, limit) + 1.0) * act;
  }
  case ActivationKind::SwiGLUStep: {
    Val act = clampAbove(silu(gate), limit);
    return act * clampBoth(up, limit);
  }
  case ActivationKind::GeGLU:
    return gelu(gate) * up;
  case ActivationKind::SiTU: {
    double beta = activation.betaValue();
    double linear = activation.linearBetaValue();
    Val bounded = fastTanh(gate / beta) * beta;
    Val act = bounded * fastSigmoid(gate);
    return act * (fastTanh(up / linear) * linear);
  }
  case ActivationKind::GELU:
    return gelu(gate);
  case ActivationKind::ReLU2: {
    Val positive = select(gate < 0.0, 0.0, gate);
    return positive * positive;
  }
  case ActivationKind::SiLU:
    return silu(gate);
  }
  llvm_unreachable("all kinds are handled above");
}
