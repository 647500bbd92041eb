//===- Lowerings.h - one function per op -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function emits the loops of one op on memrefs with a contiguous last
// dimension. The op stays; the pass erases it.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOCPU_LOWERINGS_H
#define MOE_LIB_CONVERSION_MOETOCPU_LOWERINGS_H

#include "Emitter.h"

namespace mlir::moe::cpu {

void lower(Emitter &e, GateOp op);
void lower(Emitter &e, RouteOp op);
void lower(Emitter &e, AlignOp op);
void lower(Emitter &e, GroupIdsOp op);
void lower(Emitter &e, GroupedGemmOp op);
void lower(Emitter &e, ActivationOp op);
void lower(Emitter &e, CombineOp op);
void lower(Emitter &e, PermuteOp op);
void lower(Emitter &e, UnpermuteOp op);

/// The activation of f32 vectors: `gate` and `up` of a gated kind, else
/// `gate` alone.
Value activate(Emitter &e, ActivationAttr activation, Value gate, Value up);

/// Loads `gate` and `up` of the columns [column, column + width) of an output
/// row from `row`, whose indices without the last are `indices`, and returns
/// their activation. `prepare(vector, column, width)` is applied to what was
/// loaded before the activation. `outputs` is the number of output columns.
Value activateColumns(Emitter &e, ActivationAttr activation, Value memref,
                      ValueRange indices, int64_t outputs, Value column,
                      int64_t width,
                      function_ref<Value(Value, Value, int64_t)> prepare);

} // namespace mlir::moe::cpu

#endif // MOE_LIB_CONVERSION_MOETOCPU_LOWERINGS_H
