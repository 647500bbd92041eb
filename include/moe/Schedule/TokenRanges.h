//===- TokenRanges.h - where another schedule becomes the best --*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions from the GEMMs of a layer and a chip to the numbers of tokens
// at which the layer should change its kernels.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_SCHEDULE_TOKENRANGES_H
#define MOE_SCHEDULE_TOKENRANGES_H

#include "moe/MoE/FunctionAttributes.h"
#include "moe/Schedule/Schedule.h"

namespace mlir::moe {

/// A problem whose size follows from the number T of tokens.
struct TokenProblem {
  GemmProblem problem;
  /// rows = rowsPerToken * T; 0 where the rows are those of `problem`.
  int64_t rowsPerToken = 0;
  /// k = T: the ragged rows are contracted.
  bool contractsTokens = false;

  GemmProblem at(int64_t tokens) const;
};

/// Problems that share a row table, and so the height of its blocks.
using TokenProblems = std::vector<TokenProblem>;

/// One candidate for each ranked list: of the blocks that every list has a
/// tensor-core kernel for, the one with the least time over all lists, or each
/// list's first where there is none. Ties go to the order of the first list.
std::vector<Candidate>
chooseTogether(ArrayRef<std::vector<Candidate>> rankedLists);

/// The number of tokens that the schedules of a range are chosen for.
///
/// Bounded: the geometric mean of its ends. Costs grow roughly with a power of
/// T, so of all choices this one is at worst equally wrong at both ends.
/// Unbounded: four times its lower end, a step inside the range that large
/// batches are near by the same measure, but at least `tokens`.
int64_t representativeTokens(TokenRange range, int64_t tokens);

/// Ranges of T, ascending and without gaps from 1 on, the last unbounded, such
/// that one choice of schedules serves each: at most five, fewer where a common
/// choice costs at most 3 % more time anywhere. One range where T does not
/// matter. `groups` are decided independently; `tokens` as above.
std::vector<TokenRange> chooseTokenRanges(ArrayRef<TokenProblems> groups,
                                          const Target &target, int64_t tokens);

} // namespace mlir::moe

#endif // MOE_SCHEDULE_TOKENRANGES_H
