//===- Loads.cpp - copies into swizzled tiles -------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::cta;

namespace {

/// A warpgroup copies 16 rows of 8 chunks at a time.
constexpr int64_t kPassRows = 16;
constexpr int64_t kElementBytes = 2;
constexpr int64_t kBlockElements = kRowBytes / kElementBytes;
constexpr int64_t kChunkElements = kChunkBytes / kElementBytes;

/// Which chunk of which row this thread copies.
struct CopyLane {
  explicit CopyLane(Emitter &e) {
    Value thread = e.bitAnd(e.threadId(), kWarpgroupThreads - 1);
    chunk = e.bitAnd(thread, 7);
    row = e.shr(thread, 3);
  }
  Value chunk, row;
};

} // namespace

/// `bytes` (16 when null), or 0 where `keep` is false.
static Value maskBytes(Emitter &e, Value bytes, Value keep) {
  if (!bytes)
    bytes = e.i32(kChunkBytes);
  return e.select(keep, bytes, e.i32(0));
}

namespace {
/// What of the thread's chunk lies inside a row of `extent` elements.
struct RowEnd {
  RowEnd(Emitter &e, const CopyLane &lane, Value k, int64_t extent) {
    if (extent % kBlockElements == 0)
      return; // every k-block is whole
    Value element = e.add(k, e.mul(lane.chunk, kChunkElements));
    if (extent % kChunkElements == 0) {
      inside = e.below(element, extent);
      return;
    }
    Value end = e.i32(extent * kElementBytes);
    left =
        clampBytes(e, e.sub(end, e.mul(element, kElementBytes)), kChunkBytes);
  }

  /// `bytes` (16 when null) without those past the end.
  Value limit(Emitter &e, Value bytes) const {
    if (inside)
      return maskBytes(e, bytes, inside);
    if (!left || !bytes)
      return left ? left : bytes;
    return arith::MinUIOp::create(e.b, e.loc, bytes, left);
  }

  /// `bytes` where they are in [0, most], else the nearer end.
  static Value clampBytes(Emitter &e, Value bytes, int64_t most) {
    Value least = e.i32(0), limit = e.i32(most);
    bytes = arith::MaxSIOp::create(e.b, e.loc, bytes, least);
    return arith::MinSIOp::create(e.b, e.loc, bytes, limit);
  }

private:
  Value inside; // whether the whole chunk is; null where not asked
  Value left;   // bytes up to the end, in [0, 16]; null where not asked
};

} // namespace

/// Copies the first `bytes` (all when null) of a chunk, zeros behind them, in
/// pieces of `align` bytes.
static void copyChunk(Emitter &e, Value to, Value from, Value bytes,
                      int64_t align) {
  // Only copies of 16 bytes may skip the first cache.
  auto cache = align == kChunkBytes ? NVVM::LoadCacheModifierKind::CG
                                    : NVVM::LoadCacheModifierKind::CA;
  auto modifier = NVVM::LoadCacheModifierKindAttr::get(e.b.getContext(), cache);
  for (int64_t at = 0; at < kChunkBytes; at += align) {
    Value piece = bytes;
    if (bytes && align != kChunkBytes)
      piece = RowEnd::clampBytes(e, e.sub(bytes, at), align);
    Value target = e.offset(to, at), source = e.offset(from, at);
    NVVM::CpAsyncOp::create(e.b, e.loc, target, source,
                            e.b.getI32IntegerAttr(align), modifier, piece);
  }
}

namespace {

struct LowerSourceRows : OpConversionPattern<SourceRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SourceRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    CopyLane lane(e);
    Value base = e.offset(adaptor.getBase(), e.shl(lane.chunk, 4));
    SmallVector<Value> pointers, sizes;
    for (int64_t i = 0; i < op.getResult().getType().getCount(); ++i) {
      Value place = e.add(adaptor.getFirst(), e.add(lane.row, kPassRows * i));
      auto [flat, valid] = loadFlatRow(e, place, adaptor.getTable(),
                                       adaptor.getEnd(), adaptor.getLimit());
      Value source = op.getSorted() ? place : flat;
      if (op.getDivisor() != 1)
        source = e.udiv(source, e.i32(op.getDivisor()));
      source = e.select(valid, source, e.i32(0));
      pointers.push_back(e.offset(base, e.mul(e.zext(source), op.getPitch())));
      sizes.push_back(maskBytes(e, {}, valid));
    }
    llvm::append_range(pointers, sizes);
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOp(op, e.pack(type, pointers));
    return success();
  }
};

