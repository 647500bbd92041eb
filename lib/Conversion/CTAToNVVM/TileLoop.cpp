//===- TileLoop.cpp - roles and the persistent loop -------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::cta;

/// Moves the body of `region` to the end of `block`, which holds a terminator
/// or nothing, and turns its yield into scf.yield.
static void moveBody(Region &region, Block *block, ValueRange arguments,
                     RewriterBase &rewriter) {
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
    rewriter.eraseOp(&block->back());
  Block *body = &region.front();
  auto yield = cast<YieldOp>(body->getTerminator());
  rewriter.inlineBlockBefore(body, block, block->end(), arguments);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(yield);
  rewriter.replaceOpWithNewOp<scf::YieldOp>(yield, yield.getValues());
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static void setRegisters(RewriterBase &rewriter, Block *block,
                         int64_t registers, NVVM::SetMaxRegisterAction action) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(block);
  NVVM::SetMaxRegisterOp::create(
      rewriter, block->getParentOp()->getLoc(),
      rewriter.getI32IntegerAttr(registers),
      NVVM::SetMaxRegisterActionAttr::get(rewriter.getContext(), action));
}

static void lowerRoles(RolesOp op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  Emitter e(rewriter, op.getLoc());
  Value group = e.shr(e.uniformWarp(op), 2);
  Value produces = e.compare(arith::CmpIPredicate::eq, group, 0);
  auto branch =
      scf::IfOp::create(rewriter, op.getLoc(), produces, /*withElse=*/true);
  moveBody(op.getProducer(), branch.thenBlock(), {}, rewriter);
  moveBody(op.getConsumer(), branch.elseBlock(), {}, rewriter);
  if (auto registers = op.getProducerRegisters())
    setRegisters(rewriter, branch.thenBlock(), *registers,
                 NVVM::SetMaxRegisterAction::decrease);
  if (auto registers = op.getConsumerRegisters())
    setRegisters(rewriter, branch.elseBlock(), *registers,
                 NVVM::SetMaxRegisterAction::increase);
  rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// Tile loop
//===----------------------------------------------------------------------===//

/// Tile number to row and column tile: columns of `group` row tiles, the last
/// group as tall as what is left.
static std::pair<Value, Value> decompose(Emitter &e, TileLoopOp op,
                                         Value tile) {
  int64_t colTiles = op.getColTiles(), group = op.getGroup();
  if (group == 1)
    return {e.udiv(tile, e.i32(colTiles)), e.urem(tile, e.i32(colTiles))};
  Value perGroup = e.i32(colTiles * group);
  Value firstRow = e.mul(e.udiv(tile, perGroup), group);
  Value height = e.umin(e.sub(op.getRowTiles(), firstRow), group);
  Value inGroup = e.urem(tile, perGroup);
  return {e.add(firstRow, e.urem(inGroup, height)), e.udiv(inGroup, height)};
}

static void lowerTileLoop(TileLoopOp op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  Emitter e(rewriter, op.getLoc());
  Type i32 = rewriter.getI32Type();
  Value total = e.mul(op.getRowTiles(), op.getColTiles());
  Value first = NVVM::BlockIdXOp::create(rewriter, op.getLoc(), i32);
  Value step = NVVM::GridDimXOp::create(rewriter, op.getLoc(), i32);
  auto loop = scf::ForOp::create(rewriter, op.getLoc(), first, total, step,
                                 op.getInits());
  Block *block = loop.getBody();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(block);
  auto [row, col] = decompose(e, op, loop.getInductionVar());
  SmallVector<Value> arguments = {row, col};
  llvm::append_range(arguments, loop.getRegionIterArgs());
  moveBody(op.getBody(), block, arguments, rewriter);
  rewriter.replaceOp(op, loop.getResults());
}

void cta::lowerControl(Operation *root) {
  IRRewriter rewriter(root->getContext());
  SmallVector<TileLoopOp> loops;
  SmallVector<RolesOp> roles;
  root->walk([&](TileLoopOp op) { loops.push_back(op); });
  root->walk([&](RolesOp op) { roles.push_back(op); });
  for (TileLoopOp op : loops)
    lowerTileLoop(op, rewriter);
  for (RolesOp op : roles)
    lowerRoles(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Warp numbers
//===----------------------------------------------------------------------===//

namespace {

struct LowerWarpgroup : OpConversionPattern<WarpgroupOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(WarpgroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    rewriter.replaceOp(op, e.sub(e.shr(e.uniformWarp(op), 2), 1));
    return success();
  }
};

struct LowerUniform : OpConversionPattern<UniformOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UniformOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    rewriter.replaceOp(op, e.broadcast(adaptor.getValue()));
    return success();
  }
};

} // namespace

void cta::populateRolePatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns) {
  patterns.add<LowerWarpgroup, LowerUniform>(converter, patterns.getContext());
}
