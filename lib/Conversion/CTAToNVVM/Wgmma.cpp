//===- Wgmma.cpp - warpgroup MMA --------------------------------*- C++ -*-===//
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

/// K of one wgmma, and how many of them a k-block holds.
constexpr int64_t kStepK = 16;
constexpr int64_t kSteps = 4;

// Shared-memory matrix descriptor of a K-major tile with the 128-byte swizzle.
/// The address field: bits 4 to 17 of the shared address, in bits 0 to 13.
constexpr int64_t kAddressShift = 4;
constexpr int64_t kAddressMask = 0x3fff;
/// Leading dimension offset, unused by swizzled K-major tiles: one unit.
constexpr int64_t kLeadingOffset = int64_t(1) << 16;
/// Stride of eight rows, in units of 16 bytes.
constexpr int64_t kStrideOffset = (kSwizzleAtomBytes >> kAddressShift) << 32;
/// Layout type 1: 128-byte swizzle.
constexpr int64_t kSwizzle128 = int64_t(1) << 62;
/// One step of K is 32 bytes inside the swizzle span.
constexpr int64_t kStepOffset = (2 * kStepK) >> kAddressShift;

} // namespace

static Value makeDescriptor(Emitter &e, Value tile) {
  Value address = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), tile);
  Value field = e.zext(e.bitAnd(e.shr(address, kAddressShift), kAddressMask));
  return arith::OrIOp::create(
      e.b, e.loc, field, e.i64(kSwizzle128 | kStrideOffset | kLeadingOffset));
}

namespace {

struct LowerWgmma : OpConversionPattern<WgmmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(WgmmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    Type registers = getTypeConverter()->convertType(type);
    Value a = makeDescriptor(e, adaptor.getA());
    Value b = makeDescriptor(e, adaptor.getB());
    Value values = adaptor.getAccumulator();
    bool fresh = !values;
    if (fresh)
      values = LLVM::UndefOp::create(rewriter, op.getLoc(), registers);

    NVVM::WgmmaFenceAlignedOp::create(rewriter, op.getLoc());
    for (int64_t step = 0; step < kSteps; ++step) {
      auto scale = fresh && step == 0 ? NVVM::WGMMAScaleOut::zero
                                      : NVVM::WGMMAScaleOut::one;
      Value stepA = e.add(a, kStepOffset * step);
      Value stepB = e.add(b, kStepOffset * step);
      values = multiply(e, op, registers, values, stepA, stepB, scale);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    rewriter.replaceOp(op, values);
    return success();
  }

  static Value multiply(Emitter &e, WgmmaOp op, Type registers, Value values,
                        Value a, Value b, NVVM::WGMMAScaleOut scale) {
    auto *context = op.getContext();
    FragmentType type = op.getResult().getType();
    auto element = NVVM::WGMMATypesAttr::get(
        context, op.getElement().isF16() ? NVVM::WGMMATypes::f16
                                         : NVVM::WGMMATypes::bf16);
    auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
    return NVVM::WgmmaMmaAsyncOp::create(
        e.b, e.loc, registers, values, a, b,
        NVVM::MMAShapeAttr::get(context, 64, type.getCols(), kStepK), element,
        element, NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32),
        NVVM::WGMMAScaleOutAttr::get(context, scale), one, one,
        NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
        NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::col),
        NVVM::MMAIntOverflowAttr());
  }
};

struct LowerWgmmaWait : OpConversionPattern<WgmmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(WgmmaWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // A group stays in flight: nothing reads the result, by constraint C3.
    if (op.getPending()) {
      NVVM::WgmmaWaitGroupSyncOp::create(rewriter, op.getLoc(),
                                         op.getPending());
      rewriter.replaceOp(op, adaptor.getFragment());
      return success();
    }
    rewriter.replaceOp(op, tiedWait(rewriter, op, adaptor.getFragment()));
    return success();
  }

  /// The nvvm wait does not name the accumulators, so that a use may move
  /// above it. Inline assembly takes each register in and gives it back.
  static Value tiedWait(OpBuilder &b, WgmmaWaitOp op, Value fragment) {
    Emitter e(b, op.getLoc());
    SmallVector<Value> values = e.unpack(fragment);
    std::string constraints;
    for (size_t i = 0; i < values.size(); ++i)
      constraints += "=f,";
    for (size_t i = 0; i < values.size(); ++i)
      constraints += std::to_string(i) + ",";
    constraints += "~{memory}";
    return LLVM::InlineAsmOp::create(
               b, op.getLoc(), fragment.getType(), values,
               "wgmma.wait_group.sync.aligned 0;", constraints,
               /*has_side_effects=*/true, /*is_align_stack=*/false,
               LLVM::tailcallkind::TailCallKind::None,
               LLVM::AsmDialectAttr::get(b.getContext(),
                                         LLVM::AsmDialect::AD_ATT),
               /*operand_attrs=*/ArrayAttr())
        .getResult(0);
  }
};

} // namespace

void cta::populateWgmmaPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns) {
  patterns.add<LowerWgmma, LowerWgmmaWait>(converter, patterns.getContext());
}