struct LowerGatherLoad : OpConversionPattern<GatherLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(GatherLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    CopyLane lane(e);
    int64_t count = op.getSource().getType().getCount();
    Value to = e.offset(adaptor.getTile(), e.swizzled(lane.row, lane.chunk));
    RowEnd end(e, lane, adaptor.getK(), op.getExtent());
    Value advance = e.mul(e.zext(adaptor.getK()), kElementBytes);
    for (int64_t i = 0; i < count; ++i) {
      Value from = e.offset(e.extract(adaptor.getSource(), i), advance);
      Value bytes = end.limit(e, e.extract(adaptor.getSource(), count + i));
      Value target = e.offset(to, kPassRows * kRowBytes * i);
      copyChunk(e, target, from, bytes, op.getAlign());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerTileLoad : OpConversionPattern<TileLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(TileLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    CopyLane lane(e);
    int64_t pitch = op.getPitch(), rowStride = op.getRowStride();
    int64_t partRows = op.getRows() / op.getParts();
    Value to = e.offset(adaptor.getTile(), e.swizzled(lane.row, lane.chunk));
    RowEnd end(e, lane, adaptor.getK(), op.getExtent());

    Value row = e.add(adaptor.getFirst(), lane.row);
    Value from =
        e.offset(adaptor.getBase(), e.mul(e.zext(row), rowStride * pitch));
    from = e.offset(from, e.zext(e.shl(lane.chunk, 4)));
    from = e.offset(from, e.mul(e.zext(adaptor.getK()), kElementBytes));
    bool ragged = op.getLimit() % partRows != 0;
    for (int64_t i = 0; i < static_cast<int64_t>(op.getRows()) / kPassRows;
         ++i) {
      int64_t part = kPassRows * i / partRows;
      int64_t inPart = kPassRows * i % partRows;
      int64_t distance = (part * op.getPartStride() + inPart * rowStride);
      Value bytes;
      if (ragged)
        bytes = maskBytes(e, bytes, e.below(e.add(row, inPart), op.getLimit()));
      bytes = end.limit(e, bytes);
      Value target = e.offset(to, kPassRows * kRowBytes * i);
      Value source = e.offset(from, distance * pitch);
      copyChunk(e, target, source, bytes, op.getAlign());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerTmaLoad : OpConversionPattern<TmaLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(TmaLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Location loc = op.getLoc();
    // A thread-id test would give a branch loop per instruction; the warp
    // number is uniform and elect picks the lane.
    Value warp = e.uniformWarp(op);
    Value firstWarp = e.compare(arith::CmpIPredicate::eq, warp, 0);
    auto inWarp = scf::IfOp::create(rewriter, loc, firstWarp, false);
    rewriter.setInsertionPointToStart(inWarp.thenBlock());
    Value elected =
        NVVM::ElectSyncOp::create(rewriter, loc, rewriter.getI1Type(), Value());
    auto issue = scf::IfOp::create(rewriter, loc, elected, false);
    rewriter.setInsertionPointToStart(issue.thenBlock());

    Value barrier = e.fullBarrier(op.getRing().getType(), adaptor.getRing(),
                                  adaptor.getStage());
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, loc, TypeRange(), barrier, e.i32(op.getBoxBytes()),
        NVVM::MemScopeKind::CTA, false, Value());
    Value to = LLVM::AddrSpaceCastOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(op.getContext(), 7),
        adaptor.getTile());
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        rewriter, loc, to, adaptor.getMap(), adaptor.getCoordinates(), barrier,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void cta::populateLoadPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns) {
  patterns.add<LowerSourceRows, LowerGatherLoad, LowerTileLoad, LowerTmaLoad>(
      converter, patterns.getContext());
}
