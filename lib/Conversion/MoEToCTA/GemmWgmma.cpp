//===- GemmWgmma.cpp - many rows: TMA and wgmma -----------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One producer warpgroup gathers rows of a with 16-byte copies and fetches b
// with one bulk tensor copy a stage; one or two consumer warpgroups of 64 rows
// multiply. One wgmma group stays in flight, so a stage is released one k-block
// after it was used.
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::cta;

namespace {

struct WgmmaKernel {
  GemmBuilder &g;
  OpBuilder &b;
  Location loc;
  Value ring, staging, rowTiles;
  Type i32Type, pointer;

  WgmmaKernel(GemmBuilder &g)
      : g(g), b(g.b), loc(g.loc), i32Type(g.b.getI32Type()),
        pointer(LLVM::LLVMPointerType::get(g.b.getContext(), 3)) {}

  void makeRing() {
    auto *context = b.getContext();
    auto type = RingType::get(context, g.shape.stages, g.shape.stageBytes,
                              Completion::Mbarrier);
    SmallVector<BufferAttr> buffers = {BufferAttr::get(
        context, "ring", 0, type.getStorageBytes(), kSwizzleAtomBytes)};
    if (g.shape.stagingBytes)
      buffers.push_back(BufferAttr::get(
          context, "staging",
          llvm::alignTo(type.getStorageBytes(), kSwizzleAtomBytes),
          g.shape.stagingBytes, kSwizzleAtomBytes));
    PlanOp plan = g.makePlan(buffers);
    // Every producer thread commits its copies, and the bulk copy adds one.
    ring = RingOp::create(b, loc, type, plan.getResult(0),
                          b.getI64IntegerAttr(kWarpgroupThreads + 1),
                          b.getI64IntegerAttr(4 * g.shape.consumers));
    if (g.shape.stagingBytes)
      staging = plan.getResult(1);
  }

