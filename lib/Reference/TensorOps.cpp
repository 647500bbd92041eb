//===- TensorOps.cpp - tensor ops and linalg.fill -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

/// The values of mixed static and dynamic numbers.
static SmallVector<int64_t> evalMixed(ArrayRef<OpFoldResult> numbers,
                                      Frame &frame) {
  return llvm::map_to_vector(numbers, [&](OpFoldResult number) {
    if (auto value = dyn_cast<Value>(number))
      return frame.getInt(value);
    return cast<IntegerAttr>(cast<Attribute>(number)).getInt();
  });
}

static LogicalResult evalEmpty(tensor::EmptyOp op, Frame &frame) {
  if (!elementKind(op.getType().getElementType()))
    return unknownOp(op);
  FailureOr<Array> array = frame.create(op, op.getType().getElementType(),
                                        evalMixed(op.getMixedSizes(), frame));
  TRY(array);
  return frame.set(op.getResult(), std::move(*array));
}

static LogicalResult evalDim(tensor::DimOp op, Frame &frame) {
  const Array &source = frame.get(op.getSource());
  int64_t index = frame.getInt(op.getIndex());
  if (index < 0 || index >= source.rank())
    return op.emitOpError("requires a dimension of ")
           << describe(source) << ", but got " << index;
  FailureOr<Array> result = frame.create(op, op.getType(), ArrayRef<int64_t>());
  TRY(result);
  result->setInt(0, source.dim(index));
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evalFromElements(tensor::FromElementsOp op, Frame &frame) {
  if (!elementKind(op.getType().getElementType()))
    return unknownOp(op);
  FailureOr<Array> array =
      frame.create(op, op.getType().getElementType(), op.getType().getShape());
  TRY(array);
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    const Array &value = frame.get(element);
    if (isFloat(value.kind()))
      array->setFloat(i, value.floatAt(0));
    else
      array->setInt(i, value.intAt(0));
  }
  return frame.set(op.getResult(), std::move(*array));
}

/// Copies one element between arrays of one kind.
static void copyElement(const Array &source, int64_t from, Array &target,
                        int64_t to) {
  int64_t bytes = elementBytes(source.kind());
  std::memcpy(static_cast<char *>(target.data()) + to * bytes,
              static_cast<const char *>(source.data()) + from * bytes, bytes);
}

static LogicalResult evalExtract(tensor::ExtractOp op, Frame &frame) {
  const Array &source = frame.get(op.getTensor());
  int64_t flat = 0;
  for (auto [i, index] : llvm::enumerate(frame.getInts(op.getIndices()))) {
    if (index < 0 || index >= source.dim(i))
      return op.emitOpError("requires index ")
             << i << " to lie in " << describe(source) << ", but got " << index;
    flat = flat * source.dim(i) + index;
  }
  FailureOr<Array> result =
      orEmit(op, Array::create(source.kind(), ArrayRef<int64_t>()));
  TRY(result);
  copyElement(source, flat, *result, 0);
  return frame.set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// A rectangular part of an array: element i of a dimension is
/// `offset + i * stride` of the array.
struct Slice {
  SmallVector<int64_t> offsets, sizes, strides;

  template <typename Op>
  Slice(Op op, Frame &frame)
      : offsets(evalMixed(op.getMixedOffsets(), frame)),
        sizes(evalMixed(op.getMixedSizes(), frame)),
        strides(evalMixed(op.getMixedStrides(), frame)) {}

  /// Emits an error at `op` unless the slice lies in `array`.
  LogicalResult verifyInside(Operation *op, const Array &array) const {
    for (int64_t i = 0, e = array.rank(); i < e; ++i) {
      int64_t last, end;
      bool overflow = llvm::MulOverflow(sizes[i] - 1, strides[i], last) ||
                      llvm::AddOverflow(offsets[i], last, end);
      bool inside = sizes[i] == 0 || (!overflow && offsets[i] >= 0 &&
                                      offsets[i] < array.dim(i) && end >= 0 &&
                                      end < array.dim(i));
      if (sizes[i] < 0 || !inside)
        return op->emitOpError("requires a slice inside ")
               << describe(array) << ", but got offset " << offsets[i]
               << ", size " << sizes[i] << " and stride " << strides[i]
               << " in dimension " << i;
    }
    return success();
  }

  int64_t size() const {
    int64_t product = 1;
    for (int64_t extent : sizes)
      product *= extent;
    return product;
  }

  /// Position in `array` of element `index` of the slice.
  int64_t flatIndex(int64_t index, const Array &array) const {
    int64_t flat = 0, scale = 1;
    for (int64_t i = array.rank() - 1; i >= 0; --i) {
      flat += (offsets[i] + index % sizes[i] * strides[i]) * scale;
      index /= sizes[i];
      scale *= array.dim(i);
    }
    return flat;
  }
};
} // namespace

