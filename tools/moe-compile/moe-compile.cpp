//===- moe-compile.cpp - a layer as a bundle --------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundleFolder.h"
#include "Compile.h"
#include "Ptxas.h"
#include "Summary.h"

#include "moe/Bundle/EmitPTX.h"
#include "moe/Bundle/Manifest.h"
#include "moe/Pipelines/CheckNesting.h"
#include "moe/Pipelines/FindFunction.h"
#include "moe/Pipelines/Registration.h"
#include "moe/Target/Target.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Remark/RemarkStreamer.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <chrono>

using namespace mlir;
using namespace mlir::moe;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct Options {
  cl::OptionCategory category{"moe-compile options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("LAYER.mlir"),
                            cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::value_desc("DIR"), cl::cat(category),
                              cl::desc("Folder to write; an older bundle there "
                                       "is replaced. Required")};
  cl::opt<std::string> function{
      "function", cl::value_desc("name"), cl::cat(category),
      cl::desc("Function to compile. Default: the only public one, else "
               "@layer. What it calls becomes part of it")};
  cl::opt<std::string> arch{
      "arch", cl::value_desc("chip"), cl::init("sm_90a"), cl::cat(category),
      cl::desc("sm_80, sm_89, sm_90 or sm_90a. Default: sm_90a")};
  cl::opt<std::string> ranges{
      "token-ranges", cl::value_desc("automatic|none|1-16,17-128,129-"),
      cl::init("automatic"), cl::cat(category),
      cl::desc("A variant of the kernels for each range of numbers of tokens: "
               "as the cost model finds them, one for all, or these. Default: "
               "what the function says in moe.token_ranges, else automatic")};
  cl::opt<std::string> ptxas{
      "ptxas", cl::value_desc("auto|none|PATH"), cl::init("auto"),
      cl::cat(category),
      cl::desc("Assemble kernels.cubin as well. Default: auto, with the ptxas "
               "of CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda, if any")};
  cl::opt<bool> dumpIR{
      "dump-ir", cl::cat(category),
      cl::desc("Write the IR after each pass to ir/NN-pass.mlir")};
  cl::opt<bool> json{"json", cl::cat(category),
                     cl::desc("Print the summary as JSON")};
  cl::opt<bool> quiet{"quiet", cl::cat(category),
                      cl::desc("Print no summary, only warnings and errors")};
};
} // namespace

static constexpr StringLiteral kOverview =
    "compile a function of moe ops for GPUs, ahead of time\n";

static constexpr StringLiteral kMoreHelp = R"(
Examples:
  moe-compile layer.mlir -o layer.bundle
      @layer for a Hopper GPU and any number of tokens
  moe-compile model.mlir --function=mlp -o mlp.bundle --arch=sm_80
      another function of a file, for an A100
  moe-compile layer.mlir -o layer.bundle --token-ranges=1-16,17-256
      two variants; calls with more than 256 tokens are refused
  moe-compile layer.mlir -o layer.bundle --dump-ir --ptxas=none
      to look at every stage, without NVIDIA's assembler

The folder holds
  kernels.ptx     every kernel once, each headed by a comment
  kernels.cubin   the same, assembled, where ptxas was found
  manifest.json   arguments, workspace, launches: include/moe/Bundle/Manifest.h
  remarks.yaml    why each schedule was chosen, what was fused, and what was not
  ir/             with --dump-ir: the IR after each pass
and nothing is compiled when it is used: libmoe_runtime or moe-exec loads it.
The folder appears as a whole at the end; where compiling fails, what was there
before stays.

Exit status: 0 the bundle is there, 1 error.
)";

static LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "moe-compile") << message << "\n";
  return failure();
}

