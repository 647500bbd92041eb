//===- Manifest.h - what a loader needs beside the PTX ----------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// manifest.json, format version 2: which buffers a function takes, its kernels,
// and for each range of numbers of tokens the workspace, the tensor maps and
// the launches in order. Every size is an expression of the extents of the
// arguments, so that a call reads nothing back from the device.
//
//  {"version": 2, "function": "layer", "arch": "sm_90a",
//   "compiler": {"moe": "0.1.0", "llvm": "22.1.8", "ptxas": "13.0.88" | null},
//   "tokens": ["dim", 0, 0] | null,
//   "arguments": [{"type": "bf16", "shape": [SIZE, ...],
//                  "strides": [2056, 1],   // only where not row-major
//                  "alignment": 16, "result": false,
//                  "written": true,        // only where the layer does
//                  "input": {"role": "weight", "bound": EXPR}}, ...],
//   "kernels": [{"name": "layer_0_gate", "threads": 128, "shared": 0,
//                "schedule": "..."}, ...],
//   "variants": [
//     {"tokens": [1, 16] | [17, null],
//      "workspace": [{"type": "i32", "shape": [EXPR, ...]}, ...],
//      "maps": [{"buffer": 1, "type": "bf16", "shape": [EXPR, ...],
//                "strides": [EXPR, ...], "box": [64, ...], "swizzle": 128},
//               ...],
//      "launches": [{"kernel": NAME, "grid": [EXPR, EXPR, EXPR],
//                    "args": [{"buffer": N} | {"map": N} |
//                             {"scalar": EXPR, "type": "i32" | "i64"}, ...]},
//                   ...]}, ...]}
//
// EXPR is an integer, ["dim", argument, dimension], or [OP, EXPR, EXPR] with OP
// one of add, mul, floordiv, ceildiv, mod, max, min, exact in 64 bits: overflow
// is an error of the call.
//
// SIZE is the EXPR of an argument's extent. Its own ["dim", i, j] means that
// the caller is free; anything else follows from other extents and is checked
// at every call. Extents that are equal are all written as the first of them.
// The shapes of results follow in the same way, so a loader can compute them.
//
// "tokens" of the function is what the ranges of the variants count: its first
// dynamic extent; null where every extent is static. Ranges are ordered and
// disjoint, both ends included; the last may end in null, no upper end. A
// function that was not split has one variant, [0, null]. A range that starts
// at 1 takes 0 tokens too. Any other number outside every range is an error of
// the call.
//
// "written" marks an argument that is no result and that the layer writes all
// the same, in place: after a call it holds other values than before. Results
// are written without saying so.
//
// "input" tells how to make a random argument: role and bound as in
// moe/Data/RandomInputs.h; "bound" is absent where the role needs none,
// "input" where the ops do not tell.
//
// Types are f32, f16, bf16, i32, i64, i8. Strides are in elements, innermost
// last as in shape and box. "alignment" is what an argument's address has to be
// a multiple of, in bytes. Buffers count the arguments first, then the
// workspace of the variant, whose buffers lie one after the other, each from a
// multiple of 256 bytes on. Threads and dynamic shared bytes are constants of a
// kernel. A launch whose grid has a zero is left out.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_BUNDLE_MANIFEST_H
#define MOE_BUNDLE_MANIFEST_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::moe {

/// The manifest of the only function with kernel launches in `module`, all its
/// variants together. `ptxasVersion` is empty where there is no cubin. An op on
/// the host that is neither a launch nor a size computation is an error at the
/// op.
FailureOr<nlohmann::ordered_json> buildManifest(Operation *module,
                                                StringRef ptxasVersion = {});

/// Prints a manifest with one line for each argument, kernel and launch.
void printManifest(const nlohmann::ordered_json &manifest, raw_ostream &os);

} // namespace mlir::moe

#endif // MOE_BUNDLE_MANIFEST_H
