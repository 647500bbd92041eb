//===- Matrix.h - multiply rows by a matrix -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_REFERENCE_MATRIX_H
#define MOE_LIB_REFERENCE_MATRIX_H

#include "Interpreter.h"

namespace mlir::moe::reference {

/// A matrix [K, N] as `Real`, whose columns are the dot products of a row.
template <typename Real>
class Matrix {
public:
  /// `columnMajor`: the array holds [N, K] from `start`, else [K, N].
  Matrix(const Array &array, int64_t start, int64_t depth, int64_t columns,
         bool columnMajor)
      : depth(depth), columns(columns), elements(depth * columns) {
    load(array, start, depth * columns, elements.data());
    if (columnMajor)
      transpose();
  }

  /// `sums[n] = sum_k row[k] * matrix[k, n]`, in ascending k of [begin, end).
  void multiply(const Real *row, Real *sums, int64_t begin, int64_t end) const {
    std::fill_n(sums, columns, Real(0));
    for (int64_t k = begin; k < end; ++k) {
      Real factor = row[k];
      const Real *line = elements.data() + k * columns;
      for (int64_t n = 0; n < columns; ++n)
        sums[n] += factor * line[n];
    }
  }
  /// As above, over all k.
  void multiply(const Real *row, Real *sums) const {
    multiply(row, sums, 0, depth);
  }

private:
  void transpose() {
    // A cache line of each column at a time.
    constexpr int64_t kLine = 16;
    std::vector<Real> transposed(elements.size());
    for (int64_t k0 = 0; k0 < depth; k0 += kLine)
      for (int64_t n = 0; n < columns; ++n)
        for (int64_t k = k0, end = std::min(k0 + kLine, depth); k < end; ++k)
          transposed[k * columns + n] = elements[n * depth + k];
    elements = std::move(transposed);
  }

  int64_t depth, columns;
  std::vector<Real> elements;
};

} // namespace mlir::moe::reference

#endif // MOE_LIB_REFERENCE_MATRIX_H
