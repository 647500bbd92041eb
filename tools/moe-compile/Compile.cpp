//===- Compile.cpp - from a module to the parts of a bundle -----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "moe/Pipelines/MoEToPTX.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Token ranges
//===----------------------------------------------------------------------===//

std::optional<SmallVector<TokenRange>>
moe::parseTokenRanges(StringRef text, std::string &error) {
  SmallVector<TokenRange> ranges;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [lo, hi] = part.trim().split('-');
    TokenRange range;
    bool open = part.trim().ends_with("-");
    if (lo.getAsInteger(10, range.lo) ||
        (!open && hi.getAsInteger(10, range.hi)) || range.lo < 0 ||
        (!open && range.hi < range.lo)) {
      error = ("'" + part +
               "' is no range such as 1-16, or 129- without an "
               "upper end")
                  .str();
      return std::nullopt;
    }
    if (ranges.empty() && range.lo > 1) {
      error = ("the first range has to start at 0 or 1, but starts at " +
               Twine(range.lo))
                  .str();
      return std::nullopt;
    }
    if (!ranges.empty() &&
        (!ranges.back().isBounded() || range.lo <= ranges.back().hi)) {
      error = ("'" + part + "' overlaps with the range before it").str();
      return std::nullopt;
    }
    ranges.push_back(range);
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
/// Writes the module after every pass into its own file.
class IRDumper : public PassInstrumentation {
public:
  explicit IRDumper(const BundleFolder &folder) : folder(folder) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    // A list of nested passes is itself a pass without an argument.
    if (pass->getArgument().empty())
      return;
    while (Operation *parent = op->getParentOp())
      op = parent;
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os, OpPrintingFlags().assumeVerified());
    os << "\n";
    std::string name =
        llvm::formatv("ir/{0,0+2}-{1}.mlir", ++count, pass->getArgument());
    if (llvm::Error error = folder.write(name, text))
      emitWarning(op->getLoc()) << llvm::toString(std::move(error));
  }

private:
  const BundleFolder &folder;
  int count = 0;
};
} // namespace

/// Leaves of the module what `function` needs.
static void isolate(ModuleOp module, func::FuncOp function) {
  for (auto other : module.getOps<func::FuncOp>())
    other.setVisibility(other == function ? SymbolTable::Visibility::Public
                                          : SymbolTable::Visibility::Private);
}

LogicalResult moe::compileFunction(ModuleOp module, func::FuncOp function,
                                   const CompileOptions &options,
                                   const BundleFolder &folder) {
  isolate(module, function);
  PassManager pm(module.getContext());
  if (options.dumpIR)
    pm.addInstrumentation(std::make_unique<IRDumper>(folder));
  // What the function calls becomes part of it, everything else goes.
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  MoEToPTXOptions pipeline;
  pipeline.arch = options.arch;
  pipeline.automaticTokenRanges = options.automaticRanges;
  buildMoEToPTXPipeline(pm, pipeline);
  return pm.run(module);
}
