//===- Compare.h - compare arrays within a tolerance -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_COMPARE_H
#define MOE_EXECUTION_COMPARE_H

#include "moe/Execution/Array.h"

#include "llvm/ADT/BitVector.h"

namespace mlir::moe {

/// The largest relative L2 error that counts as agreement; 0 for integers.
double toleranceOf(ElementKind kind);

/// How far two arrays are apart.
struct Comparison {
  /// Empty, or why the arrays cannot be compared.
  std::string problem;
  int64_t elements = 0;
  /// Rows that took no part.
  int64_t rowsLeftOut = 0;
  /// Largest absolute difference of two finite elements.
  double maxAbs = 0;
  /// |actual - expected| / |expected| over finite elements, both norms L2;
  /// infinite where expected is 0 and actual is not.
  double relativeL2 = 0;
  /// Elements where only one is NaN, where infinities differ, or, for
  /// integers, that are not equal.
  int64_t mismatches = 0;
  double tolerance = 0;

  bool agrees() const {
    return problem.empty() && mismatches == 0 && relativeL2 <= tolerance;
  }
};

/// Compares element by element; the kinds and shapes must be the same. A NaN
/// equals a NaN at the same place. Rows, indices of the first dimension, whose
/// bit in `leftOut` is set take no part; `leftOut` may be empty.
Comparison compare(const Array &actual, const Array &expected,
                   const llvm::BitVector &leftOut = {});

} // namespace mlir::moe

#endif // MOE_EXECUTION_COMPARE_H
