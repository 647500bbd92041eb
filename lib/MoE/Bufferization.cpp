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

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::bufferization;

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
