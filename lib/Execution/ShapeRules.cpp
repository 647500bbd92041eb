//===- ShapeRules.cpp - how the extents of one op hang together -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeRules.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

/// `a / divisor` rounded up, where it is an Extent.
static std::optional<Extent> ceilDivide(Extent a, int64_t divisor) {
  std::optional<int64_t> number = a.number();
  if (number && *number >= 0 && divisor > 0)
    return llvm::divideCeil(*number, divisor);
  return divideExactly(a, divisor);
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

void ShapeRules::equal(ArrayRef<Dim> dims) {
  for (Dim from : dims) {
    if (!from.value)
      continue;
    if (std::optional<Extent> extent = get(from)) {
      for (Dim to : dims)
        if (to.value)
          set(to, extent);
      return;
    }
  }
}

void ShapeRules::multiplied(Dim product, ArrayRef<Dim> dims) {
  std::optional<Extent> knownProduct = 1;
  const Dim *unknown = nullptr;
  for (const Dim &dim : dims) {
    std::optional<Extent> extent = get(dim);
    if (!extent && unknown)
      return;
    if (!extent) {
      unknown = &dim;
      continue;
    }
    knownProduct = multiply(*knownProduct, *extent);
    if (!knownProduct)
      return;
  }
  if (!unknown)
    return set(product, knownProduct);
  std::optional<Extent> total = get(product);
  if (total && knownProduct->isNumber())
    set(*unknown, divideExactly(*total, *knownProduct->number()));
}

void ShapeRules::scaled(Dim product, Dim dim, int64_t factor) {
  if (!product.value || !dim.value)
    return;
  if (std::optional<Extent> extent = get(dim))
    set(product, multiply(*extent, factor));
  if (std::optional<Extent> total = get(product))
    set(dim, divideExactly(*total, factor));
}

void ShapeRules::sameShape(Value a, Value b) {
  auto type = dyn_cast<ShapedType>(a.getType());
  if (!type || !type.hasRank()) {
    if (a.getType().isIntOrIndex())
      equal({Dim{a}, Dim{b}});
    return;
  }
  for (int64_t i = 0, e = type.getRank(); i < e; ++i)
    equal({Dim{a, unsigned(i)}, Dim{b, unsigned(i)}});
}

void ShapeRules::shapeIs(Value tensor, ArrayRef<OpFoldResult> numbers,
                         const llvm::SmallBitVector &dropped) {
  unsigned i = 0;
  for (auto [position, number] : llvm::enumerate(numbers)) {
    if (!dropped.empty() && dropped[position])
      continue;
    Dim dim{tensor, i++};
    if (auto value = dyn_cast<Value>(number))
      equal({dim, Dim{value}});
    else
      set(dim, cast<IntegerAttr>(cast<Attribute>(number)).getInt());
  }
}

//===----------------------------------------------------------------------===//
// moe ops
//===----------------------------------------------------------------------===//

void ShapeRules::applyGemm(GroupedGemmOp op) {
  Dim a{op.getA(), 0}, c{op.getC(), 0}, weights{op.getWeights(), 0};
  int64_t slots = op.getSlots();
  bool token = op.getRowSource() == RowSource::Token;
  switch (op.getGrouping()) {
  case Grouping::Dense:
  case Grouping::Offsets:
  case Grouping::Sizes:
    return equal({a, c, weights});
  case Grouping::Ids: {
    Dim ids{op.getRows()[0], 0};
    if (token)
      equal({a, ids});
    else
      scaled(a, ids, slots);
    scaled(c, ids, slots);
    return equal({weights, ids});
  }
  case Grouping::Aligned: {
    Dim table{op.getRows()[0], 0};
    bool sortedA = op.getAOrder() == RowOrder::Sorted;
    bool sortedC = op.getCOrder() == RowOrder::Sorted;
    if (sortedA)
      equal({a, table});
    if (sortedC)
      equal({c, table});
    if (token && !sortedC)
      scaled(c, a, slots);
    if (!token && !sortedA && !sortedC)
      equal({a, c});
    if (token)
      equal({a, weights});
    else if (!sortedA)
      scaled(a, weights, slots);
    if (!sortedC)
      scaled(c, weights, slots);
    if (std::optional<Extent> rows = get(table))
      set({op.getRows()[1], 0}, ceilDivide(*rows, *op.getBlock()));
    return;
  }
  case Grouping::Masked:
    return equal(
        {Dim{op.getA(), 1}, Dim{op.getC(), 1}, Dim{op.getWeights(), 1}});
  case Grouping::KGrouped:
    return equal({Dim{op.getA(), 1},
                  Dim{op.getB(), op.getBLayout() == BLayout::NK ? 1u : 0u}});
  }
}

std::optional<ShapeRules::Dim> ShapeRules::rowDim(Operation *op, Rows rows) {
  using Result = std::optional<Dim>;
  auto first = [](Value value) { return Result(Dim{value, 0}); };
  if (rows == Rows::OfTokens)
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](GateOp gate) { return first(gate.getX()); })
        .Case([&](RouteOp route) { return first(route.getLogits()); })
        .Case([&](CombineOp combine) { return first(combine.getOut()); })
        .Case([&](PermuteOp permute) { return first(permute.getX()); })
        .Default([](Operation *) { return Result(); });
  if (rows == Rows::OfIds)
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](AlignOp align) { return first(align.getIds()); })
        .Case([&](GroupedGemmOp gemm) {
          if (gemm.getGrouping() == Grouping::Ids)
            return first(gemm.getRows()[0]);
          return gemm.getRowSource() == RowSource::Token ? first(gemm.getA())
                                                         : Result();
        })
        .Default([](Operation *) { return Result(); });
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](GroupedGemmOp gemm) {
        bool inner = gemm.getGrouping() == Grouping::Masked ||
                     gemm.getGrouping() == Grouping::KGrouped;
        return Result(Dim{gemm.getA(), inner ? 1u : 0u});
      })
      .Case([&](ActivationOp activation) { return first(activation.getH()); })
      .Case([&](UnpermuteOp unpermute) { return first(unpermute.getY()); })
      .Case([&](GroupIdsOp groupIds) { return first(groupIds.getIds()); })
      .Default([](Operation *) { return Result(); });
}

