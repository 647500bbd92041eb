//===- Extent.cpp - an extent that may hang on a free one -------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Extent.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

std::optional<Extent> moe::add(Extent a, Extent b) {
  if (!a.isNumber() && !b.isNumber() && a.name != b.name)
    return std::nullopt;
  int64_t slope, constant;
  if (llvm::AddOverflow(a.slope, b.slope, slope) ||
      llvm::AddOverflow(a.constant, b.constant, constant))
    return std::nullopt;
  return Extent(slope, a.isNumber() ? b.name : a.name, constant);
}

std::optional<Extent> moe::subtract(Extent a, Extent b) {
  std::optional<Extent> negative = multiply(b, -1);
  return negative ? add(a, *negative) : std::nullopt;
}

std::optional<Extent> moe::multiply(Extent a, Extent b) {
  if (a.isNumber())
    std::swap(a, b);
  int64_t slope, constant;
  if (!b.isNumber() || llvm::MulOverflow(a.slope, b.constant, slope) ||
      llvm::MulOverflow(a.constant, b.constant, constant))
    return std::nullopt;
  return Extent(slope, a.name, constant);
}

std::optional<Extent> moe::divideExactly(Extent a, int64_t divisor) {
  if (divisor <= 0 || a.slope % divisor != 0 || a.constant % divisor != 0)
    return std::nullopt;
  return Extent(a.slope / divisor, a.name, a.constant / divisor);
}
