//===- Manifest.cpp - what a loader needs beside the PTX --------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Bundle/Manifest.h"
#include "LaunchList.h"
#include "moe/Bundle/EmitManifest.h"

#include "moe/MoE/BufferFacts.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::moe;

/// Marks the parameters that hold results, as bufferization names it.
static constexpr llvm::StringLiteral kResultAttr = "bufferize.result";

//===----------------------------------------------------------------------===//
// Which functions
//===----------------------------------------------------------------------===//

/// The function that `function` is a variant of, or itself.
static StringRef originOf(func::FuncOp function) {
  auto origin = function->getAttrOfType<StringAttr>(kVariantOf);
  return origin ? origin.getValue() : function.getSymName();
}

static TokenRange rangeOf(func::FuncOp function) {
  return tokenRange(function->getDiscardableAttr(kTokenRange))
      .value_or(TokenRange());
}

/// The variants of the only function with launches, by their ranges.
static FailureOr<SmallVector<func::FuncOp>> findVariants(Operation *module) {
  llvm::MapVector<StringRef, SmallVector<func::FuncOp>> functions;
  module->walk([&](func::FuncOp function) {
    bool launches = false;
    function.walk([&](gpu::LaunchFuncOp) { launches = true; });
    if (launches)
      functions[originOf(function)].push_back(function);
  });
  if (functions.size() != 1) {
    InFlightDiagnostic diag =
        emitError(module->getLoc(),
                  "a manifest describes one function with launches, but there "
                  "are ")
        << functions.size();
    if (functions.size() > 1)
      diag << "; moe-compile --function=NAME compiles one of them";
    for (auto &[name, variants] : functions)
      diag.attachNote(variants.front().getLoc()) << "@" << name << " is one";
    return diag;
  }
  SmallVector<func::FuncOp> variants = functions.front().second;
  llvm::stable_sort(variants, [](func::FuncOp a, func::FuncOp b) {
    return rangeOf(a).lo < rangeOf(b).lo;
  });
  for (size_t i = 1; i < variants.size(); ++i) {
    func::FuncOp a = variants[i - 1], b = variants[i];
    if (a.getFunctionType() != b.getFunctionType())
      return b.emitOpError("requires the arguments of the other variants of "
                           "the function")
                 .attachNote(a.getLoc())
             << "which has another type";
    if (!rangeOf(a).isBounded() || rangeOf(b).lo <= rangeOf(a).hi)
      return b.emitOpError("has a token range that overlaps with another "
                           "variant's")
                 .attachNote(a.getLoc())
             << "the other variant is here";
  }
  return variants;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Adds the strides of an argument that is not row-major.
static LogicalResult addStrides(func::FuncOp function, unsigned number,
                                Json &argument) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[number]);
  if (type.getLayout().isIdentity())
    return success();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return function.emitOpError("requires arguments with static strides and "
                                "offset 0, but #")
           << number << " is " << type;
  argument["strides"] = strides;
  return success();
}

static FailureOr<Json> describeArgument(ArrayRef<func::FuncOp> variants,
                                        unsigned number) {
  func::FuncOp function = variants.front();
  auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[number]);
  if (!type)
    return function.emitOpError("requires its arguments to be memrefs, but #")
           << number << " is " << function.getArgumentTypes()[number];
  Json argument = {{"type", typeName(type.getElementType())},
                   {"shape", Json::array()}};
  for (int64_t i : llvm::seq(type.getRank()))
    argument["shape"].push_back(argumentExtent(function, number, i));
  if (failed(addStrides(function, number, argument)))
    return failure();
  auto alignment = function.getArgAttrOfType<IntegerAttr>(number, kAlignment);
  argument["alignment"] = alignment ? alignment.getInt() : kDefaultAlignment;
  argument["result"] =
      static_cast<bool>(function.getArgAttr(number, kResultAttr));
  bool isWritten = llvm::any_of(variants, [&](func::FuncOp variant) {
    return static_cast<bool>(variant.getArgAttr(number, kWritten));
  });
  if (isWritten && !argument["result"])
    argument["written"] = true;
  auto description = function.getArgAttrOfType<ArgumentAttr>(number, kArgument);
  if (description && description.getRole()) {
    argument["input"] = {{"role", description.getRole().getValue().str()}};
    if (ExtentAttr bound = description.getBound())
      argument["input"]["bound"] = extentAsJson(bound);
  }
  return argument;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static Json tokensAsJson(func::FuncOp function) {
  std::optional<ArgumentExtent> tokens =
      tokensOf(cast<FunctionOpInterface>(function.getOperation()));
  if (!tokens)
    return Json();
  return Json::array({"dim", tokens->argument, tokens->dimension});
}

/// The chip that the kernels were compiled for; null before that.
static Json archOf(Operation *module) {
  Json arch;
  module->walk([&](gpu::BinaryOp binary) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
      if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget()))
        arch = target.getChip().str();
  });
  return arch;
}

FailureOr<Json> moe::buildManifest(Operation *module, StringRef ptxasVersion) {
  FailureOr<SmallVector<func::FuncOp>> variants = findVariants(module);
  if (failed(variants))
    return failure();
  func::FuncOp first = variants->front();
  Json manifest = {
      {"version", 2},
      {"function", originOf(first).str()},
      {"arch", archOf(module)},
      {"compiler",
       {{"moe", MOE_VERSION},
        {"llvm", LLVM_VERSION_STRING},
        {"ptxas", ptxasVersion.empty() ? Json() : Json(ptxasVersion.str())}}},
      {"tokens", Json()},
      {"arguments", Json::array()}};
  for (unsigned number : llvm::seq(first.getNumArguments())) {
    FailureOr<Json> argument = describeArgument(*variants, number);
    if (failed(argument))
      return failure();
    manifest["arguments"].push_back(*argument);
  }
  manifest["tokens"] = tokensAsJson(first);
  KernelTable kernels;
  Json list = Json::array();
  for (func::FuncOp function : *variants) {
    FailureOr<Json> launches = buildLaunchList(function, kernels);
    if (failed(launches))
      return failure();
    TokenRange range = rangeOf(function);
    Json variant = {
        {"tokens", {range.lo, range.isBounded() ? Json(range.hi) : Json()}}};
    variant.update(*launches);
    list.push_back(variant);
  }
  manifest["kernels"] = kernels.list;
  manifest["variants"] = list;
  return manifest;
}

/// The manifest, its variants and the lists in both over several lines, an
/// entry of a list on one.
static void print(const Json &value, unsigned indent, raw_ostream &os) {
  bool list = value.is_array() && !value.empty() && value.front().is_object();
  if (!list && !value.contains("launches") && !value.contains("variants")) {
    os << value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  os << (list ? '[' : '{') << '\n';
  for (auto it = value.begin(); it != value.end(); ++it) {
    os.indent(indent + 1);
    if (!list)
      os << Json(it.key()).dump(-1, ' ', false, Json::error_handler_t::replace)
         << ": ";
    print(*it, indent + 1, os);
    os << (std::next(it) == value.end() ? "\n" : ",\n");
  }
  os.indent(indent) << (list ? ']' : '}');
}

void moe::printManifest(const Json &manifest, raw_ostream &os) {
  print(manifest, 0, os);
  os << "\n";
}

LogicalResult moe::emitManifest(Operation *module, raw_ostream &os) {
  FailureOr<Json> manifest = buildManifest(module);
  if (failed(manifest))
    return failure();
  printManifest(*manifest, os);
  return success();
}