void ShapeRules::applyWorstCaseRows(Operation *op) {
  if (auto align = dyn_cast<AlignOp>(op)) {
    std::optional<int64_t> tokens = number({align.getIds(), 0});
    int64_t slots = cast<ShapedType>(align.getIds().getType()).getDimSize(1);
    if (tokens)
      set({align.getSortedRows(), 0},
          worstCaseRows(*tokens * slots, align.getExperts(), align.getBlock()));
  }
  auto gemm = dyn_cast<GroupedGemmOp>(op);
  if (!gemm || gemm.getGrouping() != Grouping::Aligned)
    return;
  bool token = gemm.getRowSource() == RowSource::Token;
  std::optional<int64_t> rows = number(
      {token || gemm.getAOrder() == RowOrder::Flat ? gemm.getA() : gemm.getC(),
       0});
  if (rows)
    set({gemm.getRows()[0], 0},
        worstCaseRows(token ? *rows * gemm.getSlots() : *rows,
                      gemm.getNumExperts(), *gemm.getBlock()));
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

void ShapeRules::applyCall(func::CallOp op) {
  auto callee = dyn_cast_or_null<func::FuncOp>(
      SymbolTable::lookupNearestSymbolFrom(op, op.getCalleeAttr()));
  if (!callee || !callee.getBody().hasOneBlock())
    return;
  Block &body = callee.getBody().front();
  for (auto [operand, argument] :
       llvm::zip(op.getOperands(), body.getArguments()))
    sameShape(operand, argument);
  for (auto [result, value] :
       llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    sameShape(result, value);
}

void ShapeRules::applyReshape(Value expanded, Value collapsed,
                              ArrayRef<ReassociationIndices> groups) {
  for (auto [i, group] : llvm::enumerate(groups)) {
    auto dims = llvm::map_to_vector(
        group, [&](int64_t j) { return Dim{expanded, unsigned(j)}; });
    multiplied({collapsed, unsigned(i)}, dims);
  }
}

/// `a op b` where it is an Extent.
static std::optional<Extent> fold(Operation *op, Extent a, Extent b) {
  using Result = std::optional<Extent>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return add(a, b); })
      .Case([&](arith::SubIOp) { return subtract(a, b); })
      .Case([&](arith::MulIOp) { return multiply(a, b); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) {
        return b.isNumber() ? ceilDivide(a, *b.number()) : Result();
      })
      .Default([](Operation *) { return Result(); });
}

