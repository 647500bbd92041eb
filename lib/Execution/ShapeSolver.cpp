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
    : functions(reachableFunctions(function)) {}

std::optional<int64_t> ShapeSolver::get(Value value, unsigned i) const {
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

void ShapeSolver::set(Value value, unsigned i, int64_t number) {
  if (get(value, i) || (i != kScalar && number < 0))
    return;
  known[{value, i}] = number;
  changed = true;
}

void ShapeSolver::setShape(Value tensor, ArrayRef<int64_t> shape) {
  for (auto [i, extent] : llvm::enumerate(shape))
    set(tensor, i, extent);
}

std::optional<int64_t> ShapeSolver::dim(Value tensor, unsigned i) const {
  return get(tensor, i);
}

std::optional<int64_t> ShapeSolver::scalar(Value value) const {
  return get(value, kScalar);
}

std::optional<SmallVector<int64_t>> ShapeSolver::shape(Value tensor) const {
  SmallVector<int64_t> extents;
  auto type = dyn_cast<ShapedType>(tensor.getType());
  for (int64_t i = 0, e = type ? type.getRank() : 0; i < e; ++i) {
    std::optional<int64_t> extent = get(tensor, i);
    if (!extent)
      return std::nullopt;
    extents.push_back(*extent);
  }
  return extents;
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

void ShapeSolver::solve() {
  ShapeRules rules(*this);
  do {
    changed = false;
    for (func::FuncOp function : functions)
      function.walk([&](Operation *op) { rules.apply(op); });
  } while (changed);
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
