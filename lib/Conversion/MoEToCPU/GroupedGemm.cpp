//===- GroupedGemm.cpp - moe.grouped_gemm -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A grouping decides which rows an expert has; the product of these rows with
// the expert's matrix is the same for all of them.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "Lowerings.h"
#include "RowTable.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

namespace {
/// The indices that one row has in the operands, without the last one.
struct RowAddress {
  SmallVector<Value> a, c, weight;
};

/// Lowers one op. A candidate is what the grouping counts: a flat row, a
/// position of the row table, or a row of a group.
class GroupedGemmLowering {
public:
  GroupedGemmLowering(Emitter &e, GroupedGemmOp op)
      : e(e), op(op), grouping(op.getGrouping()),
        kernel(e, shapeOf(op),
               grouping == Grouping::KGrouped ? e.dim(op.getA(), 1) : Value()) {
  }

  void lower();

private:
  static GemmShape shapeOf(GroupedGemmOp op);
  void lowerSorted(Value candidates, function_ref<Value(Value)> expertOf);
  void lowerMasked();
  void lowerRuns();
  void lowerKGrouped();
  Value expertOfId(Value flatRow);
  Value expertOfPosition(Value position, Value flatRows);
  Value rowBound();
  Value sortedBound();
  Value sentinelOfTable(Value positions);
  RowAddress address(Value candidate);
  void product(Value expert, Value count,
               function_ref<RowAddress(Value)> addressOf);
  void epilogue(Value expert, const RowAddress &row, Value cPack, Value packed);

  Emitter &e;
  GroupedGemmOp op;
  Grouping grouping;
  GemmKernel kernel;
};
} // namespace

GemmShape GroupedGemmLowering::shapeOf(GroupedGemmOp op) {
  return {op.getBLayout(),
          cast<MemRefType>(op.getB().getType()).getElementType(),
          op.getNumColumns(), op.getK()};
}

void GroupedGemmLowering::lower() {
  switch (grouping) {
  case Grouping::Dense: {
    Value expert = e.index(0);
    return product(expert, rowBound(), [&](Value row) { return address(row); });
  }
  case Grouping::Ids: {
    Value ids = op.getRows().front();
    Value rows = e.mul(e.dim(ids, 0), op.getSlots());
    return lowerSorted(e.min(rows, rowBound()),
                       [&](Value row) { return expertOfId(row); });
  }
  case Grouping::Aligned: {
    Value padded = e.max(e.load(op.getRows()[2], {e.index(0)}), 0);
    Value positions = e.min(padded, sortedBound());
    Value flatRows = rowBound();
    if (!flatRows)
      flatRows = e.max(sentinelOfTable(positions), 0);
    return lowerSorted(positions, [&](Value position) {
      return expertOfPosition(position, flatRows);
    });
  }
  case Grouping::Offsets:
  case Grouping::Sizes:
    return lowerRuns();
  case Grouping::Masked:
    return lowerMasked();
  case Grouping::KGrouped:
    return lowerKGrouped();
  }
}

//===----------------------------------------------------------------------===//
// Groupings
//===----------------------------------------------------------------------===//

void GroupedGemmLowering::lowerSorted(Value candidates,
                                      function_ref<Value(Value)> expertOf) {
  int64_t experts = op.getNumExperts();
  RowTable table = sortByExpert(e, candidates, experts, expertOf);
  e.loop(experts, [&](Value expert) {
    Value begin = e.load(table.start, {expert});
    Value end = e.load(table.start, {e.add(expert, 1)});
    product(expert, e.sub(end, begin), [&](Value i) {
      return address(e.load(table.order, {e.add(begin, i)}));
    });
  });
}

void GroupedGemmLowering::lowerRuns() {
  groupLoop(e, op.getRows().front(), rowBound(), grouping,
            [&](Value expert, Value begin, Value end) {
              product(expert, e.sub(end, begin),
                      [&](Value i) { return address(e.add(begin, i)); });
            });
}