static LogicalResult fail(llvm::Error error) {
  return fail(llvm::toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Puts what --token-ranges says in place of the function's own attribute.
static LogicalResult applyTokenRanges(const Options &options,
                                      func::FuncOp function) {
  if (options.ranges == "automatic")
    return success();
  function->removeAttr(kTokenRanges);
  if (options.ranges == "none")
    return success();
  std::string error;
  auto ranges = parseTokenRanges(options.ranges, error);
  if (!ranges)
    return fail("--token-ranges: " + error);
  if (!tokensOf(cast<FunctionOpInterface>(*function)))
    return fail("--token-ranges: @" + function.getName() +
                " has static extents only, so there are no numbers of tokens "
                "to tell apart; use --token-ranges=none");
  SmallVector<Attribute> attrs;
  for (TokenRange range : *ranges)
    attrs.push_back(tokenRangeAttr(function.getContext(), range));
  function->setAttr(kTokenRanges, ArrayAttr::get(function.getContext(), attrs));
  return success();
}

/// Sends the remarks of every pass of the project to `file`.
static LogicalResult writeRemarks(MLIRContext &context, StringRef file) {
  // A kind of remark without a pattern of its own is off, whatever `all` says.
  const std::string ours = "moe-.*";
  remark::RemarkCategories categories{ours, ours, ours, ours, ours};
  return remark::enableOptimizationRemarksWithLLVMStreamer(
      context, file, llvm::remarks::Format::YAML,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Assembles the PTX of the folder where there is an assembler.
static LogicalResult assemble(const Options &options,
                              const BundleFolder &folder, Summary &summary) {
  if (options.ptxas == "none")
    return success();
  std::string ptxas =
      options.ptxas == "auto" ? findPtxas() : options.ptxas.getValue();
  if (ptxas.empty())
    return success();
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::string> ptx = folder.place("kernels.ptx");
  llvm::Expected<std::string> cubin = folder.place("kernels.cubin");
  if (!ptx || !cubin)
    return fail(llvm::joinErrors(ptx.takeError(), cubin.takeError()));
  auto report = runPtxas(ptxas, options.arch, *ptx, *cubin);
  if (!report)
    return fail(llvm::toString(report.takeError()) +
                "\n--ptxas=PATH takes another one, --ptxas=none leaves "
                "kernels.cubin out");
  summary.warnings.insert(summary.warnings.end(), report->warnings.begin(),
                          report->warnings.end());
  summary.ptxas = std::move(*report);
  summary.ptxasSeconds = secondsSince(start);
  return success();
}

/// Writes PTX, cubin and manifest of the lowered module.
static LogicalResult writeParts(const Options &options, ModuleOp module,
                                const BundleFolder &folder, Summary &summary) {
  std::string ptx;
  llvm::raw_string_ostream os(ptx);
  if (failed(emitPTX(module, os)))
    return failure();
  if (llvm::Error error = folder.write("kernels.ptx", ptx))
    return fail(std::move(error));
  // The launch list comes first: what is wrong with it has a place.
  FailureOr<nlohmann::ordered_json> manifest = buildManifest(module);
  if (failed(manifest) || failed(assemble(options, folder, summary)))
    return failure();
  if (summary.ptxas)
    (*manifest)["compiler"]["ptxas"] = summary.ptxas->version;
  std::string text;
  llvm::raw_string_ostream json(text);
  printManifest(*manifest, json);
  if (llvm::Error error = folder.write("manifest.json", text))
    return fail(std::move(error));
  summary.manifest = std::move(*manifest);
  return success();
}

/// Everything between the parsed module and the finished folder.
static LogicalResult makeBundle(const Options &options, ModuleOp module,
                                BundleFolder &folder, Summary &summary) {
  std::string error;
  func::FuncOp function =
      findFunction(module, options.file, options.function, error);
  if (!function)
    return fail(error);
  if (failed(applyTokenRanges(options, function)))
    return failure();
  MLIRContext &context = *module.getContext();
  llvm::Expected<std::string> remarks = folder.place("remarks.yaml");
  if (!remarks)
    return fail(remarks.takeError());
  if (failed(writeRemarks(context, *remarks)))
    return fail("cannot write " + *remarks);
  CompileOptions compile;
  compile.arch = options.arch;
  compile.automaticRanges = options.ranges == "automatic";
  compile.dumpIR = options.dumpIR;
  auto start = std::chrono::steady_clock::now();
  LogicalResult compiled = compileFunction(module, function, compile, folder);
  context.setRemarkEngine(nullptr); // closes the file
  if (failed(compiled))
    return failure();
  summary.compileSeconds = secondsSince(start);
  return writeParts(options, module, folder, summary);
}

static LogicalResult run(const Options &options, DialectRegistry &registry) {
  if (options.output.empty())
    return fail("no folder to write; give it with -o DIR");
  if (!lookupTarget(options.arch))
    return fail("--arch=" + options.arch + " is none of " + supportedArchs());
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(options.file, &error);
  if (!input)
    return fail(error);
  if (failed(checkNesting(*input)))
    return failure();
  llvm::Expected<BundleFolder> folder = BundleFolder::create(options.output);
  if (!folder)
    return fail(folder.takeError());

  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  Summary summary;
  summary.folder = folder->path().str();
  if (!module || failed(makeBundle(options, *module, *folder, summary)))
    return failure();
  if (llvm::Error failed = folder->commit())
    return fail(std::move(failed));
  if (options.json) {
    summary.printJson(llvm::outs());
  } else if (!options.quiet) {
    summary.print(llvm::outs());
  } else {
    for (const std::string &text : summary.warnings)
      llvm::WithColor::warning(llvm::errs(), "moe-compile") << text << "\n";
  }
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::extrahelp moreHelp(kMoreHelp);
  setVersionPrinter();
  cl::ParseCommandLineOptions(argc, argv, kOverview);

  DialectRegistry registry;
  moe::registerAllDialectsAndInterfaces(registry);
  return failed(run(options, registry)) ? 1 : 0;
}
