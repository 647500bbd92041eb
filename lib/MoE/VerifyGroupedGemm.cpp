//===- VerifyGroupedGemm.cpp - the rules of the grouped GEMM -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandChecks.h"

using namespace mlir;
using namespace mlir::moe;

static ShapedType shaped(Value value) {
  return cast<ShapedType>(value.getType());
}

int64_t GroupedGemmOp::getNumExperts() {
  return getGrouping() == Grouping::KGrouped
             ? shaped(getRows().front()).getDimSize(0)
             : shaped(getB()).getDimSize(0);
}

int64_t GroupedGemmOp::getK() {
  // Each expert contracts its own run, however many columns a has in all.
  if (getGrouping() == Grouping::KGrouped)
    return ShapedType::kDynamic;
  return shaped(getB()).getDimSize(getBLayout() == BLayout::NK ? 2 : 1);
}

int64_t GroupedGemmOp::getNumColumns() {
  bool nk = getBLayout() == BLayout::NK;
  if (getGrouping() == Grouping::KGrouped)
    return shaped(getB()).getDimSize(nk ? 0 : 1);
  return shaped(getB()).getDimSize(nk ? 1 : 2);
}

int64_t GroupedGemmOp::getSlots() {
  if (getGrouping() == Grouping::Ids)
    return shaped(getRows().front()).getDimSize(1);
  return getTopK() ? static_cast<int64_t>(*getTopK()) : 1;
}

namespace {
/// The verifier, one member function per subject.
class GemmVerifier {
public:
  explicit GemmVerifier(GroupedGemmOp op)
      : op(op), check(op), grouping(op.getGrouping()), a{op.getA(), "a"},
        b{op.getB(), "b"}, c{op.getC(), "c"} {}

  LogicalResult verify();

private:
  LogicalResult verifyTypes();
  LogicalResult verifyRowOperands();
  LogicalResult verifyRanks();
  LogicalResult verifyExtents();
  LogicalResult verifyKGroupedExtents();
  LogicalResult verifyEpilogue();
  LogicalResult verifyAttributes();

  /// Rows of the flat row space, T*k or R; dynamic where unknown. Masked
  /// groups have none.
  int64_t flatRows();
  bool isKGrouped() { return grouping == Grouping::KGrouped; }
  bool isAligned() { return grouping == Grouping::Aligned; }
  /// A row operand by position.
  Named row(unsigned i, StringRef name) { return {op.getRows()[i], name}; }

  GroupedGemmOp op;
  OperandChecks check;
  Grouping grouping;
  Named a, b, c;
};
} // namespace

LogicalResult GemmVerifier::verify() {
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C16"));
  VERIFY(verifyTypes());
  VERIFY(verifyRowOperands());
  VERIFY(verifyRanks());
  VERIFY(verifyAttributes());
  VERIFY(isKGrouped() ? verifyKGroupedExtents() : verifyExtents());
  return verifyEpilogue();
}

LogicalResult GemmVerifier::verifyTypes() {
  for (Named operand : {a, b, c})
    VERIFY(check.floatType(operand, "C1"));
  Type typeA = a.type().getElementType(), typeB = b.type().getElementType();
  Type typeC = c.type().getElementType();
  if (typeA != typeB && !typeA.isF32())
    return op.emitOpError("requires a to have the type of b or f32, but got ")
           << typeA << " and " << typeB << " (C1)";
  if (typeC != typeA && typeC != typeB && !typeC.isF32())
    return op.emitOpError("requires c to have the type of a or b or f32, but "
                          "got ")
           << typeC << " (C1)";
  if (!op.getScales().empty())
    return op.emitOpError("requires scales to be absent for element type ")
           << typeB << ", but got " << op.getScales().size() << " (C15)";
  return success();
}

LogicalResult GemmVerifier::verifyRowOperands() {
  size_t expected = grouping == Grouping::Dense ? 0 : isAligned() ? 3 : 1;
  if (op.getRows().size() != expected)
    return op.emitOpError("requires ")
           << expected << " rows operands for grouping "
           << stringifyGrouping(grouping) << ", but got " << op.getRows().size()
           << " (C2)";
  int64_t rank = grouping == Grouping::Ids ? 2 : 1;
  for (Value value : op.getRows()) {
    VERIFY(check.i32Type({value, "rows"}, "C2"));
    VERIFY(check.rank({value, "rows"}, rank, "C2"));
  }
  if (grouping == Grouping::Ids) {
    VERIFY(check.isStatic(row(0, "ids"), 1, "k", "C2"));
    VERIFY(check.range(row(0, "ids").dim(1), "k", 1, kMaxExperts, "C2"));
  }
  if (isAligned())
    VERIFY(check.fixedExtent(row(2, "padded"), 0, 1, "its only element", "C2"));
  if (Value map = op.getExpertMap()) {
    Named expertMap{map, "expert_map"};
    VERIFY(check.rank(expertMap, 1, "C14"));
    VERIFY(check.i32Type(expertMap, "C14"));
    VERIFY(check.isStatic(expertMap, 0, "E", "C14"));
    VERIFY(check.range(expertMap.dim(0), "E", 1, kMaxExperts, "C14"));
    if (grouping != Grouping::Ids)
      return op.emitOpError("requires expert_map to come with grouping ids, "
                            "but got ")
             << stringifyGrouping(grouping) << " (C14)";
  }
  return success();
}

