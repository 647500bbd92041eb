//===- CheckNesting.h - refuse text that overflows the parser -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PIPELINES_CHECKNESTING_H
#define MOE_PIPELINES_CHECKNESTING_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::moe {

/// MLIR's parser recurses for every bracket and overflows the stack at some
/// thousands. Fails after printing an error with the place in `buffer` where
/// brackets nest deeper than any program does. Bytecode passes.
LogicalResult checkNesting(const llvm::MemoryBuffer &buffer);

} // namespace mlir::moe

#endif // MOE_PIPELINES_CHECKNESTING_H
