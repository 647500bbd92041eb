//===- RowTable.h - which rows an expert has -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOCPU_ROWTABLE_H
#define MOE_LIB_CONVERSION_MOETOCPU_ROWTABLE_H

#include "Emitter.h"

namespace mlir::moe::cpu {

/// Candidate rows sorted by expert, ascending inside an expert.
struct RowTable {
  /// memref<(experts + 1) x index>: where the rows of an expert start.
  Value start;
  /// memref<candidates x index>: the candidates that have an expert.
  Value order;
};

/// Sorts the candidates [0, candidates) by `expertOf(candidate)`, an index that
/// is a local expert or -1 for a candidate that has no row. `expertOf` is
/// emitted once. The buffers are scratch.
RowTable sortByExpert(Emitter &e, Value candidates, int64_t experts,
                      function_ref<Value(Value)> expertOf);

/// The loop over the groups of `table` [E], end offsets or sizes, of `rows`
/// rows: `body(group, begin, end)` with `0 <= begin <= end <= rows`, whatever
/// the table holds. `grouping` is Offsets or Sizes.
void groupLoop(Emitter &e, Value table, Value rows, Grouping grouping,
               function_ref<void(Value, Value, Value)> body);

/// The number of rows of group `group` of a masked layout, in [0, capacity].
Value maskedCount(Emitter &e, Value counts, Value group, Value capacity);

} // namespace mlir::moe::cpu

#endif // MOE_LIB_CONVERSION_MOETOCPU_ROWTABLE_H
