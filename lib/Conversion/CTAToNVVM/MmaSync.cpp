//===- MmaSync.cpp - ldmatrix and mma.sync ----------------------*- C++ -*-===//
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

/// K of one mma.sync, and how many of them a k-block holds.
constexpr int64_t kStepK = 16;
constexpr int64_t kSteps = 4;
/// 16-byte chunks of one step.
constexpr int64_t kStepChunks = 2;

struct LowerZero : OpConversionPattern<ZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getF32FloatAttr(0));
    SmallVector<Value> values(type.getValues(), zero);
    rewriter.replaceOp(op,
                       e.pack(getTypeConverter()->convertType(type), values));
    return success();
  }
};

/// Lane addresses of one ldmatrix.x4. Tile `a`: matrices are rows 0-7 and 8-15
/// of the first chunk, then of the second. Tile `b`: first and second chunk of
/// eight columns, then of the next eight.
struct LaneAddress {
  Value row, chunk;
  static LaneAddress ofA(Emitter &e) {
    Value lane = e.laneId();
    return {e.bitAnd(lane, 15), e.shr(lane, 4)};
  }
  static LaneAddress ofB(Emitter &e) {
    Value lane = e.laneId();
    Value block = e.shl(e.shr(lane, 4), 3);
    Value row = e.add(block, e.bitAnd(lane, 7));
    return {row, e.bitAnd(e.shr(lane, 3), 1)};
  }
};

struct LowerMmaSync : OpConversionPattern<MmaSyncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MmaSyncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    SmallVector<Value> values = e.unpack(adaptor.getAccumulator());
    LaneAddress laneA = LaneAddress::ofA(e), laneB = LaneAddress::ofB(e);
    int64_t warpColumns = type.getCols() / type.getParts() / 4;
    laneB.row = e.add(laneB.row, e.mul(e.warpInGroup(), warpColumns));

    for (int64_t step = 0; step < kSteps; ++step) {
      Value a = address(e, adaptor.getA(), laneA, step);
      Value b = address(e, adaptor.getB(), laneB, step);
      SmallVector<SmallVector<Value>> slabs;
      for (int64_t slab = 0; slab < type.getSlabs(); ++slab)
        slabs.push_back(load(e, a, slab * 16, op.getElement()));
      multiplyStep(e, op, type, slabs, b, values);
    }
    rewriter.replaceOp(op,
                       e.pack(getTypeConverter()->convertType(type), values));
    return success();
  }

  /// One step of K for all slabs and columns of the warp.
  static void multiplyStep(Emitter &e, MmaSyncOp op, FragmentType type,
                           ArrayRef<SmallVector<Value>> slabs, Value b,
                           MutableArrayRef<Value> values) {
    int64_t blocks = type.getColumnBlocks();
    int64_t perPart = blocks / type.getParts();
    int64_t partRows = type.getCols() / type.getParts();
    for (int64_t block = 0; block < blocks; block += 2) {
      int64_t row = block / perPart * partRows + block % perPart * 8;
      SmallVector<Value> columns = load(e, b, row, op.getElement());
      for (int64_t slab = 0; slab < type.getSlabs(); ++slab)
        for (int64_t half = 0; half < 2; ++half) {
          int64_t at = (slab * blocks + block + half) * 4;
          multiply(e, op.getElement(), slabs[slab],
                   ArrayRef(columns).slice(2 * half, 2), values.slice(at, 4));
        }
    }
  }

  static Value address(Emitter &e, Value tile, LaneAddress lane, int64_t step) {
    Value chunk = e.add(lane.chunk, kStepChunks * step);
    return e.offset(tile, e.swizzled(lane.row, chunk));
  }

  /// ldmatrix.x4 from `row` rows below the address; rows come in multiples of
  /// eight, so that the swizzle of the lane stays as it is.
  static SmallVector<Value> load(Emitter &e, Value address, int64_t row,
                                 Type element) {
    Type i32 = e.b.getI32Type();
    auto type = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                                 {i32, i32, i32, i32});
    auto *context = e.b.getContext();
    Value matrices = NVVM::LdMatrixOp::create(
        e.b, e.loc, type, e.offset(address, row * kRowBytes), 4,
        NVVM::MMALayout::row, NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
        NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> registers = e.unpack(matrices);
    if (element.isF16())
      for (Value &value : registers)
        value = LLVM::BitcastOp::create(
            e.b, e.loc, VectorType::get(2, e.b.getF16Type()), value);
    return registers;
  }

  /// One mma.sync m16n8k16; `values` are updated in place.
  static void multiply(Emitter &e, Type element, ArrayRef<Value> a,
                       ArrayRef<Value> b, MutableArrayRef<Value> values) {
    Type f32 = e.b.getF32Type();
    auto type = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                                 {f32, f32, f32, f32});
    auto kind = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    Value product = NVVM::MmaOp::create(
        e.b, e.loc, type, a, b, ArrayRef<Value>(values),
        ArrayRef<int64_t>{16, 8, kStepK}, std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{kind, kind},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (auto [index, value] : llvm::enumerate(values))
      value = e.extract(product, index);
  }
};

} // namespace

void cta::populateMmaSyncPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<LowerZero, LowerMmaSync>(converter, patterns.getContext());
}
