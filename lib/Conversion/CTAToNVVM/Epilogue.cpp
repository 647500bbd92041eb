//===- Epilogue.cpp - scalar code on fragments ------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::cta;

namespace {

struct LowerFragmentRows : OpConversionPattern<FragmentRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(FragmentRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value row = e.add(adaptor.getFirst(), e.shr(e.laneId(), 2));
    if (op.getMma() == Mma::Wgmma)
      row = e.add(row, e.shl(e.warpInGroup(), 4));
    SmallVector<Value> ids;
    for (int64_t i = 0; i < op.getResult().getType().getCount(); ++i) {
      Value place = e.add(row, 8 * i);
      Value flat = place;
      if (Value table = adaptor.getTable())
        flat = e.load(rewriter.getI32Type(),
                      e.offset(table, e.mul(e.zext(place), 4)), 4);
      ids.push_back(
          e.select(e.below(flat, adaptor.getLimit()), flat, e.i32(-1)));
    }
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOp(op, e.pack(type, ids));
    return success();
  }
};

struct LowerEpilogue : OpConversionPattern<EpilogueOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(EpilogueOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType from = op.getFragment().getType();
    SmallVector<Value> values = e.unpack(adaptor.getFragment());
    SmallVector<Value> rows = e.unpack(adaptor.getRows());
    for (Value &row : rows)
      row = arith::MaxSIOp::create(rewriter, op.getLoc(), row, e.i32(0));
    Value column = e.add(adaptor.getColumn(), threadColumn(e, from));
    int64_t tileColumns = from.getCols() / from.getParts();
    Value last = op.getColumns() % tileColumns
                     ? e.i32(static_cast<int64_t>(op.getColumns()) - 1)
                     : Value();

    int64_t blocks = from.getColumnBlocks();
    int64_t perPart = blocks / from.getParts();
    SmallVector<Value> results;
    for (int64_t slab = 0; slab < from.getSlabs(); ++slab)
      for (int64_t block = 0; block < perPart; ++block)
        for (int64_t value = 0; value < 4; ++value) {
          SmallVector<Value> arguments;
          for (int64_t part = 0; part < from.getParts(); ++part)
            arguments.push_back(
                values[(slab * blocks + part * perPart + block) * 4 + value]);
          arguments.push_back(rows[2 * slab + value / 2]);
          Value at = e.add(column, 8 * block + value % 2);
          arguments.push_back(last ? e.umin(at, last) : at);
          results.push_back(cloneBody(op, arguments, rewriter));
        }
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOp(op, e.pack(type, results));
    return success();
  }

  static Value cloneBody(EpilogueOp op, ArrayRef<Value> arguments,
                         ConversionPatternRewriter &rewriter) {
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (Operation &inner : body.without_terminator())
      rewriter.clone(inner, mapping);
    auto yield = cast<YieldOp>(body.getTerminator());
    return mapping.lookupOrDefault(yield.getValues().front());
  }
};

} // namespace

void cta::populateEpiloguePatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns) {
  patterns.add<LowerFragmentRows, LowerEpilogue>(converter,
                                                 patterns.getContext());
}
