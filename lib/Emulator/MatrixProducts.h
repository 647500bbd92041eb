//===- MatrixProducts.h - wgmma in flight -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_MATRIX_PRODUCTS_H
#define MOE_LIB_EMULATOR_MATRIX_PRODUCTS_H

#include "Warp.h"

namespace mlir::moe::emulator {

/// The share of one warp in a product of its warpgroup. It is computed when its
/// group is waited for: what is read or overwritten too early shows.
struct MatrixProduct {
  const Instruction *instruction;
  uint64_t a, b;
  bool accumulate;
  uint32_t group;
};

struct MatrixProducts {
  std::vector<MatrixProduct> waiting;
  uint32_t committed = 0;
};

/// Computes what the warp never waited for.
void finishMatrixProducts(Warp &warp);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MATRIX_PRODUCTS_H
