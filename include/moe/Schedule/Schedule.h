//===- Schedule.h - rank the kernels that can compute a grouped GEMM -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Pure functions from a problem and a chip to a ranked list of schedules. A
// pass turns the first into an attribute; nothing here looks at IR.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_SCHEDULE_SCHEDULE_H
#define MOE_SCHEDULE_SCHEDULE_H

#include "moe/MoE/MoEDialect.h"

#include <string>
#include <vector>

namespace mlir::moe {

struct Target;

/// What the choice of a kernel depends on.
struct GemmProblem {
  /// Expected number of flat rows, T * k (dense: T).
  int64_t rows = 0;
  /// Experts that may hold rows.
  int64_t experts = 1;
  /// Columns of b, before a gated activation halves them.
  int64_t columns = 0;
  /// Contracted extent.
  int64_t k = 0;
  /// Bytes of one element of a and b.
  int64_t elementBytes = 2;
  bool gated = false;
  /// Height of the row blocks where the user fixed it, else 0.
  int64_t block = 0;
  /// Why the tensor-core kernels cannot take the problem; empty if they can.
  std::string simtReason;
};

/// One way to compute the problem with its predicted cost.
struct Candidate {
  Mma mma = Mma::Simt;
  int64_t rows = 16, columns = 128, k = 64; // tile
  int64_t stages = 1, warps = 4;
  /// Height of the blocks of the row table.
  int64_t block = 16;

  /// Expert weights read from memory once, in bytes.
  double weightBytes = 0;
  /// Rows computed, padding included.
  double paddedRows = 0;
  /// Predicted times in microseconds: memory, tensor cores (or f32 units), and
  /// the larger of the two.
  double memoryMicros = 0, mathMicros = 0, micros = 0;
  /// Why the rule took or left it.
  std::string reason;
};

/// Shared memory beside the ring of stages: barriers, row indices of a tile.
constexpr int64_t kRingReserveBytes = 4096;

/// Bytes of shared memory that the ring of a tile needs.
int64_t ringBytes(const Candidate &candidate, int64_t elementBytes);

/// Every candidate that is legal on `target`, best first. Never empty: the
/// general kernel takes every problem.
std::vector<Candidate> rankSchedules(const GemmProblem &problem,
                                     const Target &target);

/// "mma_sync, tile [16, 128, 64], 5 stages".
std::string describe(const Candidate &candidate);

} // namespace mlir::moe

#endif // MOE_SCHEDULE_SCHEDULE_H
