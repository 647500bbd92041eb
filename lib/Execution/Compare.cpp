//===- Compare.cpp - compare arrays within a tolerance -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Compare.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::moe;

double moe::toleranceOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
  case ElementKind::F32:
    return 1e-5;
  case ElementKind::F16:
    return 2e-3;
  case ElementKind::BF16:
    return 5e-3;
  case ElementKind::F8E4M3FN:
    return 5e-2;
  case ElementKind::F8E5M2:
    return 1e-1;
  default:
    return 0;
  }
}

/// Sums of squares, from which the relative error comes.
namespace {
struct Norms {
  double difference = 0;
  double expected = 0;

  double relative() const {
    if (difference == 0)
      return 0;
    return expected == 0 ? std::numeric_limits<double>::infinity()
                         : std::sqrt(difference / expected);
  }
};
} // namespace

static void compareFloat(double actual, double expected, Comparison &result,
                         Norms &norms) {
  if (!std::isfinite(actual) || !std::isfinite(expected)) {
    bool same = std::isnan(actual) ? std::isnan(expected) : actual == expected;
    result.mismatches += !same;
    return;
  }
  double difference = std::fabs(actual - expected);
  result.maxAbs = std::max(result.maxAbs, difference);
  norms.difference += difference * difference;
  norms.expected += expected * expected;
}

Comparison moe::compare(const Array &actual, const Array &expected,
                        const llvm::BitVector &leftOut) {
  Comparison result;
  if (actual.kind() != expected.kind() || actual.shape() != expected.shape()) {
    result.problem =
        "shapes differ: " + describe(actual) + " and " + describe(expected);
    return result;
  }
  result.tolerance = toleranceOf(actual.kind());
  int64_t rows = actual.rank() == 0 ? 1 : actual.dim(0);
  int64_t columns = rows == 0 ? 0 : actual.size() / rows;
  bool isFloat = moe::isFloat(actual.kind());
  Norms norms;
  for (int64_t row = 0; row < rows; ++row) {
    if (static_cast<uint64_t>(row) < leftOut.size() && leftOut[row]) {
      ++result.rowsLeftOut;
      continue;
    }
    result.elements += columns;
    for (int64_t i = row * columns, e = i + columns; i < e; ++i) {
      if (isFloat) {
        compareFloat(actual.floatAt(i), expected.floatAt(i), result, norms);
        continue;
      }
      int64_t a = actual.intAt(i), b = expected.intAt(i);
      result.mismatches += a != b;
      result.maxAbs =
          std::max(result.maxAbs,
                   std::fabs(static_cast<double>(a) - static_cast<double>(b)));
    }
  }
  result.relativeL2 = norms.relative();
  return result;
}
