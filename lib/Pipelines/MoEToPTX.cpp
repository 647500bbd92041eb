//===- MoEToPTX.cpp - the lowering from moe on tensors to PTX -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Pipelines/MoEToPTX.h"
#include "moe/CTA/CTADialect.h"
#include "moe/Conversion/CTAToNVVM.h"
#include "moe/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::moe;

/// Tensors to memrefs: identity layouts at function boundaries, results as
/// parameters of the caller.
static void addBufferization(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.allowUnknownOps = true;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createSeparateResultsPass());
  bufferization::BufferResultsToOutParamsPassOptions outParams;
  outParams.addResultAttribute = true;
  outParams.hoistStaticAllocs = true;
  outParams.hoistDynamicAllocs = true;
  outParams.modifyPublicFunctions = true;
  pm.addPass(bufferization::createBufferResultsToOutParamsPass(outParams));
}

void moe::buildMoEToCTAPipeline(OpPassManager &pm,
                                const MoEToPTXOptions &options) {
  // 0. One function for each launch list: a call has no place in one, and its
  //    results no extent that the caller knows.
  pm.addPass(createInlinerPass());
  pm.addPass(createCheckCallsPass());
  //    What callers have to know, while it is still there to be seen.
  pm.addPass(createDescribeArgumentsPass());
  // 1. Fewer, larger ops: epilogues into the GEMMs.
  pm.addPass(createFusePass());
  // 2. A variant for each range of tokens, where there are any, then a kernel
  //    for each GEMM; the later steps only read the decision.
  pm.addPass(createSplitTokenRangesPass(
      {options.automaticTokenRanges, options.arch, options.tokens}));
  pm.addPass(createSelectSchedulePass({options.arch, options.tokens}));
  // 3. Schedules, written or chosen, must fit the chip.
  pm.addPass(createCheckSchedulePass({options.arch}));
  // 4. Row tables for the tensor-core kernels.
  pm.addPass(createAlignRowsPass());
  // 5. No dead tensors. Common subexpressions wait until after bufferization:
  //    two empty tensors of one size are two buffers.
  pm.addPass(createCanonicalizerPass());
  // 6. Buffers in place of tensors.
  addBufferization(pm);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // 7. A kernel and a launch in place of each op.
  pm.addPass(createOutlineKernelsPass({options.arch}));
  //    Variants share most of them.
  pm.addPass(createMergeKernelsPass());
}

void moe::buildMoEToNVVMPipeline(OpPassManager &pm,
                                 const MoEToPTXOptions &options) {
  buildMoEToCTAPipeline(pm, options);
  // 8. Rings, loads and MMAs become instruction sequences.
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(cta::createConvertCTAToNVVMPass());
  // 9. What the sequences repeat is computed once.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

void moe::buildMoEToPTXPipeline(OpPassManager &pm,
                                const MoEToPTXOptions &options) {
  buildMoEToNVVMPipeline(pm, options);
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  // 10. Structured control flow to branches, everything else to llvm ops.
  //     convert-cf-to-llvm runs on modules only, and the host stays as it is.
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  ConvertToLLVMPassOptions branches;
  branches.filterDialects.push_back("cf");
  kernels.addPass(createConvertToLLVMPass(branches));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  // 11. LLVM prints the PTX.
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = "isa";
  pm.addPass(createGpuModuleToBinaryPass(binary));
}

void moe::registerMoEToPTXPipelines() {
  PassPipelineRegistration<MoEToPTXOptions>(
      "moe-to-cta", "moe ops to launches of kernels made of cta ops",
      buildMoEToCTAPipeline);
  PassPipelineRegistration<MoEToPTXOptions>(
      "moe-to-nvvm", "moe ops to launches of kernels made of nvvm ops",
      buildMoEToNVVMPipeline);
  PassPipelineRegistration<MoEToPTXOptions>(
      "moe-to-ptx", "moe ops to launches of kernels in PTX",
      buildMoEToPTXPipeline);
}
