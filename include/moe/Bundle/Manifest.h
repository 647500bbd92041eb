//===- Manifest.h - the launch list of a lowered function as JSON -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What a loader needs beside the PTX: which buffers a function takes, which
// workspace and tensor maps it needs, and the launches in order. Every size is
// an expression of the extents of the arguments, so that nothing is read back
// from the device.
//
//   {"version": 1, "function": "layer", "arch": "sm_90a",
//    "arguments": [{"type": "bf16", "shape": [["dim", 0, 0], 2048],
//                   "result": false}, ...],
//    "workspace": [{"type": "i32", "shape": [EXPR, ...]}, ...],
//    "maps": [{"buffer": 1, "type": "bf16", "shape": [..], "strides": [..],
//              "box": [..], "swizzle": 128}, ...],
//    "launches": [{"kernel": NAME, "grid": [EXPR, EXPR, EXPR],
//                  "block": [EXPR, EXPR, EXPR], "shared": EXPR,
//                  "args": [{"buffer": N} | {"scalar": EXPR, "type": "i32"} |
//                           {"map": N}, ...]}, ...]}
//
// Strides are in elements, the innermost last like in shape and box.
// Buffers count the arguments first, then the workspace. EXPR is an integer,
// ["dim", argument, dimension], or [OP, EXPR, EXPR] with OP one of add, mul,
// floordiv, ceildiv, mod, max, min. Integers are exact 64-bit; a grid with a
// zero is not launched.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_BUNDLE_MANIFEST_H
#define MOE_BUNDLE_MANIFEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::moe {

/// Prints the manifest of the only function with kernel launches in `module`.
/// An op on the host that is neither a launch nor a size computation is an
/// error at the op.
LogicalResult emitManifest(Operation *module, raw_ostream &os);

} // namespace mlir::moe

#endif // MOE_BUNDLE_MANIFEST_H
