//===- Math64.cpp - exp, log and tanh in f64 --------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Route scores are evaluated in f64 and rounded once to f32, so a few units in
// the last place of f64 disappear and every device finds the same ties. Each
// function is a range reduction and a polynomial whose truncation error is
// below 1e-16 of the result.
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::moe;

namespace {
/// exp(x) = 2^n * (1 + fraction) with |fraction| < 0.42.
struct ExpParts {
  Val n;        // i32
  Val fraction; // f64
};
} // namespace

static ExpParts splitExp(Val x) {
  KernelBuilder &k = *x.kernel;
  // Inside these bounds 2^n is a normal f64.
  x = select(x < -708.0, -708.0, x);
  x = select(x > 709.0, 709.0, x);
  // Adding and subtracting 1.5 * 2^52 rounds to an integer.
  Val shifter = k.f64(6755399441055744.0);
  Val rounded = k.fma(x, 1.4426950408889634, shifter) - shifter;
  // ln 2 in two parts; the high one has 21 trailing zeros.
  Val r = k.fma(rounded, -0x1.62e42fee00000p-1, x);
  r = k.fma(rounded, -0x1.a39ef35793c76p-33, r);
  // exp(r) - 1 = r + r^2 * (1/2! + r/3! + ... + r^12/14!), |r| < 0.347.
  double factorial = 87178291200.0; // 14!
  Val tail = k.f64(1 / factorial);
  for (int i = 14; i > 2; --i) {
    factorial /= i;
    tail = k.fma(tail, r, 1 / factorial);
  }
  Val fraction = k.fma(r * r, tail, r);
  Val n = k.wrap(arith::FPToSIOp::create(k.b, k.i32Type(), rounded));
  return {n, fraction};
}

/// 2^n for n in [-1022, 1023].
static Val powerOfTwo(Val n) {
  KernelBuilder &k = *n.kernel;
  Val bits = k.extend(n + 1023) << 52;
  return k.wrap(arith::BitcastOp::create(k.b, k.b.getF64Type(), bits));
}

Val moe::exp64(Val x) {
  ExpParts parts = splitExp(x);
  Val scale = powerOfTwo(parts.n);
  return x.kernel->fma(scale, parts.fraction, scale);
}

Val moe::log1p64(Val y) {
  KernelBuilder &k = *y.kernel;
  // log(1 + y) = 2 atanh(s), s = y / (2 + y) <= 1/3.
  Val s = y / (y + 2.0);
  Val square = s * s;
  Val series = k.f64(1.0 / 35);
  for (int odd = 33; odd >= 3; odd -= 2)
    series = k.fma(series, square, 1.0 / odd);
  Val doubled = s + s;
  return k.fma(doubled * square, series, doubled);
}

Val moe::tanh64(Val x) {
  KernelBuilder &k = *x.kernel;
  // tanh|x| = -m / (2 + m), m = exp(-2|x|) - 1 without cancellation.
  Val magnitude = k.abs(x);
  ExpParts parts = splitExp(magnitude * -2.0);
  Val scale = powerOfTwo(parts.n);
  Val m = k.fma(scale, parts.fraction, scale - 1.0);
  Val negative = m / (m + 2.0);
  Val positive = -negative;
  return select(x < 0.0, negative, positive);
}

Val moe::sigmoid64(Val x) {
  Val denominator = exp64(-x) + 1.0;
  return x.kernel->f64(1) / denominator;
}

Val moe::sqrtSoftplus64(Val x) {
  KernelBuilder &k = *x.kernel;
  // log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
  Val linear = max(x, 0.0);
  return k.sqrt(linear + log1p64(exp64(-k.abs(x))));
}
