//===- FillEmptyTensors.cpp - mark what nobody writes -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A destination-passing op leaves elements as they were. Where the destination
// is a `tensor.empty` they are undefined, and two executions of one function
// cannot be compared. With
//
//   %0 = tensor.empty(%t) : tensor<?x8xf32>
//   %1 = linalg.fill ins(%nan : f32) outs(%0 : tensor<?x8xf32>)
//
// they are NaN, and -1 for integers, on every device. Runs before
// bufferization.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::moe {
#define GEN_PASS_DEF_FILLEMPTYTENSORSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;

namespace {
struct FillEmptyTensors
    : public moe::impl::FillEmptyTensorsPassBase<FillEmptyTensors> {
  void runOnOperation() override;
};
} // namespace

/// NaN or -1; null for an element type that has neither.
static TypedAttr markOf(Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    if (!llvm::APFloat::semanticsHasNaN(semantics))
      return nullptr;
    return FloatAttr::get(type, llvm::APFloat::getQNaN(semantics));
  }
  if (isa<IndexType>(element) || element.isSignlessInteger())
    return IntegerAttr::get(element, -1);
  return nullptr;
}

void FillEmptyTensors::runOnOperation() {
  SmallVector<tensor::EmptyOp> ops;
  getOperation().walk([&](tensor::EmptyOp op) { ops.push_back(op); });
  for (tensor::EmptyOp op : ops) {
    TypedAttr mark = markOf(op.getType().getElementType());
    if (!mark)
      continue;
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    builder.setInsertionPointAfter(op);
    Value value = arith::ConstantOp::create(builder, mark);
    auto fill = linalg::FillOp::create(builder, value, op.getResult());
    op.getResult().replaceAllUsesExcept(fill.getResult(0), fill);
  }
}
