//===- Bufferization.cpp - tensors to memrefs -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::bufferization;

/// What two operands of one buffer have in common, while conversions between
/// tensors and buffers still stand between them.
static Value sourceOf(Value buffer) {
  auto toBuffer = buffer.getDefiningOp<ToBufferOp>();
  if (!toBuffer)
    return buffer;
  auto toTensor = toBuffer.getTensor().getDefiningOp<ToTensorOp>();
  return toTensor ? sourceOf(toTensor.getBuffer()) : toBuffer.getTensor();
}

/// Gives operand `i`, a destination, a copy of its own where another operand is
/// the same buffer. The analysis lets one buffer be both only where its
/// elements are undefined, but no op promises to read them before it writes.
static LogicalResult ownBuffer(RewriterBase &rewriter, Operation *op,
                               unsigned i, MutableArrayRef<Value> buffers,
                               const BufferizationOptions &options) {
  Value shared = buffers[i];
  auto type = dyn_cast<MemRefType>(shared.getType());
  auto isShared = [&](Value buffer) {
    return sourceOf(buffer) == sourceOf(shared);
  };
  if (!type || llvm::count_if(buffers, isShared) == 1)
    return success();
  Location loc = op->getLoc();
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, shared, dim));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  FailureOr<Value> copy = options.createAlloc(rewriter, loc, plain, sizes);
  if (failed(copy) ||
      failed(options.createMemCpy(rewriter, loc, shared, *copy)))
    return failure();
  buffers[i] = plain == type
                   ? *copy
                   : memref::CastOp::create(rewriter, loc, type, *copy);
  return success();
}

namespace {
/// Every op of the dialect bufferizes alike: its operands become buffers, its
/// results the buffers of its destinations.
template <typename OpTy>
struct MoEBufferization
    : public DstBufferizableOpInterfaceExternalModel<MoEBufferization<OpTy>,
                                                     OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    // Rows that an op does not write keep the destination's value, so
    // destinations are read as well.
    return true;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        buffers.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    auto dps = cast<DestinationStyleOpInterface>(op);
    for (OpOperand &init : dps.getDpsInitsMutable())
      if (failed(ownBuffer(rewriter, op, init.getOperandNumber(), buffers,
                           options)))
        return failure();
    SmallVector<Value> results(
        ArrayRef<Value>(buffers).take_back(dps.getNumDpsInits()));
    OperationState newOp(op->getLoc(), op->getName(), buffers, TypeRange{},
                         op->getAttrs());
    newOp.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.create(newOp);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

template <typename... Ops>
static void attachTo(MLIRContext *context) {
  (Ops::template attachInterface<MoEBufferization<Ops>>(*context), ...);
}

void moe::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MoEDialect *) {
    attachTo<GateOp, RouteOp, AlignOp, GroupIdsOp, GroupedGemmOp, ActivationOp,
             CombineOp, PermuteOp, UnpermuteOp>(context);
  });
}