static LogicalResult evalExtractSlice(tensor::ExtractSliceOp op, Frame &frame) {
  const Array &source = frame.get(op.getSource());
  Slice slice(op, frame);
  TRY(slice.verifyInside(op, source));
  FailureOr<Array> result =
      orEmit(op, Array::create(source.kind(), slice.sizes));
  TRY(result);
  for (int64_t i = 0, e = slice.size(); i < e; ++i)
    copyElement(source, slice.flatIndex(i, source), *result, i);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(slice.sizes))
    if (!dropped[dim])
      shape.push_back(extent);
  result->reshape(shape);
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evalInsertSlice(tensor::InsertSliceOp op, Frame &frame) {
  FailureOr<Array> result = frame.destination(op, op.getDest());
  TRY(result);
  Slice slice(op, frame);
  TRY(slice.verifyInside(op, *result));
  FailureOr<Array> source =
      orEmit(op, frame.get(op.getSource()).convert(result->kind()));
  TRY(source);
  if (slice.size() != source->size())
    return op.emitOpError("requires a source of ")
           << slice.size() << " elements, but got " << describe(*source);
  for (int64_t i = 0, e = slice.size(); i < e; ++i)
    copyElement(*source, i, *result, slice.flatIndex(i, *result));
  return frame.set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static LogicalResult evalCollapse(tensor::CollapseShapeOp op, Frame &frame) {
  FailureOr<Array> result = orEmit(op, frame.get(op.getSrc()).clone());
  TRY(result);
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t product = 1;
    for (int64_t i : group)
      product *= result->dim(i);
    shape.push_back(product);
  }
  result->reshape(shape);
  return frame.set(op.getResult(), std::move(*result));
}

static LogicalResult evalExpand(tensor::ExpandShapeOp op, Frame &frame) {
  FailureOr<Array> result = orEmit(op, frame.get(op.getSrc()).clone());
  TRY(result);
  SmallVector<int64_t> shape = evalMixed(op.getMixedOutputShape(), frame);
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t product = 1;
    bool overflow = false;
    for (int64_t j : group)
      overflow |= shape[j] < 0 || llvm::MulOverflow(product, shape[j], product);
    if (overflow || product != result->dim(i))
      return op.emitOpError("requires the extents of group ")
             << i << " to multiply to " << result->dim(i)
             << " in this run, but got [" << ArrayRef<int64_t>(shape) << "]";
  }
  result->reshape(shape);
  return frame.set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static LogicalResult evalFill(linalg::FillOp op, Frame &frame) {
  if (!op.hasPureTensorSemantics())
    return unknownOp(op);
  FailureOr<Array> result = frame.destination(op, op.getOutputs().front());
  TRY(result);
  const Array &value = frame.get(op.getInputs().front());
  for (int64_t i = 0, e = result->size(); i < e; ++i) {
    if (isFloat(result->kind()))
      result->setFloat(i, value.floatAt(0));
    else
      result->setInt(i, value.intAt(0));
  }
  return frame.set(op.getResult(0), std::move(*result));
}

LogicalResult reference::evalTensorOp(Operation *op, Frame &frame) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tensor::EmptyOp empty) { return evalEmpty(empty, frame); })
      .Case([&](tensor::DimOp dim) { return evalDim(dim, frame); })
      .Case([&](tensor::CastOp cast) {
        return frame.set(cast.getResult(), frame.share(cast.getSource()));
      })
      .Case([&](tensor::FromElementsOp from) {
        return evalFromElements(from, frame);
      })
      .Case([&](tensor::ExtractOp extract) {
        return evalExtract(extract, frame);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return evalExtractSlice(slice, frame);
      })
      .Case([&](tensor::InsertSliceOp slice) {
        return evalInsertSlice(slice, frame);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return evalCollapse(collapse, frame);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return evalExpand(expand, frame);
      })
      .Case([&](linalg::FillOp fill) { return evalFill(fill, frame); })
      .Default([&](Operation *) { return unknownOp(op); });
}
