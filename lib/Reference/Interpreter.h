//===- Interpreter.h - what the definitions of the ops work with -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_REFERENCE_INTERPRETER_H
#define MOE_LIB_REFERENCE_INTERPRETER_H

#include "moe/MoE/MoEDialect.h"
#include "moe/Reference/Reference.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace mlir::moe::reference {

/// Returns failure once a step failed.
#define TRY(step)                                                              \
  if (failed(step))                                                            \
  return failure()

/// The values of one call of a function. A scalar is an array of rank 0.
///
/// A float tensor may be stored in a wider kind than its type says; see
/// ReferenceOptions::wideIntermediates.
class Frame {
public:
  explicit Frame(const ReferenceOptions &options) : options(options) {}

  const ReferenceOptions &getOptions() const { return options; }
  /// Number of calls around this one.

  const Array &get(Value value) const { return *values.find(value)->second; }
  std::shared_ptr<const Array> share(Value value) const {
    return values.find(value)->second;
  }
  int64_t getInt(Value scalar) const { return get(scalar).intAt(0); }
  /// Integers of any width, such as index operands of an op.
  SmallVector<int64_t> getInts(ValueRange scalars) const;
  /// The elements of an i32 tensor; empty for an absent operand.
  ArrayRef<int32_t> getInts32(Value tensor) const {
    return tensor ? get(tensor).as<int32_t>() : ArrayRef<int32_t>();
  }
  /// The elements of a float tensor of f32 or narrower, as f32; empty for an
  /// absent operand.
  std::vector<float> getFloats(Value tensor) const;

  /// Gives `result` its value. Emits an error where the extents disagree with
  /// its type.
  LogicalResult set(Value result, std::shared_ptr<const Array> array);
  LogicalResult set(Value result, Array array) {
    return set(result, std::make_shared<const Array>(std::move(array)));
  }

  /// The kind in which elements of `type` are stored in this run.
  ElementKind storedKind(Type type) const;

  /// A new array for a value of `type`, marked as unwritten. Emits an error at
  /// `op` where there is no memory for it.
  FailureOr<Array> create(Operation *op, Type elementType,
                          ArrayRef<int64_t> shape) const;
  /// A copy of the destination `init`, to be written and set as a result:
  /// elements that are not written keep the value of the destination.
  FailureOr<Array> destination(Operation *op, Value init) const;

private:
  const ReferenceOptions &options;
  DenseMap<Value, std::shared_ptr<const Array>> values;
};

/// `expected`, or failure after emitting its error at `op`.
FailureOr<Array> orEmit(Operation *op, llvm::Expected<Array> expected);

/// `count` elements of a float array from `start`, as `Real`.
template <typename Real>
void load(const Array &array, int64_t start, int64_t count, Real *target) {
  for (int64_t i = 0; i < count; ++i)
    target[i] = array.floatAt(start + i);
}
template <>
inline void load(const Array &array, int64_t start, int64_t count,
                 float *target) {
  const char *bytes = static_cast<const char *>(array.data());
  loadAsFloat(array.kind(), bytes + start * elementBytes(array.kind()), count,
              target);
}

/// Stores `values` from `start`, each rounded once.
template <typename Real>
void store(ArrayRef<Real> values, Array &array, int64_t start) {
  for (auto [i, value] : llvm::enumerate(values))
    array.setFloat(start + i, value);
}

/// Executes the body of `function` and returns its results as stored.
FailureOr<std::vector<std::shared_ptr<const Array>>>
callFunction(func::FuncOp function,
             ArrayRef<std::shared_ptr<const Array>> arguments,
             const ReferenceOptions &options);

// One function per op of the dialect.
LogicalResult eval(GateOp op, Frame &frame);
LogicalResult eval(RouteOp op, Frame &frame);
LogicalResult eval(AlignOp op, Frame &frame);
LogicalResult eval(GroupIdsOp op, Frame &frame);
LogicalResult eval(GroupedGemmOp op, Frame &frame);
LogicalResult eval(ActivationOp op, Frame &frame);
LogicalResult eval(CombineOp op, Frame &frame);
LogicalResult eval(PermuteOp op, Frame &frame);
LogicalResult eval(UnpermuteOp op, Frame &frame);

/// arith, math and affine ops. Emits an error for an op it does not know.
LogicalResult evalScalarOp(Operation *op, Frame &frame);
/// tensor ops and linalg.fill. Emits an error for an op it does not know.
LogicalResult evalTensorOp(Operation *op, Frame &frame);
/// The error for an op that the reference does not execute.
LogicalResult unknownOp(Operation *op);

} // namespace mlir::moe::reference

#endif // MOE_LIB_REFERENCE_INTERPRETER_H
