//===- moe-opt.cpp - the optimizer driver -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Bundle/EmitManifest.h"
#include "moe/Bundle/EmitPTX.h"
#include "moe/Pipelines/CheckNesting.h"
#include "moe/Pipelines/Registration.h"

#include "mlir/InitAllPasses.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {
enum class Emit { IR, PTX, Manifest };

/// Last pass of a run that prints something else than IR.
struct EmitPass : PassWrapper<EmitPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitPass)

  EmitPass(Emit what, raw_ostream &os) : what(what), os(os) {}
  StringRef getName() const override { return "emit"; }
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto emit = what == Emit::PTX ? moe::emitPTX : moe::emitManifest;
    if (failed(emit(getOperation(), os)))
      signalPassFailure();
  }

  Emit what;
  raw_ostream &os;
};
} // namespace

static constexpr const char *kOverview =
    "MoE layer compiler: runs passes over moe IR.\n\n"
    "  moe-opt layer.mlir                                parse and verify\n"
    "  moe-opt layer.mlir --moe-to-ptx --emit=ptx        PTX for sm_90a\n"
    "  moe-opt layer.mlir --moe-to-ptx='arch=sm_80 tokens=16' --emit=ptx\n"
    "  moe-opt layer.mlir --moe-to-ptx --emit=manifest   the launch list\n"
    "  moe-opt layer.mlir --moe-to-cta                   kernels as cta ops\n"
    "  moe-opt layer.mlir --moe-to-cpu                   code for the CPU\n"
    "  moe-opt layer.mlir --moe-to-ptx --remarks-filter='moe.*'   why\n\n"
    "--moe-to-cta, --moe-to-nvvm and --moe-to-ptx take options, separated by\n"
    "blanks: arch=sm_80|sm_89|sm_90|sm_90a (default sm_90a), tokens=N, the\n"
    "number of tokens that schedules are chosen for. More: docs/howto-ptx.md\n"
    "Input is text or MLIR bytecode; read bytecode only from those you "
    "trust.\n";

/// As MlirOptMain, with the choice of what to print.
static LogicalResult run(StringRef inputName, StringRef outputName, Emit emit,
                         DialectRegistry &registry) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  if (!input) {
    llvm::errs() << "moe-opt: " << error << "\n";
    return failure();
  }
  if (failed(moe::checkNesting(*input)))
    return failure();
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputName, &error);
  if (!output) {
    llvm::errs() << "moe-opt: " << error << "\n";
    return failure();
  }

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (emit == Emit::IR) {
    if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
      return failure();
    output->keep();
    return success();
  }
  MlirOptMainConfig emitting = config;
  emitting.setPassPipelineSetupFn([&](PassManager &pm) -> LogicalResult {
    if (failed(config.setupPassPipeline(pm)))
      return failure();
    pm.addPass(std::make_unique<EmitPass>(emit, output->os()));
    return success();
  });
  if (failed(MlirOptMain(llvm::nulls(), std::move(input), registry, emitting)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  moe::registerAllDialectsAndInterfaces(registry);
  registerAllPasses();
  moe::registerPassesAndPipelines();

  llvm::cl::opt<Emit> emit(
      "emit", llvm::cl::desc("What to print"), llvm::cl::init(Emit::IR),
      llvm::cl::values(
          clEnumValN(Emit::IR, "ir", "the IR after the last pass"),
          clEnumValN(Emit::PTX, "ptx",
                     "the PTX that moe-to-ptx made, and nothing else"),
          clEnumValN(Emit::Manifest, "manifest",
                     "the launch list of the function as JSON")));
  // Errors name the op and the place; the whole op on top, often a module,
  // hides them. A user who wants it says so.
  SmallVector<char *> args(argv, argv + argc);
  std::string quiet = "--mlir-print-op-on-diagnostic=false";
  if (llvm::none_of(args, [](StringRef arg) {
        return arg.contains("mlir-print-op-on-diagnostic");
      }))
    args.insert(args.begin() + 1, quiet.data());
  moe::setVersionPrinter();
  auto [inputName, outputName] = registerAndParseCLIOptions(
      static_cast<int>(args.size()), args.data(), kOverview, registry);
  return asMainReturnCode(run(inputName, outputName, emit, registry));
}