LogicalResult GemmVerifier::verifyRanks() {
  bool masked = grouping == Grouping::Masked;
  VERIFY(check.rank(a, masked ? 3 : 2, "C3"));
  VERIFY(check.rank(b, isKGrouped() ? 2 : 3, "C3"));
  VERIFY(check.rank(c, masked || isKGrouped() ? 3 : 2, "C3"));
  unsigned columnsOfC = c.type().getRank() - 1;
  VERIFY(check.isStatic(c, columnsOfC, "N", "C4"));
  bool nk = op.getBLayout() == BLayout::NK;
  if (isKGrouped()) {
    VERIFY(check.isStatic(row(0, "offsets"), 0, "E", "C4"));
    VERIFY(check.isStatic(a, 0, "M", "C4"));
    VERIFY(check.isStatic(b, nk ? 0 : 1, "N", "C4"));
    VERIFY(check.isStatic(c, 0, "E", "C4"));
    VERIFY(check.isStatic(c, 1, "M", "C4"));
  } else {
    VERIFY(check.isStatic(b, 0, "E", "C4"));
    VERIFY(check.isStatic(b, nk ? 1 : 2, "N", "C4"));
    VERIFY(check.isStatic(b, nk ? 2 : 1, "K", "C4"));
    VERIFY(check.isStatic(a, masked ? 2 : 1, "K", "C4"));
  }
  return check.range(op.getNumExperts(), "E", 1, kMaxExperts, "C4");
}

LogicalResult GemmVerifier::verifyAttributes() {
  bool token = op.getRowSource() == RowSource::Token;
  if (isKGrouped()) {
    StringRef extra = op.getBias()         ? "bias"
                      : op.getWeights()    ? "weights"
                      : op.getActivation() ? "an activation"
                      : token              ? "row_source = token"
                                           : "";
    if (!extra.empty())
      return op.emitOpError("requires k_grouped to come without bias, weights, "
                            "activation and row_source = token, but got ")
             << extra << " (C10)";
  }
  if (token && grouping != Grouping::Ids && !isAligned())
    return op.emitOpError("requires grouping ids or aligned for row_source = "
                          "token, but got ")
           << stringifyGrouping(grouping) << " (C11)";
  if (op.getTopK().has_value() != isAligned() ||
      op.getBlock().has_value() != isAligned())
    return op.emitOpError("requires top_k and block exactly for grouping "
                          "aligned, but got ")
           << (op.getTopK() ? "" : "no ") << "top_k and "
           << (op.getBlock() ? "" : "no ") << "block for "
           << stringifyGrouping(grouping) << " (C12)";
  if (isAligned()) {
    VERIFY(check.range(*op.getTopK(), "top_k", 1, kMaxExperts, "C12"));
    VERIFY(check.powerOfTwoBlock(*op.getBlock(), "C12"));
    int64_t rows = row(0, "sorted_rows").dim(0);
    if (!ShapedType::isDynamic(rows))
      VERIFY(check.extent(row(1, "tile_expert"), 0,
                          llvm::divideCeil(rows, *op.getBlock()),
                          "ceil(P / block)", row(0, "sorted_rows"), "C12"));
  }
  bool sortedA = op.getAOrder() == RowOrder::Sorted;
  bool sortedC = op.getCOrder() == RowOrder::Sorted;
  if ((sortedA || sortedC) && !isAligned())
    return op.emitOpError("requires grouping aligned for sorted rows, but got ")
           << stringifyGrouping(grouping) << " (C13)";
  if (sortedA && token)
    return op.emitOpError("requires row_source = flat for a_order = sorted, "
                          "but got token (C13)");
  return success();
}

int64_t GemmVerifier::flatRows() {
  switch (grouping) {
  case Grouping::Ids:
    return mulExtents(row(0, "ids").dim(0), row(0, "ids").dim(1));
  case Grouping::Aligned:
    if (op.getRowSource() == RowSource::Token)
      return mulExtents(a.dim(0), *op.getTopK());
    if (op.getAOrder() == RowOrder::Flat)
      return a.dim(0);
    return op.getCOrder() == RowOrder::Flat ? c.dim(0) : ShapedType::kDynamic;
  default:
    return a.dim(0);
  }
}