void GroupedGemmLowering::lowerMasked() {
  Value capacity = e.dim(op.getA(), 1);
  capacity = e.min(capacity, e.dim(op.getC(), 1));
  if (Value weights = op.getWeights())
    capacity = e.min(capacity, e.dim(weights, 1));
  e.loop(op.getNumExperts(), [&](Value expert) {
    Value count = maskedCount(e, op.getRows().front(), expert, capacity);
    product(expert, count, [&](Value i) -> RowAddress {
      return {{expert, i}, {expert, i}, {expert, i}};
    });
  });
}

/// The run of an expert contracts columns of a: every row of a takes part in
/// every expert.
void GroupedGemmLowering::lowerKGrouped() {
  Value a = op.getA(), b = op.getB();
  Value rowsOfB = e.dim(b, op.getBLayout() == BLayout::NK ? 1 : 0);
  groupLoop(e, op.getRows().front(), e.min(e.dim(a, 1), rowsOfB),
            Grouping::Offsets, [&](Value expert, Value begin, Value end) {
              GemmMatrix matrix{b, {}, begin, e.sub(end, begin)};
              // Named: GemmRows only refers to them.
              auto source = [](Value i) { return SmallVector<Value>{i}; };
              auto finish = [&](Value i, Value cPack, Value packed) {
                epilogue(expert, {{}, {expert, i}, {}}, cPack, packed);
              };
              kernel.emit({e.dim(a, 0), a, source, nullptr, finish}, matrix);
            });
}

Value GroupedGemmLowering::expertOfId(Value flatRow) {
  Value ids = op.getRows().front();
  Value slots = e.dim(ids, 1);
  Value id = e.load(ids, {e.div(flatRow, slots), e.rem(flatRow, slots)});
  return e.localExpert(id, op.getExpertMap(), op.getNumExperts());
}

/// The sentinel and every other number that is no flat row of the operands has
/// no expert, nor has a row in a tile without one.
Value GroupedGemmLowering::expertOfPosition(Value position, Value flatRows) {
  Value tile = e.div(position, *op.getBlock());
  Value expert = e.load(op.getRows()[1], {tile});
  Value row = e.load(op.getRows()[0], {position});
  Value hasExpert = e.isBelow(expert, op.getNumExperts());
  Value exists = e.both(hasExpert, e.isBelow(row, flatRows));
  return e.select(exists, expert, e.index(-1));
}

/// The number of flat rows: the least that an operand indexed with them has,
/// null where none is. They all agree where the op is used as documented.
Value GroupedGemmLowering::rowBound() {
  Value slots = e.index(op.getSlots()), bound;
  auto atMost = [&](Value rows) { bound = bound ? e.min(bound, rows) : rows; };
  if (op.getRowSource() == RowSource::Token)
    atMost(e.mul(e.dim(op.getA(), 0), slots));
  else if (op.getAOrder() == RowOrder::Flat)
    atMost(e.dim(op.getA(), 0));
  if (op.getCOrder() == RowOrder::Flat)
    atMost(e.dim(op.getC(), 0));
  if (Value weights = op.getWeights())
    atMost(e.mul(e.dim(weights, 0), slots));
  return bound;
}

/// Where a and c are both sorted, nothing is indexed with the flat row and the
/// sentinel itself tells: it stands past `padded`, and where nothing is past
/// it, in the padding as the largest entry, more than once. A table without
/// padding has no sentinel to skip.
Value GroupedGemmLowering::sentinelOfTable(Value positions) {
  Value table = op.getRows().front(), extent = e.dim(table, 0);
  return e.choose(
      e.isBelow(positions, extent),
      [&]() -> SmallVector<Value> {
        return {e.load(table, {e.sub(extent, 1)})};
      },
      [&]() -> SmallVector<Value> {
        Value none = e.index(std::numeric_limits<int32_t>::min());
        Value zero = e.index(0), one = e.index(1);
        SmallVector<Value> largest = e.loop(
            extent, {none, zero},
            [&](Value p, ValueRange carried) -> SmallVector<Value> {
              Value row = e.load(table, {p});
              Value isLarger =
                  e.compare(arith::CmpIPredicate::sgt, row, carried[0]);
              Value isEqual =
                  e.compare(arith::CmpIPredicate::eq, row, carried[0]);
              Value count = e.add(carried[1], e.select(isEqual, one, zero));
              return {e.max(row, carried[0]), e.select(isLarger, one, count)};
            });
        Value repeats = e.isBelow(one, largest[1]);
        return {e.select(repeats, largest[0], extent)};
      })[0];
}

