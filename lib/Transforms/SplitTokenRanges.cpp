//===- SplitTokenRanges.cpp - a variant for each range of tokens -*- C++-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One schedule cannot be the best for one token and for thousands. Before:
//
//   func.func @layer(...) attributes {moe.token_ranges = [[1, 16], [17, -1]]}
//
// after:
//
//   func.func @layer_t1_16(...)
//     attributes {moe.token_range = [1, 16], moe.variant_of = "layer"}
//   func.func @layer_t17_up(...)
//     attributes {moe.token_range = [17, -1], moe.variant_of = "layer"}
//
// Right before moe-select-schedule: everything earlier is done once. The
// manifest puts the variants together again.
//
//===----------------------------------------------------------------------===//

#include "GemmProblems.h"

#include "moe/MoE/FunctionAttributes.h"
#include "moe/Target/Target.h"
#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mlir::moe {
#define GEN_PASS_DEF_SPLITTOKENRANGESPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
struct SplitTokenRanges
    : moe::impl::SplitTokenRangesPassBase<SplitTokenRanges> {
  using SplitTokenRangesPassBase::SplitTokenRangesPassBase;

  void runOnOperation() override;
  /// The ranges that the cost model finds; none where one choice serves all.
  SmallVector<TokenRange> automaticRanges(func::FuncOp function,
                                          const Target &target);
  LogicalResult split(func::FuncOp function, ArrayRef<TokenRange> ranges,
                      StringRef why);
};
} // namespace

static remark::RemarkOpts remarkOptions() {
  return remark::RemarkOpts::name("split").category("moe-token-ranges");
}

/// "1 to 16", "17 and more".
static std::string text(TokenRange range) {
  std::string lo = std::to_string(range.lo);
  return range.isBounded() ? lo + " to " + std::to_string(range.hi)
                           : lo + " and more";
}

static SmallVector<TokenRange> writtenRanges(func::FuncOp function) {
  SmallVector<TokenRange> ranges;
  if (auto list = function->getAttrOfType<ArrayAttr>(kTokenRanges))
    for (Attribute pair : list)
      ranges.push_back(*tokenRange(pair)); // verified
  return ranges;
}

SmallVector<TokenRange>
SplitTokenRanges::automaticRanges(func::FuncOp function, const Target &target) {
  bool isVariant = function->hasAttr(kTokenRange);
  if (isVariant || !tokensOf(cast<FunctionOpInterface>(*function)))
    return {};
  std::vector<TokenProblems> groups;
  for (GemmGroup &group : undecidedGemms(function))
    groups.push_back(group.problems);
  if (groups.empty())
    return {};
  std::vector<TokenRange> ranges = chooseTokenRanges(groups, target, tokens);
  if (ranges.size() > 1)
    return {ranges.begin(), ranges.end()};
  remark::analysis(function.getLoc(), remarkOptions())
      << ("@" + function.getSymName() +
          " stays whole: one choice of schedules serves any number of tokens")
             .str();
  return {};
}

LogicalResult SplitTokenRanges::split(func::FuncOp function,
                                      ArrayRef<TokenRange> ranges,
                                      StringRef why) {
  auto uses = SymbolTable::getSymbolUses(function, getOperation());
  if (uses && !uses->empty())
    return function
               .emitOpError("is called, so it cannot be replaced by variants "
                            "for ranges of tokens; inline the call or put '")
               .append(kTokenRanges, "' on the caller")
               .attachNote(uses->begin()->getUser()->getLoc())
           << "called here";
  SymbolTable symbols(getOperation());
  std::string list;
  for (TokenRange range : ranges) {
    func::FuncOp variant = function.clone();
    variant->removeAttr(kTokenRanges);
    variant->setAttr(kTokenRange, tokenRangeAttr(&getContext(), range));
    variant->setAttr(kVariantOf, function.getSymNameAttr());
    std::string hi = range.isBounded() ? std::to_string(range.hi) : "up";
    variant.setSymName(
        (function.getSymName() + "_t" + Twine(range.lo) + "_" + hi).str());
    symbols.insert(variant, function->getIterator());
    list += (list.empty() ? "" : ", ") + text(range);
  }
  remark::passed(function.getLoc(), remarkOptions())
      << ("@" + function.getSymName() + " has " + Twine(ranges.size()) +
          (ranges.size() == 1 ? " variant" : " variants") + ", for " + list +
          " tokens, " + why)
             .str();
  symbols.erase(function);
  return success();
}

void SplitTokenRanges::runOnOperation() {
  const Target *target = lookupTarget(getOperation().getLoc(), arch);
  if (!target)
    return signalPassFailure();
  if (tokens < 1 || tokens > std::numeric_limits<int32_t>::max()) {
    emitError(getOperation().getLoc(), "moe-split-token-ranges requires tokens "
                                       "to be in [1, 2147483647], but got ")
        << static_cast<int64_t>(tokens);
    return signalPassFailure();
  }
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp function : functions) {
    if (function.isExternal())
      continue;
    SmallVector<TokenRange> ranges = writtenRanges(function);
    bool written = !ranges.empty();
    if (!written && automatic)
      ranges = automaticRanges(function, *target);
    StringRef why = written ? "as written" : "where the cost model changes";
    if (!ranges.empty() && failed(split(function, ranges, why)))
      return signalPassFailure();
  }
}
