//===- HostOps.cpp - ops that no kernel computes -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostOps.h"

#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::moe;

bool moe::computesOnData(Operation *op) {
  auto isData = [](Type type) { return isa<TensorType, BaseMemRefType>(type); };
  if (llvm::none_of(op->getOperandTypes(), isData) &&
      llvm::none_of(op->getResultTypes(), isData))
    return false;
  if (isa_and_nonnull<gpu::GPUDialect, MoEDialect,
                      bufferization::BufferizationDialect>(op->getDialect()))
    return false;
  if (isa<ViewLikeOpInterface, ShapedDimOpInterface, RegionBranchOpInterface>(
          op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return false;
  return !isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp,
              memref::GetGlobalOp, memref::TransposeOp, tensor::EmptyOp,
              tensor::CastOp, UnrealizedConversionCastOp>(op);
}
