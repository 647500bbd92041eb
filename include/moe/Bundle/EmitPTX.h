//===- EmitPTX.h - the PTX of a lowered module -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_BUNDLE_EMITPTX_H
#define MOE_BUNDLE_EMITPTX_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::moe {

/// Prints the PTX of the gpu.binary ops in `module`, the result of moe-to-ptx,
/// each entry headed by a comment block: parameters in order, grid rule, block,
/// dynamic shared memory, schedule. Emits an error at `module` and prints
/// nothing where there is no PTX.
LogicalResult emitPTX(Operation *module, raw_ostream &os);

} // namespace mlir::moe

#endif // MOE_BUNDLE_EMITPTX_H
