//===- SimtGemm.cpp - the general grouped GEMM in exact f32 -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every grouping, layout and element type. A thread block computes a tile of
// 16 or 32 rows x 64 columns of b. Rows of one tile may belong to several
// experts: the block then multiplies once per expert among them, ascending,
// and stores the rows of that expert.
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "SimtTile.h"

#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::moe;

static constexpr int kNoMoreExperts = std::numeric_limits<int32_t>::max();

namespace {
/// The kernel of one GEMM and what its pieces share.
struct SimtGemm {
  GroupedGemmOp op;
  LaunchSite &site;
  Value tableRows; // the number of flat rows, where only a table tells
  KernelBuilder k;
  int64_t experts, bColumns, cColumns;
  Buffer a, b, c;
  SmallVector<Buffer> groups;
  std::optional<Buffer> expertMap, bias, weights;

  SimtGemm(GroupedGemmOp op, LaunchSite &site);
  void emitRows();
  void emitContracted();

  /// Where a row of the tile comes from and goes to, all i32.
  struct Row {
    Val expert; // -1: the row does not exist
    Val a, c;   // rows of a and c
    Val flat;   // index of weights
  };

  bool nk() { return op.getBLayout() == BLayout::NK; }
  bool gated() { return op.getActivation() && op.getActivation()->isGated(); }
  int64_t globalExperts();
  int tileRows();
  Val flatRowCount();
  Row alignedRow(Val place, Val places, Val sentinel);
  Row plainRow(Val index, Val count, std::optional<Val> capacity);
  Val bColumn(Val tileColumn);
  Val loadB(Val expert, Val depth, Val tileColumn);
  void multiplyExpert(SimtTile &tile, ArrayRef<Buffer> rows, Val expert);
  void storeRow(Row row, ArrayRef<Val> sums, Val firstColumn);
};
} // namespace

static int64_t dimOf(Value memref, int64_t dim) {
  return cast<MemRefType>(memref.getType()).getDimSize(dim);
}

SimtGemm::SimtGemm(GroupedGemmOp op, LaunchSite &site)
    : op(op), site(site), tableRows(tableRowsOf(op, site)),
      k(site, "grouped_gemm", SimtTile::kThreads), experts(op.getNumExperts()),
      bColumns(op.getNumColumns()), a(k.buffer("a", op.getA())),
      b(k.buffer("b", op.getB())) {
  static constexpr llvm::StringLiteral alignedNames[] = {
      "sorted_rows", "tile_expert", "padded"};
  for (auto [i, rows] : llvm::enumerate(op.getRows()))
    groups.push_back(k.buffer(op.getGrouping() == Grouping::Aligned
                                  ? alignedNames[i]
                                  : llvm::StringLiteral("rows"),
                              rows));
  expertMap = optionalBuffer(k, "expert_map", op.getExpertMap());
  bias = optionalBuffer(k, "bias", op.getBias());
  weights = optionalBuffer(k, "weights", op.getWeights());
  c = k.buffer("c", op.getC());
  cColumns = gated() ? bColumns / 2 : bColumns;
  if (op.getGrouping() == Grouping::Masked) {
    // Rows count through the groups, which follow each other without gaps.
    a = a.inner();
    c = c.inner();
  }
}

int64_t SimtGemm::globalExperts() {
  return expertMap ? dimOf(op.getExpertMap(), 0) : experts;
}

/// Rows of a tile: a block of the row table where it has at least 32.
int SimtGemm::tileRows() {
  if (op.getGrouping() == Grouping::Aligned)
    return *op.getBlock() >= 32 ? 32 : 16;
  return op.getGrouping() == Grouping::Ids ? 16 : 32;
}

