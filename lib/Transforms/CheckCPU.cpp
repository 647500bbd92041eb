//===- CheckCPU.cpp - refuse what no code for a CPU is made of -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization, the placement of deallocations and the conversion to the LLVM
// dialect each take less than a function may hold, and refuse the rest without
// saying where it is or what to do. Whatever they refuse is found here, at the
// op that is to be changed:
//
//   cf.cond_br %more, ^loop(%j : index), ^end
//   error: 'cf.cond_br' op branches back to a block that leads to it ...
//
// In front of one-shot-bufferize. Never changes the IR.
//
//===----------------------------------------------------------------------===//

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::moe {
#define GEN_PASS_DEF_CHECKCPUPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct CheckCPU : moe::impl::CheckCPUPassBase<CheckCPU> {
  void runOnOperation() override;
};
} // namespace

/// Refuses loops of branches.
static LogicalResult checkBranches(Region &region) {
  if (region.hasOneBlock() || region.empty())
    return success();
  // The path from the entry block, with the next successor of each block.
  SmallVector<std::pair<Block *, unsigned>> path{{&region.front(), 0}};
  DenseSet<Block *> seen{&region.front()}, onPath{&region.front()};
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == block->getNumSuccessors()) {
      onPath.erase(block);
      path.pop_back();
      continue;
    }
    Block *successor = block->getSuccessor(next++);
    if (onPath.contains(successor))
      return block->getTerminator()->emitOpError(
          "branches back to a block that leads to it, but code for a CPU is "
          "made of structured loops only; write the loop as scf.for or "
          "scf.while");
    if (!seen.insert(successor).second)
      continue;
    onPath.insert(successor);
    path.push_back({successor, 0});
  }
  return success();
}

/// Refuses a memref that is not in the memory of the CPU.
static LogicalResult checkMemorySpace(Operation *op, StringRef what, size_t i,
                                      Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  if (!memref || !memref.getMemorySpace())
    return success();
  return op->emitOpError("requires memrefs of the default memory space on a "
                         "CPU, but ")
         << what << " #" << i << " is " << type
         << "; leave the memory space out of the type";
}

static LogicalResult checkMemorySpaces(Operation *op) {
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(checkMemorySpace(op, "operand", i, type)))
      return failure();
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(checkMemorySpace(op, "result", i, type)))
      return failure();
  return success();
}

/// Refuses a tensor op that has no form on buffers.
static LogicalResult checkBufferizable(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (isa<bufferization::BufferizableOpInterface>(op) ||
      (llvm::none_of(op->getOperandTypes(), isTensor) &&
       llvm::none_of(op->getResultTypes(), isTensor)))
    return success();
  return op->emitOpError("has no form on buffers, which code for a CPU needs "
                         "of every op on tensors; write it with linalg ops, on "
                         "scalars, or compute it outside the function");
}

/// Refuses to free a buffer that the function was given.
static LogicalResult checkDealloc(memref::DeallocOp op) {
  Value buffer = op.getMemref();
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  bool isGiven = argument && argument.getOwner()->isEntryBlock() &&
                 isa<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!isGiven && !buffer.getDefiningOp<memref::GetGlobalOp>())
    return success();
  return op.emitOpError("frees ")
         << (isGiven ? "an argument" : "a global")
         << ", but a function frees only what it allocated; remove the "
            "memref.dealloc";
}

static LogicalResult checkOp(Operation *op) {
  for (Region &region : op->getRegions())
    if (failed(checkBranches(region)))
      return failure();
  if (failed(checkMemorySpaces(op)) || failed(checkBufferizable(op)))
    return failure();
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
    return checkDealloc(dealloc);
  return success();
}

void CheckCPU::runOnOperation() {
  markAllAnalysesPreserved();
  func::FuncOp function = getOperation();
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(checkMemorySpace(function, "argument", i, type)))
      return signalPassFailure();
  WalkResult result = function.walk<WalkOrder::PreOrder>([](Operation *op) {
    return failed(checkOp(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