  Value offset(Value address, int64_t bytes) {
    return LLVM::GEPOp::create(
        b, loc, pointer, b.getI8Type(), address,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  std::pair<Value, Value> advance(Value stage, Value phase) {
    auto op = AdvanceOp::create(b, loc, i32Type, i32Type, ring, stage, phase);
    return {op.getNextStage(), op.getNextPhase()};
  }

  /// The tile loop of one role; `body` returns the next stage and phase.
  void walkTiles(
      function_ref<std::pair<Value, Value>(GemmBuilder::Tile, Value, Value)>
          body) {
    Value zero = g.i32(0);
    auto loop = TileLoopOp::create(b, loc, TypeRange{i32Type, i32Type},
                                   rowTiles, g.shape.colTiles, kRasterGroup,
                                   ValueRange{zero, zero});
    OpBuilder::InsertionGuard guard(b);
    Block *block =
        b.createBlock(&loop.getBody(), {}, {i32Type, i32Type, i32Type, i32Type},
                      {loc, loc, loc, loc});
    GemmBuilder::Tile tile =
        g.tileOf(block->getArgument(0), block->getArgument(1));
    auto [stage, phase] =
        body(tile, block->getArgument(2), block->getArgument(3));
    YieldOp::create(b, loc, ValueRange{stage, phase});
  }

  std::pair<Value, Value> produceTile(const GemmBuilder::Tile &tile,
                                      Value stage, Value phase) {
    Value source = g.sourceRows(tile);
    Value first = g.i32(0), end = g.i32(g.shape.kBlocks), step = g.i32(1);
    auto loop =
        scf::ForOp::create(b, loc, first, end, step, ValueRange{stage, phase});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    stage = loop.getRegionIterArg(0);
    phase = loop.getRegionIterArg(1);
    Value address = AcquireOp::create(b, loc, pointer, ring, stage, phase);
    Value k = g.mul(loop.getInductionVar(), kBlockK);
    SmallVector<Value> coordinates = {k, tile.firstCol};
    SmallVector<int64_t> box = {kBlockK, g.shape.tileCols};
    if (g.shape.parts > 1) {
      coordinates.push_back(g.i32(0));
      box.push_back(g.shape.parts);
    }
    coordinates.push_back(tile.expert);
    box.push_back(1);
    TmaLoadOp::create(b, loc, g.param(GemmParam::BMap), coordinates,
                      offset(address, g.shape.aBytes(g.spec)), ring, stage, box,
                      kMultiplicandBytes);
    GatherLoadOp::create(b, loc, source, k, address, g.spec.k, g.shape.alignA);
    CommitOp::create(b, loc, ring, stage);
    auto [nextStage, nextPhase] = advance(stage, phase);
    scf::YieldOp::create(b, loc, ValueRange{nextStage, nextPhase});
    return {loop.getResult(0), loop.getResult(1)};
  }

  /// One k-block of this warpgroup's 64 rows; no accumulator starts a tile.
  Value multiply(Value group, Value stage, Value phase, Value accumulator) {
    auto type = FragmentType::get(b.getContext(), 64, g.shape.tileRowsB,
                                  Mma::Wgmma, g.shape.parts);
    Value address = AwaitOp::create(b, loc, pointer, ring, stage, phase);
    Value rows = address;
    if (g.shape.consumers > 1)
      rows = LLVM::GEPOp::create(
          b, loc, pointer, b.getI8Type(), address,
          ArrayRef<LLVM::GEPArg>{g.mul(group, 64 * kRowBytes)});
    return WgmmaOp::create(b, loc, type, rows,
                           offset(address, g.shape.aBytes(g.spec)), accumulator,
                           g.elementType(g.spec.element));
  }

  std::pair<Value, Value> consumeTile(Value group,
                                      const GemmBuilder::Tile &tile,
                                      Value stage, Value phase) {
    Value firstRow = tile.firstRow;
    if (g.shape.consumers > 1)
      firstRow = g.add(firstRow, g.mul(group, 64));
    Value rows = FragmentRowsOp::create(
        b, loc, RowIdsType::get(b.getContext(), 2), firstRow, tile.limit,
        g.table(), tile.end, 64, Mma::Wgmma);
    Value first = multiply(group, stage, phase, Value());
    auto [nextStage, nextPhase] = advance(stage, phase);
    Value one = g.i32(1), end = g.i32(g.shape.kBlocks);
    auto loop =
        scf::ForOp::create(b, loc, one, end, /*step=*/one,
                           ValueRange{nextStage, nextPhase, stage, first});
    emitSteadyBlock(group, loop);
    Value last =
        WgmmaWaitOp::create(b, loc, first.getType(), loop.getResult(3), 0);
    ReleaseOp::create(b, loc, ring, loop.getResult(2));
    g.finish(tile, firstRow, last, rows, staging);
    return {loop.getResult(0), loop.getResult(1)};
  }

  void emitSteadyBlock(Value group, scf::ForOp loop) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value stage = loop.getRegionIterArg(0), phase = loop.getRegionIterArg(1);
    Value sum = multiply(group, stage, phase, loop.getRegionIterArg(3));
    sum = WgmmaWaitOp::create(b, loc, sum.getType(), sum, 1);
    ReleaseOp::create(b, loc, ring, loop.getRegionIterArg(2));
    auto [nextStage, nextPhase] = advance(stage, phase);
    scf::YieldOp::create(b, loc, ValueRange{nextStage, nextPhase, stage, sum});
  }
};

} // namespace

void GemmBuilder::buildWgmma() {
  WgmmaKernel kernel(*this);
  kernel.makeRing();
  kernel.rowTiles = rowTiles();
  auto budget = [&](int64_t registers) {
    return registers ? b.getI64IntegerAttr(registers) : IntegerAttr();
  };
  auto roles = RolesOp::create(b, loc, b.getI64IntegerAttr(shape.consumers),
                               budget(shape.producerRegisters),
                               budget(shape.consumerRegisters));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&roles.getProducer());
  kernel.walkTiles([&](GemmBuilder::Tile tile, Value stage, Value phase) {
    return kernel.produceTile(tile, stage, phase);
  });
  YieldOp::create(b, loc, ValueRange());

  b.createBlock(&roles.getConsumer());
  Value group = WarpgroupOp::create(b, loc, b.getI32Type());
  kernel.walkTiles([&](GemmBuilder::Tile tile, Value stage, Value phase) {
    return kernel.consumeTile(group, tile, stage, phase);
  });
  YieldOp::create(b, loc, ValueRange());
}
