//===- MoEToCPU.cpp - from moe on tensors to the LLVM dialect -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Pipelines/MoEToCPU.h"

#include "moe/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::moe;

/// Steps 1 to 3: tensors become buffers that somebody frees.
static void addBufferization(OpPassManager &pm,
                             const MoEToCPUOptions &options) {
  // 0. No unreachable blocks: their values may be defined by themselves, which
  //    bufferization would follow for ever.
  pm.addPass(createCanonicalizerPass());
  //    Scalar ops on tensors get destinations. What the steps below would
  //    refuse without a remedy is refused here.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createCheckCPUPass());

  // 1. Comparisons need the elements that no op writes to be defined.
  if (options.fillEmpty)
    pm.addNestedPass<func::FuncOp>(createFillEmptyTensorsPass());

  // 2. Every op writes into its destination. Functions take and return plain
  //    row-major buffers, so that callers need to know no strides.
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));

  // 3. Intermediates are freed; a returned buffer belongs to the caller and is
  //    never one of the arguments. Before step 4, because these passes take no
  //    code that frees memory itself; that of the user goes.
  pm.addNestedPass<func::FuncOp>(createRemoveDeallocationsPass());
  bufferization::BufferDeallocationPipelineOptions deallocation;
  bufferization::buildBufferDeallocationPipeline(pm, deallocation);
}

void moe::buildMoEToCPUPipeline(OpPassManager &pm,
                                const MoEToCPUOptions &options) {
  addBufferization(pm, options);

  // 4. moe ops become loops over vectors. Ops of other dialects that
  //    bufferization left become loops too.
  ConvertMoEToCPUPassOptions convert;
  convert.vectorBits = options.vectorBits;
  pm.addNestedPass<func::FuncOp>(createConvertMoEToCPUPass(convert));
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addNestedPass<func::FuncOp>(createExpandStridedCopiesPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());

  // 5. exp and tanh of vectors become polynomials, bf16 becomes integer
  //    arithmetic: neither calls a library, and results do not depend on what
  //    the CPU has.
  pm.addNestedPass<func::FuncOp>(createApproximateVectorMathPass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addNestedPass<func::FuncOp>(arith::createArithExpandOpsPass(expand));

  // 6. Addresses are computed by arith from here on: invariant parts of them
  //    leave the loops, equal ones are computed once.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  // 7. Everything to the LLVM dialect. Structured control flow goes first,
  //    because nothing below understands it; math goes to LLVM's intrinsics
  //    where there are some and to libm otherwise.
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void moe::registerMoEToCPUPipeline() {
  PassPipelineRegistration<MoEToCPUOptions>(
      "moe-to-cpu",
      "Lower functions with moe ops on tensors to the LLVM dialect for a CPU",
      buildMoEToCPUPipeline);
}
