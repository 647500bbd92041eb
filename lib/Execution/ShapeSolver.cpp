//===- ShapeSolver.cpp - find the dynamic extents of a function -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/ShapeSolver.h"

#include "ShapeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

SmallVector<func::FuncOp> moe::reachableFunctions(func::FuncOp function) {
  llvm::SmallSetVector<func::FuncOp, 4> reached;
  reached.insert(function);
  for (size_t i = 0; i < reached.size(); ++i) {
    func::FuncOp caller = reached[i];
    caller.walk([&](func::CallOp call) {
      auto callee = dyn_cast_or_null<func::FuncOp>(
          SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
      if (callee && callee.getBody().hasOneBlock())
        reached.insert(callee);
    });
  }
  return llvm::to_vector(reached);
}

ShapeSolver::ShapeSolver(func::FuncOp function)
    : functions(reachableFunctions(function)) {
  for (func::FuncOp caller : functions)
    caller.walk([&](func::CallOp call) {
      if (Operation *callee =
              SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()))
        callers[callee].push_back(call);
    });
}

std::optional<Extent> ShapeSolver::get(Value value, unsigned i) const {
  if (i == kScalar) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
  } else if (auto type = dyn_cast<ShapedType>(value.getType())) {
    if (!type.hasRank() || i >= type.getRank())
      return std::nullopt;
    if (!type.isDynamicDim(i))
      return type.getDimSize(i);
  }
  auto found = known.find({value, i});
  if (found == known.end())
    return std::nullopt;
  return found->second;
}

void ShapeSolver::set(Value value, unsigned i, Extent extent) {
  bool negative = extent.isNumber() && *extent.number() < 0;
  if (std::optional<Extent> before = get(value, i)) {
    bool differs = before->isNumber() && extent.isNumber() &&
                   *before->number() != *extent.number();
    if (differs && i != kScalar && !contradiction)
      contradiction = {value, i, *before->number(), *extent.number()};
    return;
  }
  if (i != kScalar && negative)
    return;
  known.insert({{value, i}, extent});
  news.push_back(value);
}

void ShapeSolver::setShape(Value tensor, ArrayRef<int64_t> shape) {
  for (auto [i, extent] : llvm::enumerate(shape))
    set(tensor, i, extent);
}

void ShapeSolver::setScalar(Value value, int64_t number) {
  set(value, kScalar, number);
}

std::optional<Extent> ShapeSolver::extent(Value tensor, unsigned i) const {
  return get(tensor, i);
}

std::optional<int64_t> ShapeSolver::dim(Value tensor, unsigned i) const {
  std::optional<Extent> extent = get(tensor, i);
  return extent ? extent->number() : std::nullopt;
}

std::optional<int64_t> ShapeSolver::scalar(Value value) const {
  return dim(value, kScalar);
}

std::optional<SmallVector<int64_t>> ShapeSolver::shape(Value tensor) const {
  SmallVector<int64_t> extents;
  auto type = dyn_cast<ShapedType>(tensor.getType());
  for (int64_t i = 0, e = type ? type.getRank() : 0; i < e; ++i) {
    std::optional<int64_t> extent = dim(tensor, i);
    if (!extent)
      return std::nullopt;
    extents.push_back(*extent);
  }
  return extents;
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

void ShapeSolver::apply(ShapeRules &rules, Operation *op) const {
  if (followCalls || !isa<func::CallOp>(op))
    rules.apply(op);
}

void ShapeSolver::applyAround(ShapeRules &rules, Value value) const {
  auto applyToCallers = [&](Operation *function) {
    if (auto calls = callers.find(function); calls != callers.end())
      for (func::CallOp call : calls->second)
        apply(rules, call);
  };
  if (Operation *op = value.getDefiningOp())
    apply(rules, op);
  else if (value.getParentBlock()->isEntryBlock())
    applyToCallers(value.getParentBlock()->getParentOp());
  for (Operation *user : value.getUsers()) {
    apply(rules, user);
    if (isa<func::ReturnOp>(user))
      applyToCallers(user->getParentOp());
  }
}

void ShapeSolver::solve() {
  ShapeRules rules(*this);
  if (!allApplied)
    for (func::FuncOp function : functions)
      function.walk([&](Operation *op) { apply(rules, op); });
  allApplied = true;
  // From here on only what something new is said about can say something new.
  for (size_t i = 0; i < news.size(); ++i)
    applyAround(rules, news[i]);
  news.clear();
}

/// Whether a function among `functions` is called more than once.
static bool callsTwice(ArrayRef<func::FuncOp> functions) {
  llvm::StringMap<int> calls;
  bool twice = false;
  for (func::FuncOp function : functions)
    function.walk(
        [&](func::CallOp call) { twice |= ++calls[call.getCallee()] > 1; });
  return twice;
}

/// "operand 2" or "result 0": which value of `op` it is.
static std::string nameOf(Value value, Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == value)
      return ("operand " + Twine(operand.getOperandNumber())).str();
  if (auto result = dyn_cast<OpResult>(value))
    return ("result " + Twine(result.getResultNumber())).str();
  return "an argument";
}

