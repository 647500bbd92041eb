//===- AlignRows.cpp - give tensor-core GEMMs a row table -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A tensor-core tile holds rows of one expert. This pass puts the table that
// says which rows in front of the GEMMs:
//
//   y = grouped_gemm(a, b) rows(ids) {schedule = <wgmma, tile = [64, ..]>}
//
// becomes
//
//   table = align(ids) {block = 64}
//   y = grouped_gemm(a, b) rows(table) {grouping = aligned, block = 64}
//
// Ragged layouts (offsets, sizes, counts) first become ids, one per row. After
// moe-select-schedule, before bufferization.
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/MoEDialect.h"
#include "moe/Schedule/TensorCoreSupport.h"
#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::moe {
#define GEN_PASS_DEF_ALIGNROWSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
/// What decides the contents of a row table.
using TableKey = std::tuple<Block *, Value, Value, int64_t, int64_t>;

struct AlignRows : moe::impl::AlignRowsPassBase<AlignRows> {
  void runOnOperation() override;

  /// `op` with its ragged layout turned into ids.
  GroupedGemmOp toIds(IRRewriter &rewriter, GroupedGemmOp op);
  GroupedGemmOp maskedToIds(IRRewriter &rewriter, GroupedGemmOp op);
  /// The row table of `op`, built in front of it or found.
  AlignOp tableFor(IRRewriter &rewriter, GroupedGemmOp op);
  GroupedGemmOp toAligned(IRRewriter &rewriter, GroupedGemmOp op);
  /// Keeps the rows between `op` and the GEMM it feeds in table order.
  void sortIntermediate(IRRewriter &rewriter, GroupedGemmOp op);

  DenseMap<TableKey, AlignOp> tables;
};
} // namespace

static remark::RemarkOpts alignRemark() {
  return remark::RemarkOpts::name("row-table").category("moe-align");
}

static bool needsTable(GroupedGemmOp op) {
  switch (op.getGrouping()) {
  case Grouping::Ids:
  case Grouping::Offsets:
  case Grouping::Sizes:
  case Grouping::Masked:
    if (hasDynamicGroups(op))
      return false;
    return op.getNumResults() != 0 && op.getSchedule() &&
           op.getSchedule()->getMma() != Mma::Simt;
  default:
    return false;
  }
}

static Value emptyLike(OpBuilder &builder, Location loc,
                       ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

/// A copy of `op` with other operands and another grouping.
static GroupedGemmOp rebuild(OpBuilder &builder, GroupedGemmOp op, Value a,
                             ValueRange rows, Value weights, Value c,
                             Grouping grouping) {
  auto copy = cast<GroupedGemmOp>(builder.clone(*op));
  copy.getAMutable().assign(a);
  copy.getRowsMutable().assign(rows);
  if (weights)
    copy.getWeightsMutable().assign(weights);
  if (grouping != Grouping::Ids)
    copy.getExpertMapMutable().clear();
  copy.getCMutable().assign(c);
  copy.getResult(0).setType(cast<RankedTensorType>(c.getType()));
  copy.setGrouping(grouping);
  return copy;
}

static Value groupIds(OpBuilder &builder, GroupedGemmOp op, OpFoldResult rows,
                      IntegerAttr capacity) {
  Value ids = emptyLike(builder, op.getLoc(), {rows, builder.getIndexAttr(1)},
                        builder.getI32Type());
  return GroupIdsOp::create(builder, op.getLoc(), TypeRange{ids.getType()},
                            op.getRows().front(), ids, op.getGroupingAttr(),
                            capacity)
      .getResult(0);
}

/// weights [R] as [R, 1].
static Value weightsPerSlot(OpBuilder &builder, Location loc, Value weights) {
  if (!weights)
    return Value();
  auto type = cast<RankedTensorType>(weights.getType());
  OpFoldResult rows = tensor::getMixedSize(builder, loc, weights, 0);
  auto slots =
      RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType());
  return tensor::ExpandShapeOp::create(builder, loc, slots, weights,
                                       ArrayRef<ReassociationIndices>{{0, 1}},
                                       {rows, builder.getIndexAttr(1)});
}

