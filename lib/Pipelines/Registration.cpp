//===- Registration.cpp - what tools and plugins register -----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Pipelines/Registration.h"

#include "moe/CTA/CTADialect.h"
#include "moe/Conversion/CTAToNVVM.h"
#include "moe/MoE/MoEDialect.h"
#include "moe/Pipelines/MoEToCPU.h"
#include "moe/Pipelines/MoEToPTX.h"
#include "moe/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

void moe::registerDialects(DialectRegistry &registry) {
  registry.insert<MoEDialect, cta::CTADialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

void moe::registerAllDialectsAndInterfaces(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllGPUToLLVMIRTranslations(registry);
  registerDialects(registry);
}

void moe::registerPassesAndPipelines() {
  cta::registerBuildGemmKernelPass();
  cta::registerConvertCTAToNVVMPass();
  registerDescribeArgumentsPass();
  registerFusePass();
  registerSplitTokenRangesPass();
  registerSelectSchedulePass();
  registerCheckSchedulePass();
  registerCheckCPUPass();
  registerCheckCallsPass();
  registerRemoveDeallocationsPass();
  registerAlignRowsPass();
  registerSeparateResultsPass();
  registerOutlineKernelsPass();
  registerMergeKernelsPass();
  registerConvertMoEToCPUPass();
  registerFillEmptyTensorsPass();
  registerExpandStridedCopiesPass();
  registerApproximateVectorMathPass();
  registerMoEToCPUPipeline();
  registerMoEToPTXPipelines();
}
