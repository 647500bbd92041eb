//===- RowTable.cpp - which rows an expert has -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowTable.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

RowTable cpu::sortByExpert(Emitter &e, Value candidates, int64_t experts,
                           function_ref<Value(Value)> expertOf) {
  Type indexType = e.getIndexType();
  Value expert = e.scratch({ShapedType::kDynamic}, indexType, {candidates});
  Value start = e.scratch({experts + 1}, indexType);
  Value next = e.scratch({experts}, indexType);
  Value order = e.scratch({ShapedType::kDynamic}, indexType, {candidates});
  Value zero = e.index(0);

  // Count the rows of each expert, then turn the counts into starts.
  e.loop(experts, [&](Value i) { e.store(zero, next, {i}); });
  e.loop(candidates, [&](Value q) {
    Value found = expertOf(q);
    e.store(found, expert, {q});
    e.when(e.isBelow(found, experts),
           [&] { e.store(e.add(e.load(next, {found}), 1), next, {found}); });
  });
  SmallVector<Value> total =
      e.loop(e.index(experts), {zero},
             [&](Value i, ValueRange sum) -> SmallVector<Value> {
               Value count = e.load(next, {i});
               e.store(sum[0], start, {i});
               e.store(sum[0], next, {i});
               return {e.add(sum[0], count)};
             });
  e.store(total[0], start, {e.index(experts)});

  // Place them in ascending order, which keeps the sort stable.
  e.loop(candidates, [&](Value q) {
    Value found = e.load(expert, {q});
    e.when(e.isBelow(found, experts), [&] {
      Value position = e.load(next, {found});
      e.store(q, order, {position});
      e.store(e.add(position, 1), next, {found});
    });
  });
  return {start, order};
}

void cpu::groupLoop(Emitter &e, Value table, Value rows, Grouping grouping,
                    function_ref<void(Value, Value, Value)> body) {
  Value zero = e.index(0);
  e.loop(e.dim(table, 0), {zero},
         [&](Value group, ValueRange previous) -> SmallVector<Value> {
           Value begin = previous[0];
           Value value = e.load(table, {group});
           Value end = grouping == Grouping::Sizes
                           ? e.add(begin, e.max(value, zero))
                           : e.max(value, begin);
           end = e.min(end, rows);
           body(group, begin, end);
           return {end};
         });
}

Value cpu::maskedCount(Emitter &e, Value counts, Value group, Value capacity) {
  return e.min(e.max(e.load(counts, {group}), 0), capacity);
}