void ShapeRules::applyArith(Operation *op) {
  if (op->getNumResults() != 1)
    return;
  if (isa<RankedTensorType>(op->getResult(0).getType())) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        sameShape(operand, op->getResult(0));
    return;
  }
  if (!op->getResult(0).getType().isIntOrIndex())
    return;
  Dim result{op->getResult(0)};
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return equal({result, Dim{op->getOperand(0)}});
  if (op->getNumOperands() != 2)
    return;
  Dim left{op->getOperand(0)}, right{op->getOperand(1)};
  std::optional<Extent> a = get(left), b = get(right), total = get(result);
  if (a && b)
    return set(result, fold(op, *a, *b));
  if (!total || (!a && !b) || left.value == right.value)
    return;
  // Backwards: one operand from the other and the result.
  Extent other = a ? *a : *b;
  Dim unknown = a ? right : left;
  if (isa<arith::MulIOp>(op))
    multiplied(result, {left, right});
  else if (isa<arith::AddIOp>(op))
    set(unknown, subtract(*total, other));
  else if (isa<arith::SubIOp>(op))
    set(unknown, a ? subtract(other, *total) : add(*total, other));
}

void ShapeRules::applyFold(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumRegions() != 0 || !op->getResult(0).getType().isIntOrIndex() ||
      number({op->getResult(0)}) || !isPure(op))
    return;
  SmallVector<Attribute> constants;
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    std::optional<int64_t> value =
        type.isIntOrIndex() ? number({operand}) : std::nullopt;
    if (!value)
      return;
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    constants.push_back(IntegerAttr::get(
        type, APInt(width, *value, /*isSigned=*/true, /*implicitTrunc=*/true)));
  }
  // Folding may change an op instead of naming its result.
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  if (succeeded(copy->fold(constants, results)) && results.size() == 1) {
    auto constant =
        dyn_cast_or_null<IntegerAttr>(dyn_cast<Attribute>(results[0]));
    if (constant)
      set({op->getResult(0)}, constant.getValue().getSExtValue());
    else if (auto value = dyn_cast<Value>(results[0]);
             value != copy->getResult(0))
      set({op->getResult(0)}, get({value}));
  }
  copy->destroy();
}

/// The value of `expr` where it is an Extent.
static std::optional<Extent> evaluate(AffineExpr expr, unsigned numDims,
                                      ArrayRef<Extent> operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Extent> lhs = evaluate(binary.getLHS(), numDims, operands);
  std::optional<Extent> rhs = evaluate(binary.getRHS(), numDims, operands);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return add(*lhs, *rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(*lhs, *rhs);
  if (!rhs->isNumber() || *rhs->number() <= 0)
    return std::nullopt;
  int64_t divisor = *rhs->number();
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return ceilDivide(*lhs, divisor);
  bool modulo = expr.getKind() == AffineExprKind::Mod;
  if (std::optional<Extent> exact = divideExactly(*lhs, divisor))
    return modulo ? Extent(0) : exact;
  if (!lhs->isNumber())
    return std::nullopt;
  int64_t number = *lhs->number();
  return modulo ? llvm::mod(number, divisor)
                : llvm::divideFloorSigned(number, divisor);
}

void ShapeRules::applyAffine(Operation *op, AffineMap map) {
  SmallVector<Extent> operands;
  std::optional<unsigned> unknown;
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    std::optional<Extent> extent = get({value});
    if (!extent && unknown)
      return;
    if (!extent)
      unknown = i;
    operands.push_back(extent.value_or(0));
  }
  auto valueAt = [&](Extent extent) {
    if (unknown)
      operands[*unknown] = extent;
    return evaluate(map.getResult(0), map.getNumDims(), operands);
  };
  std::optional<Extent> atZero = valueAt(0);
  if (!unknown)
    return set({op->getResult(0)}, atZero);
  // Backwards, as if the map were linear; evaluating tells whether it is.
  std::optional<Extent> atOne = valueAt(1), total = get({op->getResult(0)});
  if (!total || !atZero || !atOne)
    return;
  std::optional<Extent> slope = subtract(*atOne, *atZero);
  std::optional<Extent> rest = subtract(*total, *atZero);
  if (!slope || !rest || !slope->isNumber())
    return;
  if (*slope->number() < 0) {
    slope = multiply(*slope, -1);
    rest = multiply(*rest, -1);
  }
  if (!slope || !rest)
    return;
  std::optional<Extent> solution = divideExactly(*rest, *slope->number());
  if (solution && valueAt(*solution) == total)
    set({op->getOperand(*unknown)}, solution);
}

