//===- CheckCalls.cpp - refuse calls that results cannot leave -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results become parameters of the caller, who allocates them and so has to
// know how large they are. No caller knows that of a call:
//
//   %r = call @layer(%w) : (tensor<?x8xf32>) -> tensor<?x8xf32>
//   error: 'func.call' op returns tensor<?x8xf32> ...
//
// After inlining, which leaves recursion and functions without a body. Never
// changes the IR.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::moe {
#define GEN_PASS_DEF_CHECKCALLSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct CheckCalls : moe::impl::CheckCallsPassBase<CheckCalls> {
  void runOnOperation() override;
};
} // namespace

static LogicalResult checkCall(func::CallOp call,
                               SymbolTableCollection &symbols) {
  for (Type type : call.getResultTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || (shaped.hasRank() && shaped.hasStaticShape()))
      continue;
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    bool isExternal = !callee || callee.isExternal();
    return call.emitOpError("returns ")
           << type << " from @" << call.getCallee()
           << (isExternal ? ", which has no body"
                          : ", which calls itself, directly or not")
           << ": a call that stays takes buffers of static shapes for its "
              "results; "
           << (isExternal ? "define the function or pass its result as an "
                            "argument"
                          : "write the recursion as an scf.for, or out");
  }
  return success();
}

void CheckCalls::runOnOperation() {
  markAllAnalysesPreserved();
  SymbolTableCollection symbols;
  WalkResult result = getOperation()->walk([&](func::CallOp call) {
    return failed(checkCall(call, symbols)) ? WalkResult::interrupt()
                                            : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
