//===- Parallel.h - loops over large arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DATA_PARALLEL_H
#define MOE_DATA_PARALLEL_H

#include <cstdint>
#include <functional>

namespace mlir::moe {

/// Calls `body(begin, end)` for ranges that make up [0, size), each a multiple
/// of `grain` long but the last. Large loops are spread over the machine's
/// processors; `body` must not throw.
void parallelFor(int64_t size, int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)> &body);

} // namespace mlir::moe

#endif // MOE_DATA_PARALLEL_H
