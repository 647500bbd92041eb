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

FlatRow cta::loadFlatRow(Emitter &e, Value place, Value table, Value end,
                         Value limit) {
  if (!table)
    return {place, e.below(place, limit)};
  Value inside = end ? e.below(place, end) : Value();
  // A place past the end has no entry: read the first of the table instead.
  Value entry = end ? e.select(inside, place, e.i32(0)) : place;
  Value row =
      e.load(e.b.getI32Type(), e.offset(table, e.mul(e.zext(entry), 4)), 4);
  Value valid = e.below(row, limit);
  if (end)
    valid = arith::AndIOp::create(e.b, e.loc, valid, inside);
  return {row, valid};
}

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
      FlatRow flat = loadFlatRow(e, e.add(row, 8 * i), adaptor.getTable(),
                                 adaptor.getEnd(), adaptor.getLimit());
      ids.push_back(e.select(flat.valid, flat.row, e.i32(-1)));
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
