//===- Emitter.h - loops, scalars and vectors in few words -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of one op to loops reads as the loops it makes. `Emitter` is a
// builder at the location of that op with the handful of operations they need.
//
// Whole numbers are `index` throughout: i32 elements are widened on load, so
// that -1 stays -1. Floats are f32 throughout unless a function says f64:
// bf16 and f16 elements are widened on load and rounded to nearest even on
// store.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOCPU_EMITTER_H
#define MOE_LIB_CONVERSION_MOETOCPU_EMITTER_H

#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::moe::cpu {

class Emitter : public ImplicitLocOpBuilder {
public:
  /// Emits before `op`; vectors have `lanes` f32 elements.
  Emitter(Operation *op, int64_t lanes)
      : ImplicitLocOpBuilder(op->getLoc(), op), lanes(lanes) {}

  // Constants.
  Value index(int64_t value);
  Value f32(double value);
  Value f64(double value);
  Value boolean(bool value);
  /// `value` in every lane of `type`, or the scalar itself.
  Value constantLike(Type type, double value);

  // Whole numbers. The second operand may be a constant.
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value sub(Value a, Value b);
  Value sub(Value a, int64_t b) { return sub(a, index(b)); }
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return mul(a, index(b)); }
  /// Quotient and remainder of numbers that are not negative.
  Value div(Value a, Value b);
  Value div(Value a, int64_t b) { return div(a, index(b)); }
  Value rem(Value a, Value b);
  Value min(Value a, Value b);
  Value min(Value a, int64_t b) { return min(a, index(b)); }
  Value max(Value a, Value b);
  Value max(Value a, int64_t b) { return max(a, index(b)); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b);
  /// `0 <= a < b`.
  Value isBelow(Value a, Value b);
  Value isBelow(Value a, int64_t b) { return isBelow(a, index(b)); }
  Value both(Value a, Value b);
  Value select(Value condition, Value a, Value b);

  // Floats, scalars or vectors of one type.
  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value divf(Value a, Value b);
  Value compare(arith::CmpFPredicate predicate, Value a, Value b);
  /// bf16, f16, f32 or f64 to f32 or f64, exactly or rounded once.
  Value toFloat(Value value, Type element);

  // Memory. Elements of type i32 are read and written as index.
  Value dim(Value memref, int64_t i);
  /// Extent 0 of all of `memrefs`, null ones left out. They agree where the op
  /// is used as documented; the smallest one keeps others inside their buffers.
  Value sharedDim(ValueRange memrefs);
  Value load(Value memref, ValueRange indices);
  void store(Value value, Value memref, ValueRange indices);
  /// `width` elements along the last dimension, as f32.
  Value loadVector(Value memref, ValueRange indices, int64_t width);
  /// The elements [0, count) of a full vector, zeros behind them.
  Value loadVectorPrefix(Value memref, ValueRange indices, Value count);
  /// A narrower vector, zeros behind it.
  Value padVector(Value vector);
  void storeVector(Value vector, Value memref, ValueRange indices);
  Value splat(Value scalar, int64_t width);

  // Control flow. Bodies emit at the insertion point they find.
  void loop(Value begin, Value end, int64_t step,
            function_ref<void(Value)> body);
  void loop(Value end, function_ref<void(Value)> body) {
    loop(index(0), end, 1, body);
  }
  void loop(int64_t end, function_ref<void(Value)> body) {
    loop(index(end), body);
  }
  /// A loop that carries values; the body returns the next ones.
  SmallVector<Value>
  loop(Value begin, Value end, int64_t step, ValueRange initial,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);
  SmallVector<Value>
  loop(Value end, ValueRange initial,
       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    return loop(index(0), end, 1, initial, body);
  }
  /// The loop over the columns [0, columns) in vectors: `body(column, width)`,
  /// with a narrower last vector where lanes do not divide columns.
  void columnLoop(int64_t columns, function_ref<void(Value, int64_t)> body);
  void when(Value condition, function_ref<void()> body);
  void whenElse(Value condition, function_ref<void()> thenBody,
                function_ref<void()> elseBody);
  SmallVector<Value> choose(Value condition,
                            function_ref<SmallVector<Value>()> thenBody,
                            function_ref<SmallVector<Value>()> elseBody);

  // Scratch memory of this op.
  /// An uninitialised buffer; a dynamic extent takes its size from `sizes`.
  Value scratch(ArrayRef<int64_t> shape, Type element, ValueRange sizes = {});
  /// Frees every scratch buffer. Call once, at the end.
  void freeScratch();

  /// The one rule that decides which slots exist: the local expert of `id`, or
  /// -1. `expertMap` is null where there is none.
  Value localExpert(Value id, Value expertMap, int64_t experts);

  /// Elements of a full f32 vector.
  const int64_t lanes;

private:
  SmallVector<Value> buffers;
};

} // namespace mlir::moe::cpu

#endif // MOE_LIB_CONVERSION_MOETOCPU_EMITTER_H
