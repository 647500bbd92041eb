//===- Groups.h - the rows of contiguous groups -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_REFERENCE_GROUPS_H
#define MOE_LIB_REFERENCE_GROUPS_H

#include "moe/MoE/MoEDialect.h"

namespace mlir::moe::reference {

/// End of each expert's rows among `rows` rows that lie expert by expert, from
/// end offsets or from sizes; whatever the table holds, the ends ascend from 0
/// and stay within `rows`.
std::vector<int64_t> groupEnds(Grouping grouping, ArrayRef<int32_t> table,
                               int64_t rows);

/// The expert of each of `rows` rows, -1 where a row has none. `capacity` is
/// the number of rows per expert of `masked`.
std::vector<int64_t> expertOfRows(Grouping grouping, ArrayRef<int32_t> table,
                                  int64_t rows, int64_t capacity);

/// Emits an error at `op` unless `rows` flat rows can be numbered in i32.
LogicalResult verifyFlatRows(Operation *op, int64_t rows);

/// Flat rows expert by expert, ascending inside an expert.
std::vector<std::vector<int64_t>> rowsByExpert(ArrayRef<int32_t> ids,
                                               ArrayRef<int32_t> expertMap,
                                               int64_t experts);

} // namespace mlir::moe::reference

#endif // MOE_LIB_REFERENCE_GROUPS_H
