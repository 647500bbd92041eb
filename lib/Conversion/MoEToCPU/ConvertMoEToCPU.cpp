//===- ConvertMoEToCPU.cpp - moe ops on buffers become loops -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op of the dialect has a function that emits its loops; this file walks
// the ops and hands them operands whose last dimension is contiguous, so that
// the loops can use vectors.
//
// The place in the pipeline is after bufferization and after the deallocation
// of buffers: the loops free their own scratch memory, which the deallocation
// passes do not accept in their input.
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"

#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::moe {
#define GEN_PASS_DEF_CONVERTMOETOCPUPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct ConvertMoEToCPU
    : public moe::impl::ConvertMoEToCPUPassBase<ConvertMoEToCPU> {
  using ConvertMoEToCPUPassBase::ConvertMoEToCPUPassBase;
  void runOnOperation() override;
};
} // namespace

/// True where neighbours in the last dimension are neighbours in memory.
static bool hasContiguousRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() == 0 || type.getLayout().isIdentity())
    return true;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// Gives `op` a contiguous copy of every operand that has none, and copies
/// destinations back behind it.
static void makeRowsContiguous(cpu::Emitter &e,
                               DestinationStyleOpInterface op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value original = operand.get();
    auto type = cast<MemRefType>(original.getType());
    if (hasContiguousRows(type))
      continue;
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i))
        sizes.push_back(e.dim(original, i));
    Value copy = e.scratch(type.getShape(), type.getElementType(), sizes);
    memref::CopyOp::create(e, original, copy);
    operand.set(copy);
  }
}

/// Emits the loops of `op` in front of it; false for an op that has none.
static bool emitLoops(cpu::Emitter &e, Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<GateOp, RouteOp, AlignOp, GroupIdsOp, GroupedGemmOp, ActivationOp,
            CombineOp, PermuteOp, UnpermuteOp>([&](auto concrete) {
        cpu::lower(e, concrete);
        return true;
      })
      .Default([](Operation *) { return false; });
}

static LogicalResult convert(Operation *op, int64_t lanes) {
  auto dps = dyn_cast<DestinationStyleOpInterface>(op);
  if (!dps)
    return op->emitOpError("has no meaning on a CPU: it describes a buffer to "
                           "a GPU; remove it before convert-moe-to-cpu");
  if (op->getNumResults() != 0)
    return op->emitOpError("requires memrefs to become loops, but got tensors; "
                           "run one-shot-bufferize first");
  cpu::Emitter e(op, lanes);
  SmallVector<Value> destinations = llvm::to_vector(
      llvm::map_range(dps.getDpsInits(), [](Value v) { return v; }));
  makeRowsContiguous(e, dps);
  if (!emitLoops(e, op))
    return op->emitOpError("has no lowering to loops");
  for (auto [original, current] : llvm::zip(destinations, dps.getDpsInits()))
    if (original != current)
      memref::CopyOp::create(e, current, original);
  e.freeScratch();
  op->erase();
  return success();
}

void ConvertMoEToCPU::runOnOperation() {
  if (!llvm::isPowerOf2_64(vectorBits) || vectorBits < 128 ||
      vectorBits > 2048) {
    getOperation().emitError("convert-moe-to-cpu requires vector-bits to be a "
                             "power of two in [128, 2048], but got ")
        << vectorBits.getValue();
    return signalPassFailure();
  }
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (isa_and_nonnull<MoEDialect>(op->getDialect()))
      ops.push_back(op);
  });
  constexpr int64_t kBitsOfF32 = 32;
  for (Operation *op : ops)
    if (failed(convert(op, vectorBits / kBitsOfF32)))
      return signalPassFailure();
}
