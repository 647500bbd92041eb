//===- Registration.cpp - everything a tool or a plugin registers -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Pipelines/Registration.h"

#include "moe/MoE/MoEDialect.h"
#include "moe/Transforms/Passes.h"

using namespace mlir;

void moe::registerDialects(DialectRegistry &registry) {
  registry.insert<MoEDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

void moe::registerPassesAndPipelines() {
  registerFusePass();
  registerSelectSchedulePass();
  registerCheckSchedulePass();
  registerAlignRowsPass();
}
