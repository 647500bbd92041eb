//===- Plugin.cpp - what a stock mlir-opt loads -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCheck.h"

#include "moe/Pipelines/Registration.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Whether the program can use the plugin; says why not, once. A program that
/// gets no callback refuses the plugin, mostly without a reason of its own.
static bool checkHost() {
  static const bool fits = [] {
    std::string reason = moe::describeUnfitHost();
    if (!reason.empty())
      llvm::errs() << "MoEPlugin.so cannot be used here: " << reason << "\n";
    return reason.empty();
  }();
  return fits;
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  auto registerAll = [](DialectRegistry *registry) {
    moe::registerDialects(*registry);
  };
  return {MLIR_PLUGIN_API_VERSION, "MoE", MOE_VERSION,
          checkHost() ? +registerAll : nullptr};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MoE", MOE_VERSION,
          checkHost() ? moe::registerPassesAndPipelines : nullptr};
}
