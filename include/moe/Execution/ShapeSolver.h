//===- ShapeSolver.h - find the dynamic extents of a function -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extents that a type leaves open follow from others: by the shape rules of the
// moe ops, by tensor.dim and the arithmetic on it, by casts, slices, reshapes
// and calls. The solver carries what is known forwards and backwards until
// nothing new follows. With numbers it says how large a call is, with symbols
// how the extents of every call hang together.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_SHAPESOLVER_H
#define MOE_EXECUTION_SHAPESOLVER_H

#include "moe/Execution/Extent.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mlir::moe {

class ShapeRules;

/// `function` and the functions it calls, directly or not, that have a body of
/// one block.
SmallVector<func::FuncOp> reachableFunctions(func::FuncOp function);

class ShapeSolver {
public:
  /// Looks at `function` and the functions it calls. A function called several
  /// times counts as called with the same extents.
  explicit ShapeSolver(func::FuncOp function);

  /// States extents that are known, such as those of a file. What contradicts
  /// earlier knowledge is ignored; `check` tells.
  void setShape(Value tensor, ArrayRef<int64_t> shape);
  /// States the value of an index or integer scalar.
  void setScalar(Value value, int64_t number);
  /// Carries on what is known.
  void solve();
  /// Solves with T = `tokens`. T is taken up where an op names it and nothing
  /// else has said it: first by gate, route, combine and permute, then by
  /// grouped_gemm and align with ids, last by the rows of any other op, one op
  /// at a time in program order.
  void solveWithTokens(int64_t tokens);
  /// Solves with a new symbol for each extent that nothing else has said: first
  /// where an op takes up T, in the order of `solveWithTokens`, then for the
  /// arguments from the first to the last. What follows holds for every call,
  /// so this looks at `function` alone, not at the functions that it calls.
  void solveWithSymbols();

  /// Solves, then emits an error at the first op whose rule wants an extent to
  /// be another than it is. Ops in nested regions may not run and count as
  /// right, and so does everything where a function is called several times.
  LogicalResult check();
  /// T as far as it is known: the rows of the first op that `solveWithTokens`
  /// would ask.
  std::optional<int64_t> tokens();

  /// Extent `i` of a tensor, or none, in the symbols of `solveWithSymbols`.
  std::optional<Extent> extent(Value tensor, unsigned i) const;
  /// Extent `i` of a tensor, where known.
  std::optional<int64_t> dim(Value tensor, unsigned i) const;
  /// All extents of a tensor, where known.
  std::optional<SmallVector<int64_t>> shape(Value tensor) const;
  /// The value of an index or integer scalar, where known.
  std::optional<int64_t> scalar(Value value) const;

private:
  friend class ShapeRules;
  /// Stands in for the dimension of a scalar.
  static constexpr unsigned kScalar = ~0u;

  std::optional<Extent> get(Value value, unsigned i) const;
  void set(Value value, unsigned i, Extent extent);
  /// Applies the rule of `op`.
  void apply(ShapeRules &rules, Operation *op) const;
  /// Applies the rules that look at `value`.
  void applyAround(ShapeRules &rules, Value value) const;

  /// What `set` was asked to make of an extent that is known already.
  struct Contradiction {
    Value value;
    unsigned i;
    int64_t known, wanted;
  };

  SmallVector<func::FuncOp> functions;
  DenseMap<std::pair<Value, unsigned>, Extent> known;
  DenseMap<Operation *, SmallVector<func::CallOp>> callers;
  bool followCalls = true;
  /// Whether the rule of every op was applied once.
  bool allApplied = false;
  /// Values about which something was learnt since their rules were applied.
  SmallVector<Value> news;
  std::optional<Contradiction> contradiction;
};

} // namespace mlir::moe

#endif // MOE_EXECUTION_SHAPESOLVER_H
