//===- ShapeRules.h - how the extents of one op hang together -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EXECUTION_SHAPERULES_H
#define MOE_LIB_EXECUTION_SHAPERULES_H

#include "moe/Execution/ShapeSolver.h"
#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::moe {

/// Applies the rules of single ops to the knowledge of a solver.
class ShapeRules {
public:
  /// Dimension `i` of a tensor, or a scalar.
  struct Dim {
    Value value;
    unsigned i = ShapeSolver::kScalar;
  };
  /// Whose rows may be taken for T.
  enum class Rows { OfTokens, OfIds, Any };

  explicit ShapeRules(ShapeSolver &solver) : solver(solver) {}

  /// Derives what follows from the extents of `op`.
  void apply(Operation *op);
  /// The extent of `op` that is T by `rows`, where it has one.
  std::optional<Dim> rowDim(Operation *op, Rows rows);
  /// Gives the row table of an align or an aligned GEMM its worst-case size.
  void applyWorstCaseRows(Operation *op);

private:
  std::optional<Extent> get(Dim dim) const {
    return solver.get(dim.value, dim.i);
  }
  std::optional<int64_t> number(Dim dim) const {
    std::optional<Extent> extent = get(dim);
    return extent ? extent->number() : std::nullopt;
  }
  void set(Dim dim, std::optional<Extent> extent) {
    if (extent)
      solver.set(dim.value, dim.i, *extent);
  }

  /// All dims are equal; those without a value are left out.
  void equal(ArrayRef<Dim> dims);
  /// `product = dim * factor`.
  void scaled(Dim product, Dim dim, int64_t factor);
  /// `product` is the product of `dims`.
  void multiplied(Dim product, ArrayRef<Dim> dims);
  /// All dimensions of two tensors are equal.
  void sameShape(Value a, Value b);
  /// Dimensions of `tensor`, one by one, are these numbers.
  void shapeIs(Value tensor, ArrayRef<OpFoldResult> numbers,
               const llvm::SmallBitVector &dropped = {});

  void applyGemm(GroupedGemmOp op);
  void applyCall(func::CallOp op);
  void applyReshape(Value expanded, Value collapsed,
                    ArrayRef<ReassociationIndices> groups);
  void applyArith(Operation *op);
  void applyAffine(Operation *op, AffineMap map);
  /// The result of any other op on numbers that are all known.
  void applyFold(Operation *op);

  ShapeSolver &solver;
};

} // namespace mlir::moe

#endif // MOE_LIB_EXECUTION_SHAPERULES_H
