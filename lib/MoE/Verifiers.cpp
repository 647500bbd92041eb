//===- Verifiers.cpp - the numbered constraints of the ops -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Each check cites the number that the op's documentation gives it. The
// grouped GEMM has a file of its own.
//
//===----------------------------------------------------------------------===//

#include "OperandChecks.h"

using namespace mlir;
using namespace mlir::moe;

/// The clauses that stand in front of `outs`, over all ops.
static constexpr StringRef kClauses[] = {
    "ins",      "bias",   "table",   "rows",     "expert_map", "expert_scale",
    "identity", "scales", "weights", "residual", "outs"};

/// The types behind `->`, none on memrefs. What stands here by mistake is
/// named, since the parser can only tell that it expected another op.
static ParseResult parseResults(OpAsmParser &parser,
                                SmallVectorImpl<Type> &types,
                                Type destination) {
  StringRef clause;
  SMLoc loc = parser.getCurrentLocation();
  auto misplaced = [&] {
    return succeeded(parser.parseOptionalKeyword(&clause, kClauses));
  };
  auto refuse = [&] {
    return parser.emitError(loc)
           << "'" << clause << "' has to stand before 'outs', once: the order "
           << "is ins(..), optional clauses as in the reference of the op, "
              "outs(..), {attributes}, -> types";
  };
  if (misplaced())
    return refuse();
  if (failed(parser.parseOptionalArrow())) {
    if (!isa<TensorType>(destination))
      return success();
    return parser.emitError(loc)
           << "expected '->' and the type of each result: the destinations are "
              "tensors, and the op returns their new values";
  }
  if (parser.parseTypeList(types))
    return failure();
  loc = parser.getCurrentLocation();
  if (misplaced())
    return refuse();
  if (succeeded(parser.parseOptionalLBrace()))
    return parser.emitError(loc) << "attributes have to stand before '->'";
  return success();
}

static void printResults(OpAsmPrinter &printer, Operation *, TypeRange types,
                         Type) {
  if (!types.empty())
    printer << " -> " << types;
}

#define GET_OP_CLASSES
#include "moe/MoE/MoEOps.cpp.inc"

//===----------------------------------------------------------------------===//
// GateOp
//===----------------------------------------------------------------------===//

