//===- DescribeArguments.cpp - what callers have to know --------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves the extents of a function with a symbol for each that nothing else
// says, then names every symbol after the first argument that has it:
//
//   func.func @f(%x: tensor<?x64xbf16>, %ids: tensor<?x8xi32>)
//   -> @f(%x: ... {moe.argument = #moe.argument<shape = [dim(0, 0), 64], ...>},
//         %ids: ... {moe.argument = #moe.argument<shape = [dim(0, 0), 8],
//         ...>})
//
// On tensors, after inlining: bufferization keeps the attributes but not the
// ops that tell.
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/InputPlan.h"
#include "moe/Execution/ShapeSolver.h"
#include "moe/MoE/FunctionAttributes.h"
#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::moe {
#define GEN_PASS_DEF_DESCRIBEARGUMENTSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
/// Writes the attributes of one function.
class Describer {
public:
  explicit Describer(func::FuncOp function)
      : function(function), solver(function) {}

  void run();

private:
  /// Finds an argument for each symbol.
  void nameSymbols();
  /// `extent` in terms of the arguments, or null.
  ExtentAttr express(std::optional<Extent> extent);
  /// Extent `i` of `value`, which is or becomes argument `number`.
  ExtentAttr describe(Value value, int64_t number, int64_t i);
  ArgumentAttr describe(Value value, int64_t number);
  void addRole(ArgumentAttr &description, unsigned argument);

  func::FuncOp function;
  ShapeSolver solver;
  DenseMap<unsigned, ArgumentExtent> names;
};

struct DescribeArguments
    : moe::impl::DescribeArgumentsPassBase<DescribeArguments> {
  using DescribeArgumentsPassBase::DescribeArgumentsPassBase;

  void runOnOperation() override {
    getOperation()->walk([](func::FuncOp function) {
      WalkResult found = function.walk([](Operation *op) {
        return isa_and_nonnull<MoEDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (found.wasInterrupted())
        Describer(function).run();
    });
  }
};
} // namespace

/// The number of dimensions; 0 for what is no ranked tensor or memref.
static int64_t rankOf(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.hasRank() ? type.getRank() : 0;
}

void Describer::nameSymbols() {
  for (BlockArgument argument : function.getArguments())
    for (int64_t i = 0, e = rankOf(argument); i < e; ++i) {
      std::optional<Extent> extent = solver.extent(argument, i);
      if (extent && extent->factor() == 1 && extent->offset() == 0)
        names.try_emplace(extent->symbol(),
                          ArgumentExtent{argument.getArgNumber(), i});
    }
}

ExtentAttr Describer::express(std::optional<Extent> extent) {
  if (!extent)
    return {};
  MLIRContext *context = function.getContext();
  if (extent->isNumber())
    return ExtentAttr::get(context, 0, 0, 0, extent->offset());
  auto name = names.find(extent->symbol());
  if (name == names.end())
    return {};
  return ExtentAttr::get(context, extent->factor(), name->second.argument,
                         name->second.dimension, extent->offset());
}

ExtentAttr Describer::describe(Value value, int64_t number, int64_t i) {
  std::optional<Extent> extent = solver.extent(value, i);
  if (ExtentAttr known = express(extent))
    return known;
  // No argument has the symbol itself: the first with this multiple is free.
  if (extent)
    for (BlockArgument argument : function.getArguments())
      for (int64_t d = 0, e = rankOf(argument); d < e; ++d)
        if (solver.extent(argument, d) == extent)
          return ExtentAttr::get(function.getContext(), 1,
                                 argument.getArgNumber(), d, 0);
  return ExtentAttr::get(function.getContext(), 1, number, i, 0);
}

ArgumentAttr Describer::describe(Value value, int64_t number) {
  SmallVector<ExtentAttr> shape;
  for (int64_t i = 0, e = rankOf(value); i < e; ++i)
    shape.push_back(describe(value, number, i));
  return ArgumentAttr::get(function.getContext(), shape, StringAttr(),
                           ExtentAttr());
}

void Describer::addRole(ArgumentAttr &description, unsigned argument) {
  auto type = cast<ShapedType>(function.getArgumentTypes()[argument]);
  bool isFloat = isa<FloatType>(type.getElementType());
  std::optional<InputUse> use = inputUse(function, argument, solver);
  ExtentAttr bound = use ? express(use->bound) : ExtentAttr();
  bool fits = bound && (use->role == InputRole::Weight) == isFloat;
  if (!fits && !isFloat)
    return;
  StringRef role = inputRoleName(fits ? use->role : InputRole::Uniform);
  description = ArgumentAttr::get(function.getContext(), description.getShape(),
                                  StringAttr::get(function.getContext(), role),
                                  fits ? bound : nullptr);
}

void Describer::run() {
  solver.solveWithSymbols();
  nameSymbols();
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto type = dyn_cast<ShapedType>(argument.getType());
    if (!type || !type.hasRank())
      continue;
    ArgumentAttr description = describe(argument, number);
    addRole(description, number);
    function.setArgAttr(number, kArgument, description);
  }
  if (!function.getBody().hasOneBlock())
    return;
  int64_t number = function.getNumArguments();
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (isa<ShapedType>(value.getType()))
      function.setResultAttr(i, kArgument, describe(value, number++));
}
