//===- RemoveDeallocations.cpp - leave freeing to the compiler -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes that place deallocations refuse functions that free memory
// themselves, and free every buffer that a function allocates and keeps:
//
//   %a = memref.alloc() : memref<4x8xf32>     %a = memref.alloc() : ...
//   moe.activation ... outs(%a ...)           moe.activation ... outs(%a ...)
//   memref.dealloc %a : memref<4x8xf32>
//
// In front of ownership-based-buffer-deallocation, which frees %a again.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::moe {
#define GEN_PASS_DEF_REMOVEDEALLOCATIONSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct RemoveDeallocations
    : moe::impl::RemoveDeallocationsPassBase<RemoveDeallocations> {
  void runOnOperation() override {
    getOperation()->walk([](memref::DeallocOp op) { op.erase(); });
  }
};
} // namespace
