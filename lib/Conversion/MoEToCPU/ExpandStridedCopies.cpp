//===- ExpandStridedCopies.cpp - copies that need no library -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `memref.copy` between buffers in row-major order is a memcpy. Any other one
// would call a function of MLIR's run-time library, which compiled code should
// not need: it becomes a `linalg.copy`, and loops later.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::moe {
#define GEN_PASS_DEF_EXPANDSTRIDEDCOPIESPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;

namespace {
struct ExpandStridedCopies
    : public moe::impl::ExpandStridedCopiesPassBase<ExpandStridedCopies> {
  void runOnOperation() override;
};
} // namespace

void ExpandStridedCopies::runOnOperation() {
  getOperation().walk([](memref::CopyOp op) {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    auto target = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!source || !target ||
        (source.getLayout().isIdentity() && target.getLayout().isIdentity()))
      return;
    OpBuilder builder(op);
    linalg::CopyOp::create(builder, op.getLoc(), op.getSource(),
                           op.getTarget());
    op.erase();
  });
}