/// The outer two of three dimensions as one.
static Value collapseOuter(OpBuilder &builder, Location loc, Value value) {
  return tensor::CollapseShapeOp::create(
      builder, loc, value, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
}

GroupedGemmOp AlignRows::maskedToIds(IRRewriter &rewriter, GroupedGemmOp op) {
  Location loc = op.getLoc();
  // Schedules for a dynamic capacity name the general kernel.
  auto typeA = cast<RankedTensorType>(op.getA().getType());
  int64_t rows = typeA.getDimSize(0) * typeA.getDimSize(1);
  Value ids = groupIds(rewriter, op, rewriter.getIndexAttr(rows),
                       rewriter.getI64IntegerAttr(typeA.getDimSize(1)));
  Value weights;
  if (op.getWeights())
    weights = weightsPerSlot(rewriter, loc,
                             tensor::CollapseShapeOp::create(
                                 rewriter, loc, op.getWeights(),
                                 ArrayRef<ReassociationIndices>{{0, 1}}));
  Value a = collapseOuter(rewriter, loc, op.getA());
  Value c = collapseOuter(rewriter, loc, op.getC());
  GroupedGemmOp flat = rebuild(rewriter, op, a, ids, weights, c, Grouping::Ids);
  Value result = tensor::ExpandShapeOp::create(
      rewriter, loc, op.getResult(0).getType(), flat.getResult(0),
      ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  rewriter.replaceOp(op, result);
  return flat;
}

GroupedGemmOp AlignRows::toIds(IRRewriter &rewriter, GroupedGemmOp op) {
  if (op.getGrouping() == Grouping::Ids)
    return op;
  rewriter.setInsertionPoint(op);
  if (op.getGrouping() == Grouping::Masked)
    return maskedToIds(rewriter, op);
  Location loc = op.getLoc();
  OpFoldResult rows = tensor::getMixedSize(rewriter, loc, op.getA(), 0);
  Value ids = groupIds(rewriter, op, rows, IntegerAttr());
  GroupedGemmOp flat = rebuild(rewriter, op, op.getA(), ids,
                               weightsPerSlot(rewriter, loc, op.getWeights()),
                               op.getC(), Grouping::Ids);
  rewriter.replaceOp(op, flat.getResults());
  return flat;
}

AlignOp AlignRows::tableFor(IRRewriter &rewriter, GroupedGemmOp op) {
  Location loc = op.getLoc();
  Value ids = op.getRows().front();
  int64_t experts = op.getNumExperts();
  int64_t block = op.getSchedule()->tileRows();
  AlignOp &table =
      tables[{op->getBlock(), ids, op.getExpertMap(), experts, block}];
  if (table)
    return table;

  rewriter.setInsertionPoint(op);
  OpFoldResult tokens = tensor::getMixedSize(rewriter, loc, ids, 0);
  AffineExpr t = rewriter.getAffineSymbolExpr(0);
  AffineExpr blocks =
      (t * op.getSlots() + experts * (block - 1)).ceilDiv(block);
  auto sizeOf = [&](AffineExpr expr) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, {tokens});
  };
  Type i32 = rewriter.getI32Type();
  Value outs[] = {
      emptyLike(rewriter, loc, {sizeOf(blocks * block)}, i32),
      emptyLike(rewriter, loc, {sizeOf(blocks)}, i32),
      emptyLike(rewriter, loc, {rewriter.getIndexAttr(1)}, i32),
      emptyLike(rewriter, loc, {rewriter.getIndexAttr(experts)}, i32)};
  table = AlignOp::create(rewriter, loc, ValueRange(outs).getTypes(), ids,
                          op.getExpertMap(), outs[0], outs[1], outs[2], outs[3],
                          experts, block);
  remark::passed(loc, alignRemark())
      << llvm::formatv("row table of blocks of {0} rows for {1} experts, {2} "
                       "slots per token",
                       block, experts, op.getSlots())
             .str();
  return table;
}

GroupedGemmOp AlignRows::toAligned(IRRewriter &rewriter, GroupedGemmOp op) {
  AlignOp table = tableFor(rewriter, op);
  rewriter.setInsertionPoint(op);
  GroupedGemmOp aligned =
      rebuild(rewriter, op, op.getA(), table.getResults().take_front(3),
              op.getWeights(), op.getC(), Grouping::Aligned);
  aligned.setTopK(op.getSlots());
  aligned.setBlock(table.getBlock());
  rewriter.replaceOp(op, aligned.getResults());
  return aligned;
}

void AlignRows::sortIntermediate(IRRewriter &rewriter, GroupedGemmOp op) {
  if (!op.getResult(0).hasOneUse() ||
      !op.getC().getDefiningOp<tensor::EmptyOp>())
    return;
  OpOperand &use = *op.getResult(0).use_begin();
  auto consumer = dyn_cast<GroupedGemmOp>(use.getOwner());
  if (!consumer || &use != &consumer.getAMutable() ||
      consumer.getGrouping() != Grouping::Aligned ||
      consumer.getRows() != op.getRows() ||
      consumer.getWeight() == WeightPlace::Input)
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op.getC().getType());
  OpFoldResult rows =
      tensor::getMixedSize(rewriter, loc, op.getRows().front(), 0);
  Value sorted = emptyLike(rewriter, loc,
                           {rows, rewriter.getIndexAttr(type.getDimSize(1))},
                           type.getElementType());
  op.getCMutable().assign(sorted);
  op.getResult(0).setType(cast<RankedTensorType>(sorted.getType()));
  op.setCOrder(RowOrder::Sorted);
  consumer.setAOrder(RowOrder::Sorted);
  // With one slot per token, which a read of this op's rows by token implies,
  // tokens are flat rows.
  consumer.setRowSource(RowSource::Flat);
  remark::passed(loc, alignRemark())
      << "the rows between two GEMMs stay in the order of the table";
}

void AlignRows::runOnOperation() {
  tables.clear();
  SmallVector<GroupedGemmOp> gemms;
  getOperation()->walk([&](GroupedGemmOp op) {
    if (needsTable(op))
      gemms.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  SmallVector<GroupedGemmOp> aligned;
  for (GroupedGemmOp op : gemms)
    aligned.push_back(toAligned(rewriter, toIds(rewriter, op)));
  for (GroupedGemmOp op : aligned)
    sortIntermediate(rewriter, op);
}
