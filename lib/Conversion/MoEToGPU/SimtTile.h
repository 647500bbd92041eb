//===- SimtTile.h - one tile of a SIMT matrix product -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOGPU_SIMTTILE_H
#define MOE_LIB_CONVERSION_MOETOGPU_SIMTTILE_H

#include "Kernels.h"

namespace mlir::moe {

/// The product of `rows` x K and K x 64 elements by 256 threads: f32 fused
/// multiply-adds in ascending k within each kDepth of K, then the sums of
/// these; operands staged through shared memory. Thread t owns rows
/// `t / 16 * rowsPerThread + i` and columns `t % 16 * 4 + j`.
struct SimtTile {
  static constexpr int kThreads = 256;
  static constexpr int kColumns = 64;
  static constexpr int kDepth = 16; // elements of K in shared memory
  static constexpr int kColumnsPerThread = 4;

  /// `rows` is 16 or 32.
  SimtTile(KernelBuilder &k, int rows);

  /// Element of the left (row, k) or right (k, column) operand; called only
  /// for k inside the product. Returns f32.
  using Loader = function_ref<Val(Val first, Val second)>;

  /// The thread's sums, row by row, over k in [from, to). Every thread of the
  /// block takes part. `alongK` says that neighbours in k are neighbours
  /// in memory of the right operand, so that threads read along k.
  SmallVector<Val> multiply(Val from, Val to, Loader left, Loader right,
                            bool alongK);

  Val rowOf(int i);
  Val columnOf(int j);
  int rowsPerThread() const { return rows / 16; }

  KernelBuilder &k;
  int rows;

private:
  void stage(Val from, Val to, Loader left, Loader right, bool alongK);
  SmallVector<Val> addStaged(ArrayRef<Val> sums);

  Buffer leftTile;  // [kDepth, rows]
  Buffer rightTile; // [kDepth, kColumns]
};

} // namespace mlir::moe

#endif // MOE_LIB_CONVERSION_MOETOGPU_SIMTTILE_H