LogicalResult ShapeSolver::check() {
  solve();
  if (callsTwice(functions))
    return success();
  ShapeRules rules(*this);
  for (func::FuncOp function : functions)
    for (Operation &op : function.getBody().front()) {
      contradiction.reset();
      if (!isa<func::CallOp>(op))
        rules.apply(&op);
      if (!contradiction)
        continue;
      auto [value, i, known, wanted] = *contradiction;
      InFlightDiagnostic error = op.emitOpError("requires extent ")
                                 << i << " of " << nameOf(value, &op) << ", "
                                 << value.getType() << ", to be " << wanted
                                 << " at run time, but it is " << known;
      if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
        error.attachNote(empty.getLoc()) << "made here";
      return error;
    }
  return success();
}

std::optional<int64_t> ShapeSolver::tokens() {
  ShapeRules rules(*this);
  for (ShapeRules::Rows rows : {ShapeRules::Rows::OfTokens,
                                ShapeRules::Rows::OfIds, ShapeRules::Rows::Any})
    for (func::FuncOp function : functions) {
      std::optional<ShapeRules::Dim> first;
      function.walk([&](Operation *op) {
        first = rules.rowDim(op, rows);
        return first ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (first)
        return dim(first->value, first->i);
    }
  return std::nullopt;
}

void ShapeSolver::solveWithTokens(int64_t tokens) {
  solve();
  ShapeRules rules(*this);
  for (ShapeRules::Rows rows : {ShapeRules::Rows::OfTokens,
                                ShapeRules::Rows::OfIds, ShapeRules::Rows::Any})
    for (func::FuncOp function : functions)
      function.walk([&](Operation *op) {
        if (std::optional<ShapeRules::Dim> dim = rules.rowDim(op, rows)) {
          set(dim->value, dim->i, tokens);
          solve();
        }
      });
  // A row table that only arguments hold takes the size that fits any routing.
  for (func::FuncOp function : functions)
    function.walk([&](Operation *op) {
      rules.applyWorstCaseRows(op);
      solve();
    });
}

void ShapeSolver::solveWithSymbols() {
  functions.resize(1);
  followCalls = false;
  func::FuncOp function = functions.front();
  unsigned symbols = 0;
  auto assume = [&](Value value, unsigned i) {
    if (get(value, i))
      return;
    set(value, i, Extent::symbol(symbols++));
    solve();
  };
  solve();
  ShapeRules rules(*this);
  for (ShapeRules::Rows rows : {ShapeRules::Rows::OfTokens,
                                ShapeRules::Rows::OfIds, ShapeRules::Rows::Any})
    function.walk([&](Operation *op) {
      if (std::optional<ShapeRules::Dim> dim = rules.rowDim(op, rows))
        assume(dim->value, dim->i);
    });
  for (Value argument : function.getArguments())
    if (auto type = dyn_cast<ShapedType>(argument.getType()))
      for (int64_t i = 0, e = type.hasRank() ? type.getRank() : 0; i < e; ++i)
        assume(argument, i);
}
