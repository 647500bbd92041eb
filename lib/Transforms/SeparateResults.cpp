//===- SeparateResults.cpp - a buffer of its own for each result -*- C++-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results become parameters of the caller, one buffer each, so no two of them
// may be the same buffer:
//
//   return %a, %a    becomes    %b = memref.alloc; memref.copy %a, %b
//                               return %a, %b
//
// Between one-shot-bufferize and buffer-results-to-out-params, which takes a
// buffer away from its second result.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::moe {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

/// A copy of `source` in a buffer without gaps, made before `end`.
static Value copyOf(Value source, Operation *end) {
  OpBuilder b(end);
  Location loc = end->getLoc();
  auto type = cast<MemRefType>(source.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(memref::DimOp::create(b, loc, source, i));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, loc, plain, sizes);
  memref::CopyOp::create(b, loc, source, copy);
  return copy;
}

namespace {
struct SeparateResults : moe::impl::SeparateResultsPassBase<SeparateResults> {
  void runOnOperation() override {
    getOperation().walk([](func::ReturnOp end) {
      DenseSet<Value> seen;
      for (OpOperand &operand : end->getOpOperands())
        if (isa<MemRefType>(operand.get().getType()) &&
            !seen.insert(operand.get()).second)
          operand.set(copyOf(operand.get(), end));
    });
  }
};
} // namespace