/// The number of flat rows of a row table.
Val SimtGemm::flatRowCount() {
  FlatRows flat = flatRows(op);
  if (!flat.memref)
    return k.load(k.buffer("flat_rows", tableRows), k.i32(0));
  Extent R = k.extent(flat.factor == 1 ? "R" : "T", flat.memref, 0);
  return R.value * static_cast<int>(flat.factor);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The row at `place` of the row table; `sentinel` is the number of flat rows.
SimtGemm::Row SimtGemm::alignedRow(Val place, Val places, Val sentinel) {
  int slots = static_cast<int>(*op.getTopK());
  int block = static_cast<int>(*op.getBlock());
  SmallVector<Val> loaded = k.ifElse(
      place < min(k.load(groups[2], k.i32(0)), places),
      [&]() -> SmallVector<Val> {
        return {k.load(groups[1], place / block), k.load(groups[0], place)};
      },
      [&]() -> SmallVector<Val> { return {k.i32(-1), k.i32(-1)}; });
  Val expert = loaded[0], flat = loaded[1];
  Val isRow = isBelow(flat, sentinel);
  Val exists = isRow & isBelow(expert, experts);
  Row row;
  row.expert = select(exists, expert, -1);
  row.flat = flat;
  row.a = op.getAOrder() == RowOrder::Sorted      ? place
          : op.getRowSource() == RowSource::Token ? flat / slots
                                                  : flat;
  row.c = op.getCOrder() == RowOrder::Sorted ? place : flat;
  return row;
}

/// Row `index` of `count` rows in any grouping without a row table.
SimtGemm::Row SimtGemm::plainRow(Val index, Val count,
                                 std::optional<Val> capacity) {
  Row row{Val(), index, index, index};
  if (op.getGrouping() == Grouping::Ids &&
      op.getRowSource() == RowSource::Token)
    row.a = index / static_cast<int>(op.getSlots());
  auto expertInside = [&]() -> Val {
    switch (op.getGrouping()) {
    case Grouping::Ids:
      return localExpert(k, k.load(groups[0], index), expertMap,
                         globalExperts(), experts);
    case Grouping::Masked: {
      Val expert = index / *capacity, inner = index % *capacity;
      Val filled = inner < k.load(groups[0], expert);
      return select(filled, expert, -1);
    }
    case Grouping::Offsets:
    case Grouping::Sizes:
      return expertOfRow(k, groups[0], experts, op.getGrouping(), index, count);
    default:
      return k.i32(0); // dense
    }
  };
  row.expert = k.ifElse(
      index < count, [&]() -> SmallVector<Val> { return {expertInside()}; },
      [&]() -> SmallVector<Val> { return {k.i32(-1)}; })[0];
  return row;
}

//===----------------------------------------------------------------------===//
// Product and epilogue
//===----------------------------------------------------------------------===//

/// The column of b at a column of the tile, or -1 beyond the last. Under a
/// gated activation the tile alternates gate and up columns.
Val SimtGemm::bColumn(Val tileColumn) {
  int columns = static_cast<int>(bColumns), half = columns / 2;
  Val first = k.block(1) * SimtTile::kColumns;
  if (gated() && op.getActivation()->getLayout() == GateUpLayout::Halves) {
    Val column = (first + tileColumn) >> 1;
    Val stored = column + (tileColumn & 1) * half;
    return select(column < half, stored, -1);
  }
  Val column = first + tileColumn;
  return select(column < columns, column, -1);
}

/// Element (depth, column) of the expert's matrix, 0 beyond the last column.
Val SimtGemm::loadB(Val expert, Val depth, Val tileColumn) {
  Val column = bColumn(tileColumn);
  return k.ifElse(
      column >= 0,
      [&]() -> SmallVector<Val> {
        Val at = nk() ? k.at(b, {expert, column, depth})
                      : k.at(b, {expert, depth, column});
        return {k.load(b, at)};
      },
      [&]() -> SmallVector<Val> { return {k.f32(0)}; })[0];
}

/// Multiplies the tile by the matrix of `expert` and stores its rows. `rows`
/// holds the fields of Row in shared memory.
void SimtGemm::multiplyExpert(SimtTile &tile, ArrayRef<Buffer> rows,
                              Val expert) {
  int64_t depths = op.getK();
  auto left = [&](Val row, Val depth) {
    return k.ifElse(
        k.load(rows[0], row) == expert,
        [&]() -> SmallVector<Val> {
          return {k.load(a, k.at(a, {k.load(rows[1], row), depth}))};
        },
        [&]() -> SmallVector<Val> { return {k.f32(0)}; })[0];
  };
  auto right = [&](Val depth, Val column) {
    return loadB(expert, depth, column);
  };
  Val from = k.i32(0), to = k.i32(depths);
  SmallVector<Val> sums = tile.multiply(from, to, left, right, nk());
  for (int i = 0; i < tile.rowsPerThread(); ++i) {
    Val at = tile.rowOf(i);
    k.ifThen(k.load(rows[0], at) == expert, [&] {
      Row row{expert, k.load(rows[1], at), k.load(rows[2], at),
              k.load(rows[3], at)};
      constexpr int columns = SimtTile::kColumnsPerThread;
      storeRow(row, ArrayRef<Val>(sums).slice(i * columns, columns),
               tile.columnOf(0));
    });
  }
}

/// Epilogue: bias, activation, router weight; one rounding at the store.
void SimtGemm::storeRow(Row row, ArrayRef<Val> sums, Val firstColumn) {
  Val weight = weights ? k.load(*weights, row.flat) : Val();
  SmallVector<Val> values(sums);
  for (auto [j, value] : llvm::enumerate(values)) {
    if (op.getWeight() == WeightPlace::Input)
      value = value * weight;
    if (!bias)
      continue;
    Val column = max(bColumn(firstColumn + static_cast<int>(j)), 0);
    value = value + k.load(*bias, k.at(*bias, {row.expert, column}));
  }
  int step = gated() ? 2 : 1;
  Val first = (k.block(1) * SimtTile::kColumns + firstColumn) / step;
  for (size_t j = 0; j < values.size(); j += step) {
    Val value = values[j];
    if (ActivationAttr activation = op.getActivationAttr())
      value = activate(activation, value, values[j + step - 1]);
    if (op.getWeight() == WeightPlace::Output)
      value = value * weight;
    Val column = first + static_cast<int>(j / step);
    k.ifThen(column < static_cast<int>(cColumns),
             [&] { k.store(c, k.at(c, {row.c, column}), value); });
  }
}

//===----------------------------------------------------------------------===//
// The two kernels
//===----------------------------------------------------------------------===//

/// The smallest expert above `after` among the tile's rows.
static Val nextExpert(KernelBuilder &k, Buffer rowExperts, int rows,
                      Val after) {
  return k.forLoop(
      0, rows, 1, {k.i32(kNoMoreExperts)}, [&](Val i, ArrayRef<Val> carried) {
        Val expert = k.load(rowExperts, i);
        Val candidate = select(expert > after, expert, kNoMoreExperts);
        return SmallVector<Val>{min(carried[0], candidate)};
      })[0];
}

/// c[r, :] = a[src(r), :] . b[expert(r)] for rows in any order.
void SimtGemm::emitRows() {
  bool aligned = op.getGrouping() == Grouping::Aligned;
  int rows = tileRows();
  AffineExpr gridRows;
  std::function<Row(Val)> rowAt;
  if (aligned) {
    Extent P = k.extent("P", op.getRows()[0], 0);
    Val sentinel = flatRowCount();
    gridRows = P.symbol;
    rowAt = [this, P, sentinel](Val i) {
      return alignedRow(i, P.value, sentinel);
    };
  } else if (op.getGrouping() == Grouping::Masked) {
    Extent capacity = k.extent("C", op.getA(), 1);
    gridRows = capacity.symbol * experts;
    Val count = capacity.value * static_cast<int>(experts);
    rowAt = [this, count, capacity](Val i) {
      return plainRow(i, count, capacity.value);
    };
  } else {
    bool ids = op.getGrouping() == Grouping::Ids;
    int slots = ids ? static_cast<int>(op.getSlots()) : 1;
    Extent R =
        ids ? k.extent("T", op.getRows()[0], 0) : k.extent("R", op.getA(), 0);
    gridRows = R.symbol * slots;
    Val count = R.value * slots;
    rowAt = [this, count](Val i) { return plainRow(i, count, std::nullopt); };
  }

  SimtTile tile(k, rows);
  SmallVector<Buffer> table;
  for (StringRef field : {"row_expert", "row_a", "row_c", "row_flat"})
    table.push_back(k.shared(field, k.i32Type(), rows));
  k.ifThen(k.thread() < rows, [&] {
    Val first = k.block() * rows;
    Row row = rowAt(first + k.thread());
    Val fields[] = {row.expert, row.a, row.c, row.flat};
    for (auto [buffer, value] : llvm::zip(table, fields))
      k.store(buffer, k.thread(), value);
  });
  k.barrier();
  k.whileLoop(
      {nextExpert(k, table[0], rows, k.i32(-1))},
      [&](ArrayRef<Val> expert) { return expert[0] != kNoMoreExperts; },
      [&](ArrayRef<Val> expert) -> SmallVector<Val> {
        multiplyExpert(tile, table, expert[0]);
        return {nextExpert(k, table[0], rows, expert[0])};
      });
  k.launch({gridRows.ceilDiv(rows),
            k.rule(llvm::divideCeil(bColumns, SimtTile::kColumns))});
}

/// c[e] = a[:, rows of e] . b[rows of e, :]; an expert per block in z.
void SimtGemm::emitContracted() {
  int64_t m = dimOf(op.getA(), 0);
  Extent R = k.extent("R", op.getA(), 1);
  SimtTile tile(k, /*rows=*/32);
  Val expert = k.block(2), end = expert + 1;
  SmallVector<Val> range = k.forLoop(
      0, end, 1, {k.i32(0), k.i32(0)},
      [&](Val e, ArrayRef<Val> carried) -> SmallVector<Val> {
        return {carried[1], nextGroupEnd(k, groups[0], Grouping::Offsets, e,
                                         carried[1], R.value)};
      });
  Val firstRow = k.block() * tile.rows;
  Val firstColumn = k.block(1) * SimtTile::kColumns;
  auto loadIf = [&](Val condition, Buffer from, Val at) {
    return k.ifElse(
        condition, [&]() -> SmallVector<Val> { return {k.load(from, at)}; },
        [&]() -> SmallVector<Val> { return {k.f32(0)}; })[0];
  };
  for (Buffer *rows : {&a, &b})
    if (rows->strides[0].isNumber(0))
      rows->strides[0] = k.extend(R.value);
  auto left = [&](Val row, Val depth) {
    Val at = k.at(a, {firstRow + row, depth});
    return loadIf(firstRow + row < static_cast<int>(m), a, at);
  };
  auto right = [&](Val depth, Val tileColumn) {
    Val column = firstColumn + tileColumn;
    Val at = nk() ? k.at(b, {column, depth}) : k.at(b, {depth, column});
    return loadIf(column < static_cast<int>(bColumns), b, at);
  };
  SmallVector<Val> sums = tile.multiply(range[0], range[1], left, right, nk());
  for (size_t i = 0; i < sums.size(); ++i) {
    Val row = firstRow + tile.rowOf(i / SimtTile::kColumnsPerThread);
    Val column = firstColumn + tile.columnOf(i % SimtTile::kColumnsPerThread);
    Val isRow = row < static_cast<int>(m);
    k.ifThen(isRow & (column < static_cast<int>(bColumns)),
             [&] { k.store(c, k.at(c, {expert, row, column}), sums[i]); });
  }
  k.launch({k.rule(llvm::divideCeil(m, tile.rows)),
            k.rule(llvm::divideCeil(bColumns, SimtTile::kColumns)),
            k.rule(experts)});
}

LogicalResult moe::outlineSimtGemm(GroupedGemmOp op, LaunchSite &site) {
  SimtGemm gemm(op, site);
  if (op.getGrouping() == Grouping::KGrouped)
    gemm.emitContracted();
  else
    gemm.emitRows();
  return success();
}
