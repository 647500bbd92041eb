//===- EmitManifest.h - the manifest of a lowered module -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_BUNDLE_EMITMANIFEST_H
#define MOE_BUNDLE_EMITMANIFEST_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::moe {

/// Prints the manifest of `module`, the result of moe-to-ptx, as JSON in the
/// format that moe/Bundle/Manifest.h describes. Emits an error at the op, and
/// prints nothing, where no manifest can say what the function does.
LogicalResult emitManifest(Operation *module, raw_ostream &os);

} // namespace mlir::moe

#endif // MOE_BUNDLE_EMITMANIFEST_H
