//===- BufferFacts.cpp - where the elements of a buffer lie -----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/BufferFacts.h"
#include "OperandChecks.h"
#include "moe/MoE/FunctionAttributes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::moe;

static SmallVector<int64_t, 4> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = mulExtents(strides[i + 1], shape[i + 1]);
  return strides;
}

bool BufferFacts::isContiguous(ArrayRef<int64_t> shape) const {
  return ArrayRef<int64_t>(strides) == ArrayRef(rowMajorStrides(shape));
}

int64_t BufferFacts::rowAlignment() const {
  int64_t result = alignment;
  for (int64_t stride : ArrayRef(strides).drop_back(!strides.empty()))
    result = std::gcd(result, ShapedType::isDynamic(stride)
                                  ? elementBytes
                                  : mulSaturated(stride, elementBytes));
  return result;
}

namespace {
/// Follows a buffer to where it comes from.
struct FactFinder {
  BufferFacts facts;

  void shift(int64_t offset) {
    facts.alignment = std::gcd(facts.alignment,
                               ShapedType::isDynamic(offset)
                                   ? facts.elementBytes
                                   : mulSaturated(offset, facts.elementBytes));
  }
  void setStrides(MemRefType type) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      strides.assign(type.getRank(), ShapedType::kDynamic);
    facts.strides.assign(strides.begin(), strides.end());
  }

  void visit(Value value);
  void visitArgument(BlockArgument argument);
  void visitSlice(OffsetSizeAndStrideOpInterface slice, Value source);
};
} // namespace

void FactFinder::visitArgument(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return;
  unsigned number = argument.getArgNumber();
  if (auto alignment =
          function.getArgAttrOfType<IntegerAttr>(number, kAlignment))
    facts.alignment = std::gcd(facts.alignment, alignment.getInt());
  auto layout = function.getArgAttrOfType<MemRefLayoutAttrInterface>(
      number, bufferization::BufferizationDialect::kBufferLayoutAttrName);
  auto tensor = dyn_cast<RankedTensorType>(argument.getType());
  if (tensor && layout)
    setStrides(
        MemRefType::get(tensor.getShape(), tensor.getElementType(), layout));
}

/// A slice starts at its offsets and steps through its source.
void FactFinder::visitSlice(OffsetSizeAndStrideOpInterface slice,
                            Value source) {
  visit(source);
  facts.isSlice = true;
  SmallVector<int64_t, 4> strides;
  llvm::SmallBitVector droppedDims =
      TypeSwitch<Operation *, llvm::SmallBitVector>(slice.getOperation())
          .Case<memref::SubViewOp, tensor::ExtractSliceOp>(
              [](auto op) { return op.getDroppedDims(); });
  for (auto [i, stride] : llvm::enumerate(facts.strides)) {
    int64_t offset = slice.getStaticOffsets()[i];
    int64_t step = slice.getStaticStrides()[i];
    bool known = !ShapedType::isDynamic(stride);
    if (offset != 0 && !known)
      shift(ShapedType::kDynamic);
    else if (offset != 0)
      shift(ShapedType::isDynamic(offset) ? stride
                                          : mulExtents(offset, stride));
    if (!droppedDims[i])
      strides.push_back(mulExtents(step, stride));
  }
  facts.strides = strides;
}

void FactFinder::visit(Value value) {
  auto type = cast<ShapedType>(value.getType());
  facts.strides = rowMajorStrides(type.getShape());
  auto memref = dyn_cast<MemRefType>(type);
  if (memref)
    setStrides(memref);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return visitArgument(argument);

  Operation *op = value.getDefiningOp();
  SmallVector<int64_t, 4> ownStrides = facts.strides;
  TypeSwitch<Operation *>(op)
      .Case<memref::SubViewOp, tensor::ExtractSliceOp>([&](auto slice) {
        visitSlice(cast<OffsetSizeAndStrideOpInterface>(*slice),
                   slice.getSource());
        if (memref)
          facts.strides = ownStrides;
      })
      .Case<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
            memref::TransposeOp>([&](auto) {
        visit(op->getOperand(0));
        facts.strides = ownStrides;
      })
      .Case<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](auto) {
            Value source = op->getOperand(0);
            visit(source);
            // Of a source with gaps only the rows are known to be rows.
            auto shape = cast<ShapedType>(source.getType()).getShape();
            bool sameRank = shape.size() == ownStrides.size();
            if (facts.isContiguous(shape))
              facts.strides = ownStrides;
            else if (!sameRank)
              facts.strides.assign(ownStrides.size(), ShapedType::kDynamic);
          })
      .Case([&](DestinationStyleOpInterface dps) {
        if (auto result = dyn_cast<OpResult>(value))
          visit(dps.getTiedOpOperand(result)->get());
      });
}

BufferFacts moe::bufferFacts(Value buffer) {
  FactFinder finder;
  Type element = cast<ShapedType>(buffer.getType()).getElementType();
  finder.facts.elementBytes =
      std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  finder.visit(buffer);
  return finder.facts;
}

std::optional<BufferStart> moe::bufferStart(Value memref) {
  auto offsetOf = [](Value value) {
    SmallVector<int64_t> strides;
    int64_t offset = ShapedType::kDynamic;
    auto type = cast<MemRefType>(value.getType());
    return succeeded(type.getStridesAndOffset(strides, offset))
               ? offset
               : ShapedType::kDynamic;
  };
  int64_t offset = offsetOf(memref);
  if (ShapedType::isDynamic(offset))
    return std::nullopt;
  Value root = memref;
  while (Operation *op = root.getDefiningOp()) {
    if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
             memref::ExpandShapeOp, memref::TransposeOp>(op))
      break;
    root = op->getOperand(0);
  }
  int64_t rootOffset = offsetOf(root);
  if (rootOffset != 0)
    return std::nullopt;
  return BufferStart{root, offset};
}
