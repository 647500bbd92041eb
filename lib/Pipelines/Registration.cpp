//===- Registration.cpp - everything a tool or a plugin registers -*- C++
//-*-===//
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

using namespace mlir;

void moe::registerDialects(DialectRegistry &registry) {
  registry.insert<MoEDialect, cta::CTADialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

void moe::registerPassesAndPipelines() {
  cta::registerBuildGemmKernelPass();
  cta::registerConvertCTAToNVVMPass();
  registerDescribeArgumentsPass();
  registerFusePass();
  registerSplitTokenRangesPass();
  registerSelectSchedulePass();
  registerCheckSchedulePass();
  registerAlignRowsPass();
  registerOutlineKernelsPass();
  registerMergeKernelsPass();
  registerConvertMoEToCPUPass();
  registerFillEmptyTensorsPass();
  registerExpandStridedCopiesPass();
  registerApproximateVectorMathPass();
  registerMoEToCPUPipeline();
  registerMoEToPTXPipelines();
}
