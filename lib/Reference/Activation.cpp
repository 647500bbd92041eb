//===- Activation.cpp - the definition of moe.activation -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activation.h"
#include "Interpreter.h"

#include <cmath>

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

namespace {
/// The functions of #moe.activation with the parameters of one attribute.
template <typename Real>
struct Functions {
  Real limit, alpha, beta, linearBeta;

  explicit Functions(ActivationAttr activation)
      : limit(activation.limitValue()), alpha(activation.alphaValue()),
        beta(activation.betaValue()), linearBeta(activation.linearBetaValue()) {
  }

  // A NaN fails the comparison and stays.
  Real atMostLimit(Real x) const { return x > limit ? limit : x; }
  Real clamp(Real x) const { return x < -limit ? -limit : atMostLimit(x); }

  static Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
  static Real silu(Real x) { return x / (1 + std::exp(-x)); }
  static Real gelu(Real x) {
    constexpr Real kSqrtTwoOverPi = 0.79788456080286535588;
    Real inner = kSqrtTwoOverPi * (x + Real(0.044715) * x * x * x);
    return Real(0.5) * x * (1 + std::tanh(inner));
  }
  static Real relu2(Real x) { return x < 0 ? 0 : x * x; }

  Real gated(ActivationKind kind, Real g, Real u) const {
    switch (kind) {
    case ActivationKind::SwiGLU:
      return silu(atMostLimit(g)) * clamp(u);
    case ActivationKind::SwiGLUOAI: {
      Real limited = atMostLimit(g);
      return (clamp(u) + 1) * limited * sigmoid(alpha * limited);
    }
    case ActivationKind::SwiGLUStep:
      return atMostLimit(silu(g)) * clamp(u);
    case ActivationKind::GeGLU:
      return gelu(g) * u;
    default: // SiTU
      return beta * std::tanh(g / beta) * sigmoid(g) * linearBeta *
             std::tanh(u / linearBeta);
    }
  }

  Real plain(ActivationKind kind, Real x) const {
    switch (kind) {
    case ActivationKind::GELU:
      return gelu(x);
    case ActivationKind::ReLU2:
      return relu2(x);
    default: // SiLU
      return silu(x);
    }
  }
};
} // namespace

template <typename Real>
void reference::activateRow(ActivationAttr activation, ArrayRef<Real> h,
                            MutableArrayRef<Real> a) {
  Functions<Real> functions(activation);
  ActivationKind kind = activation.getKind();
  bool halves = activation.getLayout() == GateUpLayout::Halves;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!activation.isGated())
      a[i] = functions.plain(kind, h[i]);
    else if (halves)
      a[i] = functions.gated(kind, h[i], h[a.size() + i]);
    else
      a[i] = functions.gated(kind, h[2 * i], h[2 * i + 1]);
  }
}

template void reference::activateRow(ActivationAttr, ArrayRef<float>,
                                     MutableArrayRef<float>);
template void reference::activateRow(ActivationAttr, ArrayRef<double>,
                                     MutableArrayRef<double>);

template <typename Real>
static void activate(ActivationAttr activation, const Array &h, Array &a) {
  std::vector<Real> source(h.dim(1)), target(a.dim(1));
  for (int64_t r = 0, rows = h.dim(0); r < rows; ++r) {
    load(h, r * h.dim(1), h.dim(1), source.data());
    activateRow<Real>(activation, source, target);
    store<Real>(target, a, r * a.dim(1));
  }
}

LogicalResult reference::eval(ActivationOp op, Frame &frame) {
  FailureOr<Array> a = frame.destination(op, op.getA());
  TRY(a);
  auto run =
      frame.getOptions().computeInF64 ? activate<double> : activate<float>;
  run(op.getActivation(), frame.get(op.getH()), *a);
  return frame.set(op.getResult(0), std::move(*a));
}