void ShapeRules::apply(Operation *op) {
  if (isa_and_nonnull<MoEDialect>(op->getDialect()))
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      for (OpResult result : op->getResults())
        sameShape(result, dps.getTiedOpOperand(result)->get());
  auto first = [](Value value) { return Dim{value, 0}; };
  auto slots = [](Value ids) {
    return cast<ShapedType>(ids.getType()).getDimSize(1);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](GateOp gate) {
        equal({first(gate.getX()), first(gate.getLogits())});
      })
      .Case([&](RouteOp route) {
        equal({first(route.getLogits()), first(route.getWeights()),
               first(route.getIds()), first(route.getTokenIds())});
      })
      .Case([&](AlignOp align) {
        if (std::optional<Extent> rows = get(first(align.getSortedRows())))
          set(first(align.getTileExpert()),
              ceilDivide(*rows, align.getBlock()));
      })
      .Case([&](GroupedGemmOp gemm) { applyGemm(gemm); })
      .Case([&](ActivationOp activation) {
        equal({first(activation.getH()), first(activation.getA())});
      })
      .Case([&](CombineOp combine) {
        Dim ids = first(combine.getIds());
        scaled(first(combine.getY()), ids, slots(ids.value));
        equal({ids, first(combine.getWeights()), first(combine.getOut()),
               first(combine.getX()), first(combine.getResidual())});
      })
      .Case([&](PermuteOp permute) {
        Dim ids = first(permute.getIds());
        equal({ids, first(permute.getX())});
        scaled(first(permute.getRows()), ids, slots(ids.value));
        scaled(first(permute.getSource()), ids, slots(ids.value));
      })
      .Case([&](UnpermuteOp unpermute) {
        equal({first(unpermute.getRows()), first(unpermute.getSource()),
               first(unpermute.getY())});
      })
      .Case([&](tensor::DimOp dim) {
        if (std::optional<int64_t> i = dim.getConstantIndex(); i && *i >= 0)
          equal({Dim{dim.getSource(), unsigned(*i)}, Dim{dim.getResult()}});
      })
      .Case([&](tensor::EmptyOp empty) {
        shapeIs(empty.getResult(), empty.getMixedSizes());
      })
      .Case([&](tensor::CastOp cast) {
        sameShape(cast.getSource(), cast.getResult());
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        shapeIs(slice.getResult(), slice.getMixedSizes(),
                slice.getDroppedDims());
      })
      .Case([&](tensor::InsertSliceOp slice) {
        sameShape(slice.getDest(), slice.getResult());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        applyReshape(collapse.getSrc(), collapse.getResult(),
                     collapse.getReassociationIndices());
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        shapeIs(expand.getResult(), expand.getMixedOutputShape());
        applyReshape(expand.getResult(), expand.getSrc(),
                     expand.getReassociationIndices());
      })
      .Case([&](linalg::FillOp fill) {
        if (fill.hasPureTensorSemantics())
          sameShape(fill.getOutputs()[0], fill.getResult(0));
      })
      .Case([&](func::CallOp call) { applyCall(call); })
      .Case([&](affine::AffineApplyOp apply) {
        applyAffine(op, apply.getAffineMap());
      })
      .Default([&](Operation *) {
        if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
                op->getDialect()))
          applyArith(op);
        applyFold(op);
      });
}
