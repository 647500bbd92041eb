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
  /// Why those of wgmma cannot; empty if they can.
  std::string wgmmaReason;
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

/// Shared memory of one thread block, in bytes.
struct SharedPlan {
  /// A tile of a and a tile of b: one stage of the ring.
  int64_t tileA = 0, tileB = 0;
  /// Barriers of the ring and the staging of finished rows.
  int64_t barriers = 0, staging = 0;

  int64_t total(int64_t stages) const {
    return stages * (tileA + tileB) + barriers + staging;
  }
};

/// What a tensor-core kernel of this tile and number of stages needs.
SharedPlan planShared(Mma mma, int64_t rows, int64_t columns, int64_t k,
                      int64_t stages, int64_t elementBytes);

/// Warps of the kernel: four, and for wgmma four more per 64 rows.
int64_t warpsOf(Mma mma, int64_t rows);

/// Every candidate that is legal on `target`, best first. Never empty: the
/// general kernel takes every problem.
std::vector<Candidate> rankSchedules(const GemmProblem &problem,
                                     const Target &target);

/// "mma_sync, tile [16, 128, 64], 5 stages".
std::string describe(const Candidate &candidate);

} // namespace mlir::moe

#endif // MOE_SCHEDULE_SCHEDULE_H