LogicalResult GemmVerifier::verifyExtents() {
  bool masked = grouping == Grouping::Masked;
  if (grouping == Grouping::Dense)
    VERIFY(check.range(op.getNumExperts(), "E of a dense GEMM", 1, 1, "C5"));
  VERIFY(check.extent(a, masked ? 2 : 1, op.getK(), "K", b, "C5"));

  if (grouping == Grouping::Ids) {
    bool token = op.getRowSource() == RowSource::Token;
    VERIFY(check.extent(a, 0, token ? row(0, "ids").dim(0) : flatRows(),
                        token ? "T" : "T*k", row(0, "ids"), "C5"));
  }
  if (grouping == Grouping::Offsets || grouping == Grouping::Sizes || masked)
    VERIFY(check.fixedExtent(
        row(0, masked ? "counts" : stringifyGrouping(grouping)), 0,
        op.getNumExperts(), "E", b, "C5"));
  if (masked) {
    VERIFY(check.fixedExtent(a, 0, op.getNumExperts(), "E", b, "C5"));
    VERIFY(check.fixedExtent(c, 0, op.getNumExperts(), "E", b, "C5"));
    VERIFY(check.extent(c, 1, a.dim(1), "C", a, "C5"));
  } else if (isAligned() && op.getCOrder() == RowOrder::Sorted) {
    VERIFY(check.extent(c, 0, row(0, "sorted_rows").dim(0), "P",
                        row(0, "sorted_rows"), "C5"));
  } else {
    VERIFY(check.extent(c, 0, flatRows(), "the flat rows", a, "C5"));
  }
  if (isAligned() && op.getAOrder() == RowOrder::Sorted)
    VERIFY(check.extent(a, 0, row(0, "sorted_rows").dim(0), "P",
                        row(0, "sorted_rows"), "C5"));

  if (isAligned() && !ShapedType::isDynamic(flatRows()) &&
      flatRows() % op.getSlots() != 0)
    return op.emitOpError("requires a multiple of top_k = ")
           << op.getSlots() << " flat rows, but got " << flatRows() << " (C5)";

  int64_t columns = op.getNumColumns();
  bool gated = op.getActivation() && op.getActivation()->isGated();
  if (gated && columns % 2 != 0)
    return op.emitOpError("requires an even N of b under a gated activation, "
                          "but got ")
           << columns << " (C6)";
  return check.extent(c, c.type().getRank() - 1, gated ? columns / 2 : columns,
                      gated ? "half of N" : "N", b, gated ? "C6" : "C5");
}

LogicalResult GemmVerifier::verifyKGroupedExtents() {
  bool nk = op.getBLayout() == BLayout::NK;
  VERIFY(check.extent(b, nk ? 1 : 0, a.dim(1), "R", a, "C5"));
  VERIFY(check.fixedExtent(c, 0, op.getNumExperts(), "E", row(0, "offsets"),
                           "C5"));
  VERIFY(check.extent(c, 1, a.dim(0), "M", a, "C5"));
  return check.extent(c, 2, op.getNumColumns(), "N", b, "C5");
}

LogicalResult GemmVerifier::verifyEpilogue() {
  if (op.getBias()) {
    Named bias{op.getBias(), "bias"};
    VERIFY(check.rank(bias, 2, "C7"));
    Type type = bias.type().getElementType();
    if (!type.isF32() && type != b.type().getElementType())
      return op.emitOpError("requires bias to be f32 or of the type of b, but "
                            "got ")
             << type << " (C7)";
    VERIFY(check.fixedExtent(bias, 0, op.getNumExperts(), "E", b, "C7"));
    VERIFY(check.extent(bias, 1, op.getNumColumns(), "N of b", b, "C7"));
  }
  WeightPlace place = op.getWeight();
  if ((place != WeightPlace::None) != static_cast<bool>(op.getWeights()))
    return op.emitOpError("requires weights exactly if weight is not none, but "
                          "got weight = ")
           << stringifyWeightPlace(place)
           << (op.getWeights() ? " with" : " without") << " weights (C8)";
  if (place == WeightPlace::None)
    return success();

  Named weights{op.getWeights(), "weights"};
  VERIFY(check.f32Type(weights, "C8"));
  bool slots = grouping == Grouping::Ids || isAligned();
  bool masked = grouping == Grouping::Masked;
  VERIFY(check.rank(weights, slots || masked ? 2 : 1, "C8"));
  if (slots) {
    VERIFY(check.isStatic(weights, 1, "k", "C8"));
    VERIFY(check.extent(weights, 1, op.getSlots(), "k",
                        row(0, isAligned() ? "sorted_rows" : "ids"), "C8"));
    VERIFY(check.extent(weights, 0, divExtents(flatRows(), op.getSlots()), "T",
                        a, "C8"));
  } else if (masked) {
    VERIFY(check.fixedExtent(weights, 0, op.getNumExperts(), "E", b, "C8"));
    VERIFY(check.extent(weights, 1, a.dim(1), "C", a, "C8"));
  } else {
    VERIFY(check.extent(weights, 0, a.dim(0), "R", a, "C8"));
  }
  if (place == WeightPlace::Input && (op.getRowSource() != RowSource::Token ||
                                      op.getSlots() != 1 || op.getBias()))
    return op.emitOpError("requires row_source = token, k = 1 and no bias for "
                          "weight = input, but got row_source = ")
           << stringifyRowSource(op.getRowSource()) << ", k = " << op.getSlots()
           << (op.getBias() ? " and a bias" : "") << " (C9)";
  return success();
}

LogicalResult GroupedGemmOp::verify() {
  VERIFY(OperandChecks(*this).singleOperands(
      getProperties().operandSegmentSizes, {{0, "a"}, {1, "b"}, {7, "c"}}));
  return GemmVerifier(*this).verify();
}
