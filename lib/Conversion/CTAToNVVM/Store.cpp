//===- Store.cpp - masked row stores ----------------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::cta;

/// A warp turns 16 rows of 128 bytes at a time.
static constexpr int64_t kStripBytes = 16 * kRowBytes;
static constexpr int64_t kStripColumns = 64;

static int64_t bytesOf(Type element) { return element.isF32() ? 4 : 2; }

/// Runs `body` where `condition` holds; null always holds.
static void guarded(Emitter &e, Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  OpBuilder::InsertionGuard guard(e.b);
  auto branch = scf::IfOp::create(e.b, e.loc, condition, /*withElse=*/false);
  e.b.setInsertionPointToStart(branch.thenBlock());
  body();
}

namespace {
/// Where rows go: address of (row, column) of c.
struct Target {
  Emitter &e;
  StoreOp op;
  StoreOp::Adaptor adaptor;
  int64_t elementBytes;

  Value row(Value id, Value inFragment, Value column) {
    Value row = id;
    if (Value position = adaptor.getPosition())
      row = e.add(position, inFragment);
    Value rowStart = e.mul(e.zext(row), op.getRowPitch());
    Value element = e.add(rowStart, e.zext(column));
    return e.offset(adaptor.getBase(), e.mul(element, elementBytes));
  }
  /// True below the last column; null when tiles never reach past it.
  Value below(Value column) {
    int64_t columns = op.getColumns();
    if (columns % op.getFragment().getType().getCols() == 0)
      return {};
    return e.below(column, columns);
  }
};

} // namespace

static Value isValid(Emitter &e, Value id) {
  return e.compare(arith::CmpIPredicate::sge, id, 0);
}

/// Each lane writes its own values: pairs where rows start at even elements.
static void storeDirect(Target &target, ArrayRef<Value> values,
                        ArrayRef<Value> ids) {
  Emitter &e = target.e;
  StoreOp op = target.op;
  FragmentType type = op.getFragment().getType();
  int64_t pairBytes = 2 * target.elementBytes;
  bool pairs = op.getColumns() % 2 == 0 && op.getRowPitch() % 2 == 0 &&
               op.getAlign() % pairBytes == 0;
  Value column = e.add(target.adaptor.getColumn(), threadColumn(e, type));
  Value lane = e.shr(e.laneId(), 2);
  if (type.getMma() == Mma::Wgmma)
    lane = e.add(lane, e.shl(e.warpInGroup(), 4));

  for (int64_t row = 0; row < type.getThreadRows(); ++row)
    guarded(e, isValid(e, ids[row]), [&] {
      Value base = target.row(ids[row], e.add(lane, 8 * row), column);
      for (int64_t block = 0; block < type.getColumnBlocks(); ++block) {
        int64_t at =
            (row / 2 * type.getColumnBlocks() + block) * 4 + row % 2 * 2;
        Value pair = e.roundPair(values[at], values[at + 1], op.getElement());
        Value to = e.offset(base, 8 * block * target.elementBytes);
        Value first = e.add(column, 8 * block);
        if (pairs) {
          guarded(e, target.below(first),
                  [&] { e.store(pair, to, pairBytes); });
          continue;
        }
        for (int64_t half = 0; half < 2; ++half)
          guarded(e, target.below(e.add(first, half)), [&] {
            Value single =
                LLVM::ExtractElementOp::create(e.b, e.loc, pair, e.i32(half));
            e.store(single, e.offset(to, half * target.elementBytes),
                    target.elementBytes);
          });
      }
    });
}

/// One strip of 64 columns into the warp's swizzled rows with stmatrix.x4.
static void writeStrip(Emitter &e, Value strip, ArrayRef<Value> values,
                       Type element) {
  auto *context = e.b.getContext();
  Value lane = e.laneId();
  Value row = e.bitAnd(lane, 15), half = e.shr(lane, 4);
  for (int64_t pair = 0; pair < 4; ++pair) {
    SmallVector<Value> matrices;
    for (int64_t i = 0; i < 4; ++i) {
      int64_t at = pair * 8 + 2 * i;
      Value two = e.roundPair(values[at], values[at + 1], element);
      matrices.push_back(
          LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), two));
    }
    Value to = e.offset(strip, e.swizzled(row, e.add(half, 2 * pair)));
    NVVM::StMatrixOp::create(e.b, e.loc, to, matrices, NVVM::MMALayout::row,
                             NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
                             NVVM::LdStMatrixEltType::B16);
  }
}

/// Through shared memory: 16 bytes a lane, 128 bytes of a row together.
static void storeStaged(Target &target, ArrayRef<Value> values,
                        ArrayRef<Value> ids) {
  Emitter &e = target.e;
  StoreOp op = target.op;
  FragmentType type = op.getFragment().getType();
  Value lane = e.laneId();
  Value chunk = e.bitAnd(lane, 7), laneRow = e.shr(lane, 3);
  // Consumers start at warp 4.
  Value warp = e.sub(e.shr(e.threadId(), 5), 4);
  Value strip = e.offset(target.adaptor.getStaging(), e.mul(warp, kStripBytes));
  Value column = e.add(target.adaptor.getColumn(), e.shl(chunk, 3));
  Value inFragment = e.add(laneRow, e.shl(e.warpInGroup(), 4));

  SmallVector<Value> bases, valid;
  for (int64_t pass = 0; pass < 4; ++pass) {
    // Fragment row r is held by the lanes 4 * (r % 8) to 4 * (r % 8) + 3.
    Value holder = e.shl(e.add(laneRow, 4 * (pass % 2)), 2);
    Value id = e.shuffle(ids[pass / 2], holder);
    valid.push_back(isValid(e, id));
    bases.push_back(target.row(id, e.add(inFragment, 4 * pass), column));
  }
  Type chunkType = VectorType::get(4, e.b.getI32Type());
  for (int64_t from = 0; from < type.getCols(); from += kStripColumns) {
    e.syncWarp();
    writeStrip(e, strip, values.slice(from / 2, kStripColumns / 2),
               op.getElement());
    e.syncWarp();
    Value inside = target.below(e.add(column, from));
    for (int64_t pass = 0; pass < 4; ++pass) {
      Value row = e.add(laneRow, 4 * pass);
      Value data = e.load(chunkType, e.offset(strip, e.swizzled(row, chunk)),
                          kChunkBytes);
      Value keep = valid[pass];
      if (inside)
        keep = arith::AndIOp::create(e.b, e.loc, keep, inside);
      guarded(e, keep, [&] {
        e.store(data, e.offset(bases[pass], from * target.elementBytes),
                kChunkBytes);
      });
    }
  }
}

namespace {

struct LowerStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Target target{e, op, adaptor, bytesOf(op.getElement())};
    SmallVector<Value> values = e.unpack(adaptor.getFragment());
    SmallVector<Value> ids = e.unpack(adaptor.getRows());
    if (adaptor.getStaging())
      storeStaged(target, values, ids);
    else
      storeDirect(target, values, ids);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void cta::populateStorePatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns) {
  patterns.add<LowerStore>(converter, patterns.getContext());
}
