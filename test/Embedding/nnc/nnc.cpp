//===- nnc.cpp - a compiler of somebody else -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NNDialect.h"

#include "moe/Bundle/EmitManifest.h"
#include "moe/Bundle/EmitPTX.h"
#include "moe/Pipelines/MoEToCPU.h"
#include "moe/Pipelines/MoEToPTX.h"
#include "moe/Pipelines/Registration.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Adds nnc's own pass, and then what makes `what` of a module with moe ops.
static void buildPipeline(OpPassManager &pm, StringRef what, StringRef arch) {
  pm.addNestedPass<func::FuncOp>(nn::createLowerMoEBlockPass());
  if (what == "moe")
    return;
  if (what == "llvm") {
    moe::buildMoEToCPUPipeline(pm, moe::MoEToCPUOptions());
    return;
  }
  moe::MoEToPTXOptions options;
  options.arch = arch.str();
  moe::buildMoEToPTXPipeline(pm, options);
}

static int usage() {
  llvm::errs() << "usage: nnc FILE.mlir moe|llvm|host|ptx|manifest [ARCH]\n";
  return 2;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return usage();
  StringRef what = argv[2], arch = argc > 3 ? argv[3] : "sm_90a";
  if (!llvm::is_contained({"moe", "llvm", "host", "ptx", "manifest"}, what))
    return usage();

  DialectRegistry registry;
  moe::registerAllDialectsAndInterfaces(registry);
  registry.insert<nn::NNDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argv[1], sources, &context);
  if (!module)
    return 1;
  PassManager pm(&context, ModuleOp::getOperationName());
  buildPipeline(pm, what, arch);
  if (failed(pm.run(*module)))
    return 1;
  if (what == "ptx")
    return failed(moe::emitPTX(*module, llvm::outs()));
  if (what == "manifest")
    return failed(moe::emitManifest(*module, llvm::outs()));
  module->print(llvm::outs());
  return 0;
}
