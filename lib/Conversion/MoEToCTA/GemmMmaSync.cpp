//===- GemmMmaSync.cpp - few rows: cp.async and mma.sync --------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// 128 threads load and multiply. The ring runs `stages - 1` k-blocks ahead of
// the multiplication; one barrier per k-block both publishes a stage and frees
// the one before it.
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"

using namespace mlir;
using namespace mlir::cta;

namespace {

struct MmaSyncKernel {
  GemmBuilder &g;
  OpBuilder &b;
  Location loc;
  Value ring;

  MmaSyncKernel(GemmBuilder &g) : g(g), b(g.b), loc(g.loc) {}

  void makeRing() {
    auto type = RingType::get(b.getContext(), g.shape.stages,
                              g.shape.stageBytes, Completion::Groups);
    PlanOp plan = g.makePlan({BufferAttr::get(
        b.getContext(), "ring", 0, type.getStorageBytes(), kSwizzleAtomBytes)});
    ring = RingOp::create(b, loc, type, plan.getResult(0), IntegerAttr(),
                          IntegerAttr());
  }

  Value tileB(Value stage) {
    return LLVM::GEPOp::create(
        b, loc, stage.getType(), b.getI8Type(), stage,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(g.shape.aBytes(g.spec))});
  }

  /// Copies k-block `block` of both operands into the stage.
  void load(const GemmBuilder::Tile &tile, Value source, Value base,
            Value block, Value stage) {
    bool halves = g.spec.activation.layout == GemmGateLayout::Halves;
    int64_t parts = g.shape.parts;
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
    Value address = StageOp::create(b, loc, pointer, ring, stage);
    Value k = g.mul(block, kBlockK);
    GatherLoadOp::create(b, loc, source, k, address, g.spec.k, g.shape.alignA);
    TileLoadOp::create(b, loc, base, tile.firstCol, k, tileB(address),
                       g.shape.tileRowsB, g.shape.outCols,
                       g.shape.pitchB * kMultiplicandBytes, g.spec.k, parts,
                       parts == 1 ? 0
                       : halves   ? g.shape.outCols
                                  : 1,
                       parts == 1 || halves ? 1 : 2, g.shape.alignB);
  }

  void emitTile(Value row, Value col) {
    GemmBuilder::Tile tile = g.tileOf(row, col);
    Value source = g.sourceRows(tile);
    Value base = g.expertBase(g.param(GemmParam::B), tile.expert,
                              g.shape.expertB, kMultiplicandBytes);
    for (int64_t i = 0; i < g.shape.stages - 1; ++i) {
      Value block = g.i32(i);
      if (i < g.shape.kBlocks)
        load(tile, source, base, block, /*stage=*/block);
      CommitOp::create(b, loc, ring, block);
    }
    auto rowsType = RowIdsType::get(b.getContext(), g.spec.block / 8);
    Value rows =
        FragmentRowsOp::create(b, loc, rowsType, tile.firstRow, tile.limit,
                               g.table(), tile.end, g.spec.block, Mma::MmaSync);
    Value accumulator = multiply(tile, source, base);
    DrainOp::create(b, loc, ring);
    g.finish(tile, tile.firstRow, accumulator, rows, Value());
  }

  Value multiply(const GemmBuilder::Tile &tile, Value source, Value base) {
    auto type =
        FragmentType::get(b.getContext(), g.spec.block, g.shape.tileRowsB,
                          Mma::MmaSync, g.shape.parts);
    Value zero = ZeroOp::create(b, loc, type);
    Value first = g.i32(0), end = g.i32(g.shape.kBlocks), step = g.i32(1);
    Value ahead = g.i32(g.shape.stages - 1);
    auto loop = scf::ForOp::create(b, loc, first, end, step,
                                   ValueRange{zero, first, ahead});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    Value stage = loop.getRegionIterArg(1), fill = loop.getRegionIterArg(2);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
    Value address = AwaitOp::create(b, loc, pointer, ring, stage, first);

    Value next = g.add(block, ahead);
    Value exists =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, end);
    auto branch = scf::IfOp::create(b, loc, exists, /*withElse=*/false);
    {
      OpBuilder::InsertionGuard inBranch(b);
      b.setInsertionPointToStart(branch.thenBlock());
      load(tile, source, base, next, fill);
    }
    CommitOp::create(b, loc, ring, fill);

    Value product = MmaSyncOp::create(b, loc, type, address, tileB(address),
                                      loop.getRegionIterArg(0),
                                      g.elementType(g.spec.element));
    Value nextStage = AdvanceOp::create(b, loc, b.getI32Type(), b.getI32Type(),
                                        ring, stage, first)
                          .getNextStage();
    Value nextFill = AdvanceOp::create(b, loc, b.getI32Type(), b.getI32Type(),
                                       ring, fill, first)
                         .getNextStage();
    scf::YieldOp::create(b, loc, ValueRange{product, nextStage, nextFill});
    return loop.getResult(0);
  }
};

} // namespace

void GemmBuilder::buildMmaSync() {
  MmaSyncKernel kernel(*this);
  kernel.makeRing();
  auto loop = TileLoopOp::create(b, loc, TypeRange(), rowTiles(),
                                 shape.colTiles, kRasterGroup, ValueRange());
  OpBuilder::InsertionGuard guard(b);
  Type i32Type = b.getI32Type();
  Block *body =
      b.createBlock(&loop.getBody(), {}, {i32Type, i32Type}, {loc, loc});
  kernel.emitTile(body->getArgument(0), body->getArgument(1));
  YieldOp::create(b, loc, ValueRange());
}
