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

/// Groups of wgmma that a warp has not waited for.
struct MatrixProducts {
  /// Groups that were committed, and products since.
  uint32_t committed = 0;
  uint32_t open = 0;
  bool fenced = false;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MATRIX_PRODUCTS_H