LogicalResult GateOp::verify() {
  OperandChecks check(*this);
  Named x{getX(), "x"}, weight{getWeight(), "weight"};
  Named logits{getLogits(), "logits"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C5"));
  for (Named operand : {x, weight, logits})
    VERIFY(check.rank(operand, 2, "C1"));
  for (Named operand : {x, weight})
    VERIFY(check.floatType(operand, "C2"));
  VERIFY(check.f32Type(logits, "C2"));
  VERIFY(check.extent(weight, 1, x.dim(1), "H", x, "C3"));
  VERIFY(check.extent(logits, 0, x.dim(0), "T", x, "C3"));
  VERIFY(check.extent(logits, 1, weight.dim(0), "E", weight, "C3"));
  VERIFY(check.isStatic(x, 1, "H", "C4"));
  VERIFY(check.isStatic(weight, 1, "H", "C4"));
  VERIFY(check.isStatic(weight, 0, "E", "C4"));
  VERIFY(check.isStatic(logits, 1, "E", "C4"));
  if (getBias()) {
    Named bias{getBias(), "bias"};
    VERIFY(check.rank(bias, 1, "C1"));
    VERIFY(check.floatType(bias, "C2"));
    VERIFY(check.fixedExtent(bias, 0, weight.dim(0), "E", weight, "C3"));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RouteOp
//===----------------------------------------------------------------------===//

int64_t RouteOp::getNumExperts() {
  return cast<ShapedType>(getLogits().getType()).getDimSize(1);
}
int64_t RouteOp::getTopK() {
  return cast<ShapedType>(getIds().getType()).getDimSize(1);
}

static LogicalResult verifyHashTable(RouteOp op, OperandChecks &check,
                                     Named logits, Named ids) {
  if (!op.getTokenIds() && !op.getTable())
    return success();
  if (!op.getTokenIds() || !op.getTable())
    return op.emitOpError(
        "requires token_ids and table together, but got one of them (C7)");
  Named tokens{op.getTokenIds(), "token_ids"}, table{op.getTable(), "table"};
  VERIFY(check.rank(tokens, 1, "C7"));
  VERIFY(check.rank(table, 2, "C7"));
  VERIFY(check.i32Type(tokens, "C7"));
  VERIFY(check.i32Type(table, "C7"));
  VERIFY(check.extent(tokens, 0, logits.dim(0), "T", logits, "C4"));
  VERIFY(check.extent(table, 1, ids.dim(1), "k", ids, "C7"));
  VERIFY(check.isStatic(table, 0, "V", "C7"));
  VERIFY(check.isStatic(table, 1, "k", "C7"));
  if (op.getBias() || op.getGroups() != 1)
    return op.emitOpError("requires a table to come without bias and groups, "
                          "which only steer a selection, but got ")
           << (op.getBias() ? "a bias" : "groups") << " (C8)";
  return success();
}

LogicalResult RouteOp::verify() {
  OperandChecks check(*this);
  VERIFY(check.singleOperands(getProperties().operandSegmentSizes,
                              {{0, "logits"}, {5, "weights"}, {6, "ids"}}));
  Named logits{getLogits(), "logits"};
  Named weights{getWeights(), "weights"}, ids{getIds(), "ids"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C11"));
  for (Named operand : {logits, weights, ids})
    VERIFY(check.rank(operand, 2, "C1"));
  VERIFY(check.floatType(logits, "C1"));
  VERIFY(check.f32Type(weights, "C1"));
  VERIFY(check.i32Type(ids, "C1"));
  VERIFY(check.isStatic(logits, 1, "E", "C2"));
  VERIFY(check.range(logits.dim(1), "E", 1, kMaxExperts, "C2"));
  VERIFY(check.isStatic(ids, 1, "k", "C3"));
  VERIFY(check.isStatic(weights, 1, "k", "C3"));
  VERIFY(check.range(ids.dim(1), "k", 1, logits.dim(1), "C3"));
  VERIFY(check.extent(weights, 1, ids.dim(1), "k", ids, "C3"));
  for (Named operand : {weights, ids})
    VERIFY(check.extent(operand, 0, logits.dim(0), "T", logits, "C4"));

  int64_t experts = logits.dim(1), groups = getGroups();
  if (groups < 1 || experts % groups != 0)
    return emitOpError("requires groups to divide E = ")
           << experts << ", but got " << groups << " (C5)";
  VERIFY(check.range(getKeepGroups(), "keep_groups", 1, groups, "C5"));
  if (getBias()) {
    Named bias{getBias(), "bias"};
    VERIFY(check.rank(bias, 1, "C6"));
    VERIFY(check.floatType(bias, "C6"));
    VERIFY(check.fixedExtent(bias, 0, experts, "E", logits, "C6"));
  }
  if (getExpertScale()) {
    Named expertScale{getExpertScale(), "expert_scale"};
    VERIFY(check.rank(expertScale, 1, "C6"));
    VERIFY(check.floatType(expertScale, "C6"));
    VERIFY(check.fixedExtent(expertScale, 0, experts, "E", logits, "C6"));
  }
  VERIFY(verifyHashTable(*this, check, logits, ids));
  if (getScore() == Score::SparseMixer) {
    StringRef extra = getBias()       ? "a bias"
                      : groups != 1   ? "groups"
                      : getTokenIds() ? "a table"
                      : getOrder() == Order::TopKThenScore
                          ? "order = topk_then_score"
                          : "";
    if (!extra.empty())
      return emitOpError("requires score sparsemixer to come without bias, "
                         "groups, table and topk_then_score, but got ")
             << extra << " (C9)";
  }
  VERIFY(check.finite(getScale(), "scale", "C10"));
  VERIFY(check.finite(getJitter(), "jitter", "C10"));
  if (getJitter().isNegative() && !getJitter().isZero())
    return emitOpError("requires jitter not to be negative, but got ")
           << getJitter().convertToFloat() << " (C10)";
  if (std::optional<APFloat> softcap = getSoftcap()) {
    VERIFY(check.finite(*softcap, "softcap", "C10"));
    if (softcap->isNegative() || softcap->isZero())
      return emitOpError("requires softcap to be above 0, but got ")
             << softcap->convertToFloat() << " (C10)";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// AlignOp, GroupIdsOp
//===----------------------------------------------------------------------===//

/// ids [T, k] and the optional expert_map [E], both i32.
static LogicalResult verifyIds(OperandChecks &check, Named ids, Value expertMap,
                               StringRef idsNumber, StringRef mapNumber) {
  VERIFY(check.rank(ids, 2, idsNumber));
  VERIFY(check.i32Type(ids, idsNumber));
  VERIFY(check.isStatic(ids, 1, "k", idsNumber));
  VERIFY(check.range(ids.dim(1), "k", 1, kMaxExperts, idsNumber));
  if (expertMap) {
    Named map{expertMap, "expert_map"};
    VERIFY(check.rank(map, 1, mapNumber));
    VERIFY(check.i32Type(map, mapNumber));
    VERIFY(check.isStatic(map, 0, "E", mapNumber));
    VERIFY(check.range(map.dim(0), "E", 1, kMaxExperts, mapNumber));
  }
  return success();
}

LogicalResult AlignOp::verify() {
  OperandChecks check(*this);
  Named ids{getIds(), "ids"};
  Named sortedRows{getSortedRows(), "sorted_rows"};
  Named tileExpert{getTileExpert(), "tile_expert"};
  Named padded{getPadded(), "padded"}, counts{getCounts(), "counts"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C7"));
  VERIFY(verifyIds(check, ids, getExpertMap(), "C1", "C1"));
  VERIFY(check.powerOfTwoBlock(getBlock(), "C2"));
  VERIFY(check.range(getExperts(), "experts", 1, kMaxExperts, "C3"));
  for (Named operand : {sortedRows, tileExpert, padded, counts}) {
    VERIFY(check.rank(operand, 1, "C4"));
    VERIFY(check.i32Type(operand, "C4"));
  }
  VERIFY(check.fixedExtent(padded, 0, 1, "its only element", "C4"));
  VERIFY(check.fixedExtent(counts, 0, getExperts(), "experts", "C4"));
  int64_t rows = sortedRows.dim(0), block = getBlock();
  if (ShapedType::isDynamic(rows))
    return success();
  VERIFY(check.extent(tileExpert, 0, llvm::divideCeil(rows, block),
                      "ceil(P / block)", sortedRows, "C5"));
  int64_t flatRows = mulExtents(ids.dim(0), ids.dim(1));
  if (ShapedType::isDynamic(flatRows))
    return success();
  int64_t needed = addSaturated(
      flatRows, std::min<int64_t>(getExperts(), flatRows) * (block - 1));
  if (rows < needed)
    return emitOpError("requires sorted_rows to hold at least ")
           << needed << " rows for " << flatRows << " flat rows, "
           << getExperts() << " experts and block " << block << ", but got "
           << rows << " (C6)";
  return success();
}

LogicalResult GroupIdsOp::verify() {
  OperandChecks check(*this);
  Named table{getGroupTable(), "group_table"}, ids{getIds(), "ids"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C4"));
  VERIFY(check.rank(table, 1, "C1"));
  VERIFY(check.i32Type(table, "C1"));
  VERIFY(check.isStatic(table, 0, "E", "C1"));
  VERIFY(check.range(table.dim(0), "E", 1, kMaxExperts, "C1"));
  VERIFY(check.rank(ids, 2, "C1"));
  VERIFY(check.i32Type(ids, "C1"));
  VERIFY(check.isStatic(ids, 1, "the only slot", "C1"));
  VERIFY(check.extent(ids, 1, 1, "the only slot", "C1"));
  Grouping grouping = getGrouping();
  if (grouping != Grouping::Offsets && grouping != Grouping::Sizes &&
      grouping != Grouping::Masked)
    return emitOpError("requires grouping to be offsets, sizes or masked, but "
                       "got ")
           << stringifyGrouping(grouping) << " (C2)";
  if (getCapacity().has_value() != (grouping == Grouping::Masked))
    return emitOpError(
               "requires capacity exactly for grouping masked, but got ")
           << stringifyGrouping(grouping)
           << (getCapacity() ? " with" : " without") << " capacity (C3)";
  if (std::optional<uint64_t> capacity = getCapacity()) {
    VERIFY(check.range(*capacity, "capacity", 0,
                       std::numeric_limits<int32_t>::max(), "C3"));
    VERIFY(check.extent(ids, 0, mulExtents(table.dim(0), *capacity),
                        "E * capacity", table, "C3"));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ActivationOp
//===----------------------------------------------------------------------===//

LogicalResult ActivationOp::verify() {
  OperandChecks check(*this);
  Named h{getH(), "h"}, a{getA(), "a"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C4"));
  for (Named operand : {h, a}) {
    VERIFY(check.rank(operand, 2, "C1"));
    VERIFY(check.floatType(operand, "C1"));
    VERIFY(check.isStatic(operand, 1, "the columns", "C3"));
  }
  bool gated = getActivation().isGated();
  VERIFY(check.extent(h, 1, gated ? mulExtents(a.dim(1), 2) : a.dim(1),
                      gated ? "twice the columns of a" : "the columns of a", a,
                      "C2"));
  return check.extent(a, 0, h.dim(0), "the rows of h", h, "C3");
}

//===----------------------------------------------------------------------===//
// CombineOp
//===----------------------------------------------------------------------===//

LogicalResult CombineOp::verify() {
  OperandChecks check(*this);
  VERIFY(
      check.singleOperands(getProperties().operandSegmentSizes,
                           {{0, "y"}, {1, "weights"}, {2, "ids"}, {6, "out"}}));
  Named y{getY(), "y"}, weights{getWeights(), "weights"}, ids{getIds(), "ids"};
  Named out{getOut(), "out"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C7"));
  VERIFY(verifyIds(check, ids, getExpertMap(), "C1", "C4"));
  for (Named operand : {y, weights, out})
    VERIFY(check.rank(operand, 2, "C1"));
  VERIFY(check.f32Type(weights, "C1"));
  VERIFY(check.isStatic(out, 1, "H", "C1"));
  VERIFY(check.isStatic(y, 1, "H", "C1"));
  for (Named operand : {y, out})
    VERIFY(check.floatType(operand, "C2"));
  VERIFY(check.extent(weights, 0, ids.dim(0), "T", ids, "C3"));
  VERIFY(check.extent(weights, 1, ids.dim(1), "k", ids, "C3"));
  VERIFY(
      check.extent(y, 0, mulExtents(ids.dim(0), ids.dim(1)), "T*k", ids, "C3"));
  VERIFY(check.extent(out, 0, ids.dim(0), "T", ids, "C3"));
  VERIFY(check.extent(y, 1, out.dim(1), "H", out, "C3"));
  for (Named operand : {Named{getX(), "x"}, Named{getResidual(), "residual"}}) {
    if (!operand.value)
      continue;
    VERIFY(check.rank(operand, 2, "C3"));
    VERIFY(check.floatType(operand, "C2"));
    VERIFY(check.extent(operand, 0, out.dim(0), "T", out, "C3"));
    VERIFY(check.isStatic(operand, 1, "H", "C1"));
    VERIFY(check.extent(operand, 1, out.dim(1), "H", out, "C3"));
  }
  VERIFY(check.range(getExperts(), "experts", 1, kMaxExperts, "C4"));
  VERIFY(check.range(getIdentityExperts(), "identity_experts", 0, kMaxExperts,
                     "C5"));
  if ((getIdentityExperts() > 0) != static_cast<bool>(getX()))
    return emitOpError("requires x exactly if identity_experts is above 0, but "
                       "got identity_experts = ")
           << getIdentityExperts() << (getX() ? " with" : " without")
           << " x (C5)";
  VERIFY(check.finite(getScale(), "scale", "C6"));
  VERIFY(check.finite(getRoutedScale(), "routed_scale", "C6"));
  VERIFY(check.finite(getResidualScale(), "residual_scale", "C6"));
  if (!getResidual() && !getResidualScale().isExactlyValue(1.0))
    return emitOpError("requires a residual for residual_scale = ")
           << getResidualScale().convertToFloat() << ", but got none (C6)";
  return success();
}

//===----------------------------------------------------------------------===//
// PermuteOp, UnpermuteOp
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::verify() {
  OperandChecks check(*this);
  Named x{getX(), "x"}, ids{getIds(), "ids"}, rows{getRows(), "rows"};
  Named source{getSource(), "source"}, offsets{getOffsets(), "offsets"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C5"));
  VERIFY(verifyIds(check, ids, getExpertMap(), "C1", "C4"));
  VERIFY(check.rank(x, 2, "C1"));
  VERIFY(check.rank(rows, 2, "C2"));
  VERIFY(check.isStatic(x, 1, "H", "C1"));
  VERIFY(check.isStatic(rows, 1, "H", "C2"));
  VERIFY(check.floatType(x, "C2"));
  VERIFY(check.sameType(rows, x, "C2"));
  VERIFY(check.extent(ids, 0, x.dim(0), "T", x, "C1"));
  int64_t flatRows = mulExtents(ids.dim(0), ids.dim(1));
  VERIFY(check.extent(rows, 0, flatRows, "T*k", ids, "C2"));
  VERIFY(check.extent(rows, 1, x.dim(1), "H", x, "C2"));
  for (Named operand : {source, offsets}) {
    VERIFY(check.rank(operand, 1, "C3"));
    VERIFY(check.i32Type(operand, "C3"));
  }
  VERIFY(check.extent(source, 0, flatRows, "T*k", ids, "C3"));
  VERIFY(check.range(getExperts(), "experts", 1, kMaxExperts, "C4"));
  return check.fixedExtent(offsets, 0, getExperts(), "experts", "C3");
}

LogicalResult UnpermuteOp::verify() {
  OperandChecks check(*this);
  Named rows{getRows(), "rows"}, source{getSource(), "source"}, y{getY(), "y"};
  VERIFY(check.tensorsOrMemrefs());
  VERIFY(check.ownDestinations("C4"));
  VERIFY(check.rank(rows, 2, "C1"));
  VERIFY(check.rank(y, 2, "C1"));
  VERIFY(check.rank(source, 1, "C1"));
  VERIFY(check.i32Type(source, "C1"));
  VERIFY(check.isStatic(rows, 1, "H", "C1"));
  VERIFY(check.isStatic(y, 1, "H", "C1"));
  VERIFY(check.floatType(rows, "C2"));
  VERIFY(check.sameType(y, rows, "C2"));
  VERIFY(check.extent(source, 0, rows.dim(0), "the rows of rows", rows, "C3"));
  VERIFY(check.extent(y, 0, rows.dim(0), "the rows of rows", rows, "C3"));
  return check.extent(y, 1, rows.dim(1), "H", rows, "C3");
}

//===----------------------------------------------------------------------===//
// EncodeTensorMapOp
//===----------------------------------------------------------------------===//

/// Bytes of an element that a tensor map can describe, else 0.
static int64_t tensorMapElementBytes(Type type) {
  if (!type.isIntOrFloat())
    return 0;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

LogicalResult EncodeTensorMapOp::verify() {
  auto type = cast<MemRefType>(getSource().getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (rank < 2 || rank > 5 ||
      failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      strides.back() != 1)
    return emitOpError("requires source to be a memref of rank 2 to 5 without "
                       "offset and with inner stride 1, but got ")
           << type << " (C1)";
  int64_t bytes = tensorMapElementBytes(type.getElementType());
  if (bytes == 0)
    return emitOpError("requires elements of source to be integers or floats "
                       "of 8, 16, 32 or 64 bits, but got ")
           << type.getElementType() << " (C1)";
  // The remainder of the product, without the product: it may exceed int64.
  auto badStride = [&](int64_t stride) {
    return ShapedType::isDynamic(stride) || stride < 1 ||
           stride % 16 * bytes % 16 != 0;
  };
  if (type.isDynamicDim(rank - 1) ||
      llvm::any_of(ArrayRef(strides).drop_back(), badStride))
    return emitOpError("requires rows of source to be a positive multiple of "
                       "16 bytes apart, but got ")
           << type << " (C1)";
  ArrayRef<int64_t> box = getBox();
  if (static_cast<int64_t>(box.size()) != rank ||
      llvm::any_of(box, [](int64_t b) { return b < 1 || b > 256; }))
    return emitOpError("requires box to have ")
           << rank << " entries in [1, 256], but got [" << box << "] (C2)";
  int64_t swizzle = getSwizzle(), innerBytes = box.back() * bytes;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitOpError("requires swizzle to be 0, 32, 64 or 128, but got ")
           << swizzle << " (C3)";
  if (innerBytes % 16 != 0)
    return emitOpError("requires the inner box to be a multiple of 16 bytes, "
                       "but got ")
           << innerBytes << " (C3)";
  if (swizzle != 0 && innerBytes > swizzle)
    return emitOpError("requires the inner box to be at most ")
           << swizzle << " bytes under this swizzle, but got " << innerBytes
           << " (C3)";
  return success();
}
