//===- Interpreter.cpp - walk a function and execute its ops -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

FailureOr<Array> reference::orEmit(Operation *op,
                                   llvm::Expected<Array> expected) {
  if (expected)
    return std::move(*expected);
  return op->emitOpError() << llvm::toString(expected.takeError());
}

SmallVector<int64_t> Frame::getInts(ValueRange scalars) const {
  return llvm::map_to_vector(scalars,
                             [&](Value scalar) { return getInt(scalar); });
}

std::vector<float> Frame::getFloats(Value tensor) const {
  if (!tensor)
    return {};
  const Array &array = get(tensor);
  std::vector<float> elements(array.size());
  load(array, 0, array.size(), elements.data());
  return elements;
}

ElementKind Frame::storedKind(Type type) const {
  ElementKind kind = *elementKind(type);
  bool narrow = isFloat(kind) && elementBytes(kind) < 4;
  return narrow && options.wideIntermediates ? ElementKind::F32 : kind;
}

LogicalResult Frame::set(Value result, std::shared_ptr<const Array> array) {
  if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
    bool agrees = type.getRank() == array->rank();
    for (int64_t i = 0, e = type.getRank(); agrees && i < e; ++i)
      agrees = type.isDynamicDim(i) || type.getDimSize(i) == array->dim(i);
    if (!agrees)
      return emitError(result.getLoc())
             << "requires a value of type " << type << ", but got "
             << describe(*array) << " in this run";
  }
  values[result] = std::move(array);
  return success();
}

FailureOr<Array> Frame::create(Operation *op, Type elementType,
                               ArrayRef<int64_t> shape) const {
  return orEmit(op, Array::createUnwritten(storedKind(elementType), shape));
}

FailureOr<Array> Frame::destination(Operation *op, Value init) const {
  Type elementType = cast<ShapedType>(init.getType()).getElementType();
  return orEmit(op, get(init).convert(storedKind(elementType)));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult reference::unknownOp(Operation *op) {
  return op->emitOpError("is not executed by the reference; it runs moe ops on "
                         "tensors, arith, math, affine.apply, tensor, "
                         "linalg.fill and func ops");
}

/// Verifies a moe op once more, with the extents of this run as its types, so
/// that every constraint on extents holds before the op is executed.
static LogicalResult verifyWithExtents(Operation *op, const Frame &frame) {
  auto refined = [&](Value value) -> Type {
    auto type = cast<RankedTensorType>(value.getType());
    return RankedTensorType::get(frame.get(value).shape(),
                                 type.getElementType());
  };
  Block placeholders;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand,
                  placeholders.addArgument(refined(operand), operand.getLoc()));
  Operation *copy = op->clone(mapping);
  auto dps = cast<DestinationStyleOpInterface>(copy);
  for (OpResult result : copy->getResults())
    result.setType(dps.getTiedOpOperand(result)->get().getType());
  LogicalResult verified = mlir::verify(copy);
  copy->erase();
  return verified;
}

static bool isOnTensors(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    return isa<RankedTensorType>(type) &&
           elementKind(cast<RankedTensorType>(type).getElementType());
  });
}

template <typename Op>
static LogicalResult evalMoEOp(Op op, Frame &frame) {
  if (!isOnTensors(op))
    return unknownOp(op);
  TRY(verifyWithExtents(op, frame));
  return eval(op, frame);
}

static LogicalResult evalCall(func::CallOp op, Frame &frame) {
  auto callee = dyn_cast_or_null<func::FuncOp>(
      SymbolTable::lookupNearestSymbolFrom(op, op.getCalleeAttr()));
  if (!callee)
    return op.emitOpError("requires a func.func called @") << op.getCallee();
  auto arguments = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return frame.share(value); });
  auto results = callFunction(callee, arguments, frame.getOptions());
  if (failed(results))
    return failure();
  for (auto [result, array] : llvm::zip_equal(op.getResults(), *results))
    TRY(frame.set(result, array));
  return success();
}

static LogicalResult evalOp(Operation *op, Frame &frame) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<GateOp, RouteOp, AlignOp, GroupIdsOp, GroupedGemmOp, ActivationOp,
            CombineOp, PermuteOp, UnpermuteOp>(
          [&](auto moeOp) { return evalMoEOp(moeOp, frame); })
      .Case([&](func::CallOp call) { return evalCall(call, frame); })
      .Default([&](Operation *) {
        if (isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                            affine::AffineDialect>(op->getDialect()))
          return evalScalarOp(op, frame);
        if (isa_and_nonnull<tensor::TensorDialect, linalg::LinalgDialect>(
                op->getDialect()))
          return evalTensorOp(op, frame);
        return unknownOp(op);
      });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<std::vector<std::shared_ptr<const Array>>>
reference::callFunction(func::FuncOp function,
                        ArrayRef<std::shared_ptr<const Array>> arguments,
                        const ReferenceOptions &options) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("requires a body of one block, but got ")
           << function.getBody().getBlocks().size();
  Frame frame(options);
  Block &body = function.getBody().front();
  for (auto [argument, array] : llvm::zip_equal(body.getArguments(), arguments))
    TRY(frame.set(argument, array));
  for (Operation &op : body.without_terminator())
    TRY(evalOp(&op, frame));
  auto terminator = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!terminator)
    return unknownOp(body.getTerminator());
  std::vector<std::shared_ptr<const Array>> results;
  for (Value value : terminator.getOperands())
    results.push_back(frame.share(value));
  return results;
}

FailureOr<std::vector<Array>>
moe::runOnReference(func::FuncOp function, ArrayRef<Array> inputs,
                    const ReferenceOptions &options) {
  TRY(checkInputs(function, inputs));
  TRY(checkCalls(function));
  // The caller owns the inputs for the whole run.
  auto arguments = llvm::map_to_vector(inputs, [](const Array &input) {
    return std::shared_ptr<const Array>(&input, [](const Array *) {});
  });
  auto stored = callFunction(function, arguments, options);
  if (failed(stored))
    return failure();
  std::vector<Array> results;
  for (auto [array, type] :
       llvm::zip_equal(*stored, function.getResultTypes())) {
    FailureOr<Array> rounded = orEmit(
        function, array->convert(*elementKind(getElementTypeOrSelf(type))));
    TRY(rounded);
    results.push_back(std::move(*rounded));
  }
  return results;
}