/// Positions of the row table that every operand indexed with them has.
Value GroupedGemmLowering::sortedBound() {
  Value bound = e.dim(op.getRows().front(), 0);
  if (op.getAOrder() == RowOrder::Sorted)
    bound = e.min(bound, e.dim(op.getA(), 0));
  if (op.getCOrder() == RowOrder::Sorted)
    bound = e.min(bound, e.dim(op.getC(), 0));
  Value tiles = e.mul(e.dim(op.getRows()[1], 0), *op.getBlock());
  return e.min(bound, tiles);
}

RowAddress GroupedGemmLowering::address(Value candidate) {
  Value flatRow = candidate;
  if (grouping == Grouping::Aligned)
    flatRow = e.load(op.getRows()[0], {candidate});
  if (grouping != Grouping::Aligned && grouping != Grouping::Ids)
    return {{flatRow}, {flatRow}, {flatRow}};
  Value slots = e.index(op.getSlots());
  Value token = e.div(flatRow, slots);
  RowAddress row;
  row.a = {op.getAOrder() == RowOrder::Sorted      ? candidate
           : op.getRowSource() == RowSource::Token ? token
                                                   : flatRow};
  row.c = {op.getCOrder() == RowOrder::Sorted ? candidate : flatRow};
  row.weight = {token, e.rem(flatRow, slots)};
  return row;
}

//===----------------------------------------------------------------------===//
// Product and epilogue
//===----------------------------------------------------------------------===//

void GroupedGemmLowering::product(Value expert, Value count,
                                  function_ref<RowAddress(Value)> addressOf) {
  GemmMatrix matrix{op.getB(), {expert}, nullptr, nullptr};
  auto source = [&](Value i) { return addressOf(i).a; };
  auto factor = [&](Value i) {
    return e.load(op.getWeights(), addressOf(i).weight);
  };
  auto finish = [&](Value i, Value cPack, Value packed) {
    epilogue(expert, addressOf(i), cPack, packed);
  };
  GemmRows rows{count, op.getA(), source, nullptr, finish};
  if (op.getWeight() == WeightPlace::Input)
    rows.factor = factor;
  kernel.emit(rows, matrix);
}

/// Bias, activation, router weight and the one rounding, for one row.
void GroupedGemmLowering::epilogue(Value expert, const RowAddress &row,
                                   Value cPack, Value packed) {
  Value bias = op.getBias();
  auto addBias = [&](Value vector, Value column, int64_t width) {
    if (!bias)
      return vector;
    return e.addf(vector, e.loadVector(bias, {expert, column}, width));
  };
  Value weight;
  if (op.getWeight() == WeightPlace::Output)
    weight = e.load(op.getWeights(), row.weight);

  auto cType = cast<MemRefType>(op.getC().getType());
  int64_t columns = cType.getDimSize(cType.getRank() - 1);
  e.columnLoop(columns, [&](Value column, int64_t width) {
    Value result;
    if (ActivationAttr activation = op.getActivationAttr())
      result = activateColumns(e, activation, cPack, {packed}, columns, column,
                               width, addBias);
    else
      result =
          addBias(e.loadVector(cPack, {packed, column}, width), column, width);
    if (weight)
      result = e.mulf(result, e.splat(weight, width));
    SmallVector<Value> target(row.c);
    target.push_back(column);
    e.storeVector(result, op.getC(), target);
  });
}

void cpu::lower(Emitter &e, GroupedGemmOp op) {
  GroupedGemmLowering(e, op).lower();
}
