//===- Activations.cpp - activation functions in f32 ------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mlir::moe;

/// exp(x), with x held inside [-87, 88]. The hardware's 2^x is fewer
/// instructions, but rounding x * log2(e) costs |x| units in the last place.
static Val exp32(Val x) {
  KernelBuilder &k = *x.kernel;
  // Inside these bounds 2^n is a normal f32.
  x = select(x < -87.0, -87.0, x);
  x = select(x > 88.0, 88.0, x);
  // Adding and subtracting 1.5 * 2^23 rounds to an integer.
  Val shifter = k.f32(12582912.0);
  Val rounded = k.fma(x, 1.4426950408889634, shifter) - shifter;
  // ln 2 in two parts; the high one has 8 trailing zeros.
  Val r = k.fma(rounded, -0x1.62e400p-1, x);
  r = k.fma(rounded, -0x1.7f7d1cp-20, r);
  // exp(r) - 1 = r + r^2 * (1/2! + r/3! + ... + r^5/7!), |r| < 0.347.
  Val tail = k.f32(1.0 / 5040);
  for (double c : {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5})
    tail = k.fma(tail, r, c);
  Val fraction = k.fma(r * r, tail, r);
  Val n = k.wrap(arith::FPToSIOp::create(k.b, k.i32Type(), rounded));
  Val scale =
      k.wrap(arith::BitcastOp::create(k.b, k.b.getF32Type(), (n + 127) << 23));
  return k.fma(scale, fraction, scale);
}

static Val sigmoid32(Val x) { return x.kernel->f32(1.0) / (exp32(-x) + 1.0); }

static Val tanh32(Val x) {
  KernelBuilder &k = *x.kernel;
  // 1 - 2 / (1 + exp(2x)) cancels near zero; a series takes over there.
  Val wide = k.f32(1.0) - k.f32(2.0) / (exp32(x * 2.0) + 1.0);
  Val square = x * x;
  Val series = k.f32(62.0 / 2835);
  for (double c : {-17.0 / 315, 2.0 / 15, -1.0 / 3, 1.0})
    series = k.fma(series, square, c);
  Val near = x * series;
  return select(k.abs(x) < 0.3, near, wide);
}

/// x * sigmoid(x).
static Val silu(Val x) { return x * sigmoid32(x); }

static Val gelu(Val x) {
  KernelBuilder &k = *x.kernel;
  Val cubic = k.fma(x * x * x, 0.044715, x);
  Val t = tanh32(cubic * std::sqrt(2 / M_PI));
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
    Val act = g * sigmoid32(g * activation.alphaValue());
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
    Val bounded = tanh32(gate / beta) * beta;
    Val act = bounded * sigmoid32(gate);
    return act * (tanh32(up / linear) * linear);
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
