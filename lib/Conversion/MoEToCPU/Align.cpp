//===- Align.cpp - moe.align and moe.group_ids -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"
#include "RowTable.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

/// Writes the rows and tiles of one expert from position `first` on, as far as
/// the table reaches, and returns the position behind its last block.
static Value alignExpert(Emitter &e, AlignOp op, const RowTable &table,
                         Value expert, Value first) {
  Value sorted = op.getSortedRows(), tiles = op.getTileExpert();
  Value block = e.index(op.getBlock());
  Value begin = e.load(table.start, {expert});
  Value count = e.sub(e.load(table.start, {e.add(expert, 1)}), begin);
  e.store(count, op.getCounts(), {expert});

  // A table of the promised extent holds every row; a shorter one is cut.
  Value room = e.max(e.sub(e.dim(sorted, 0), first), 0);
  e.loop(e.min(count, room), [&](Value i) {
    Value row = e.load(table.order, {e.add(begin, i)});
    e.store(row, sorted, {e.add(first, i)});
  });
  Value blocks = e.div(e.add(count, op.getBlock() - 1), block);
  Value firstTile = e.div(first, block);
  Value tilesLeft = e.max(e.sub(e.dim(tiles, 0), firstTile), 0);
  e.loop(e.min(blocks, tilesLeft),
         [&](Value i) { e.store(expert, tiles, {e.add(firstTile, i)}); });
  return e.add(first, e.mul(blocks, block));
}

void cpu::lower(Emitter &e, AlignOp op) {
  Value ids = op.getIds();
  int64_t experts = op.getExperts();
  Value slots = e.dim(ids, 1);
  Value flatRows = e.mul(e.dim(ids, 0), slots);
  RowTable table = sortByExpert(e, flatRows, experts, [&](Value row) {
    Value id = e.load(ids, {e.div(row, slots), e.rem(row, slots)});
    return e.localExpert(id, op.getExpertMap(), experts);
  });
  e.loop(e.dim(op.getSortedRows(), 0), [&](Value position) {
    e.store(flatRows, op.getSortedRows(), {position});
  });
  e.loop(e.dim(op.getTileExpert(), 0),
         [&](Value tile) { e.store(e.index(-1), op.getTileExpert(), {tile}); });
  Value first = e.index(0);
  SmallVector<Value> padded =
      e.loop(e.index(experts), {first},
             [&](Value expert, ValueRange carried) -> SmallVector<Value> {
               return {alignExpert(e, op, table, expert, carried[0])};
             });
  e.store(padded[0], op.getPadded(), {e.index(0)});
}

void cpu::lower(Emitter &e, GroupIdsOp op) {
  Value table = op.getGroupTable(), ids = op.getIds();
  Value rows = e.dim(ids, 0), zero = e.index(0);
  e.loop(rows, [&](Value row) { e.store(e.index(-1), ids, {row, zero}); });
  auto fill = [&](Value group, Value begin, Value end) {
    e.loop(begin, end, 1, [&](Value row) { e.store(group, ids, {row, zero}); });
  };
  if (op.getGrouping() != Grouping::Masked)
    return groupLoop(e, table, rows, op.getGrouping(), fill);
  Value capacity = e.index(*op.getCapacity());
  e.loop(e.dim(table, 0), [&](Value group) {
    Value begin = e.mul(group, capacity);
    Value end = e.add(begin, maskedCount(e, table, group, capacity));
    // The rows are the product of both extents, unless a caller is wrong.
    fill(group, begin, e.min(end, rows));
  });
}
