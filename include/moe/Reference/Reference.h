//===- Reference.h - execute a function by the definition of its ops -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference executes a function op by op, each moe op by one plain
// function that defines it (lib/Reference/<Op>.cpp). Everything else that runs
// fast is compared with it.
//
// It executes functions of one block on tensors: the moe ops; integer, index
// and float arith and math, on scalars and elementwise on tensors;
// affine.apply, min and max; tensor.empty, dim, cast, from_elements, extract,
// extract_slice, insert_slice, collapse_shape and expand_shape; linalg.fill;
// func.call. Any other op is an error at that op. Constraints of moe ops that
// the verifier could not check on dynamic extents are checked with the extents
// of the run.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_REFERENCE_REFERENCE_H
#define MOE_REFERENCE_REFERENCE_H

#include "moe/Execution/Device.h"

#include "llvm/ADT/BitVector.h"

namespace mlir::moe {

struct ReferenceOptions {
  /// Keep bf16, f16 and fp8 intermediates in f32: only the results of the
  /// function round to their types. What comparisons use.
  bool wideIntermediates = false;
  /// Compute sums and activations in f64 instead of f32, rounded once.
  bool computeInF64 = false;
  /// Where given, bit t is set when the routing of token t by any moe.route
  /// was decided by keys that differ by less than 1e-5 relative, so that
  /// another order of sums may route it differently.
  llvm::BitVector *nearTies = nullptr;
};

/// Executes the function; fails after emitting a diagnostic at the op.
FailureOr<std::vector<Array>>
runOnReference(func::FuncOp function, ArrayRef<Array> inputs,
               const ReferenceOptions &options = {});

} // namespace mlir::moe

#endif // MOE_REFERENCE_REFERENCE_H
