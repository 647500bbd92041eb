//===- Schedule.cpp - rank the kernels that can compute a grouped GEMM -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Schedule/Schedule.h"
#include "moe/Target/Target.h"
#include "moe/Target/TensorCore.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::moe;

/// Below this height a block is too short for a 64-row warpgroup MMA.
constexpr int64_t kFirstWgmmaBlock = 64;

SharedPlan moe::planShared(Mma mma, int64_t rows, int64_t columns, int64_t k,
                           int64_t stages, int64_t elementBytes) {
  SharedPlan plan;
  plan.tileA = std::max<int64_t>(rows, 16) * k * elementBytes;
  plan.tileB = columns * k * elementBytes;
  if (mma != Mma::Wgmma)
    return plan;
  // Two 8-byte barriers a stage; each warp stages 16 rows of 128 bytes, from
  // the next swizzle atom on.
  plan.barriers = 16 * stages;
  plan.staging = rows / 16 * 16 * 128 + 1024;
  return plan;
}

int64_t moe::warpsOf(Mma mma, int64_t rows) {
  return warpsOfKernel(mma == Mma::Wgmma, rows);
}

/// Experts that hold at least one of `rows` uniformly routed rows.
static double activeExperts(int64_t rows, int64_t experts) {
  double miss = std::pow(1.0 - 1.0 / experts, static_cast<double>(rows));
  return experts * (1.0 - miss);
}

/// Fills in the cost of `candidate`: weights and rows move through memory once,
/// every padded row is multiplied.
static void predict(Candidate &candidate, const GemmProblem &problem,
                    const Target &target) {
  double active = activeExperts(problem.rows, problem.experts);
  // A block per expert is on average half padding at its end.
  double padding = active * (candidate.block - 1) / 2.0;
  double leastRows = active * candidate.block;
  candidate.paddedRows = std::max(problem.rows + padding, leastRows);
  candidate.weightBytes =
      active * problem.columns * problem.k * problem.elementBytes;
  double outColumns = problem.gated ? problem.columns / 2.0 : problem.columns;
  double rowBytes = problem.rows * (problem.k + outColumns) *
                    static_cast<double>(problem.elementBytes);
  double bandwidth = target.dramBytesPerSecond * target.dramEfficiency;
  double dramSeconds = (candidate.weightBytes + rowBytes) / bandwidth;
  // Each row tile reads its expert's weights, each column tile its rows, from
  // L2.
  double rowTiles = candidate.paddedRows / candidate.rows;
  double columnTiles =
      std::ceil(static_cast<double>(problem.columns) / candidate.columns);
  double l2Bytes =
      (rowTiles * problem.columns + columnTiles * candidate.paddedRows) *
      problem.k * problem.elementBytes;
  double l2Bandwidth = static_cast<double>(target.l2BytesPerClock) *
                       target.numSMs * target.clockHz;
  candidate.memoryMicros = std::max(dramSeconds, l2Bytes / l2Bandwidth) * 1e6;

  double flopsPerClock = candidate.mma == Mma::Wgmma ? target.wgmmaFlopsPerClock
                         : candidate.mma == Mma::MmaSync
                             ? target.mmaSyncFlopsPerClock
                             : target.simtFlopsPerClock;
  double computedRows = std::max<double>(
      candidate.paddedRows, leastRows * candidate.rows / candidate.block);
  double flops = 2.0 * computedRows * problem.columns * problem.k;
  candidate.mathMicros =
      flops /
      (flopsPerClock * target.numSMs * static_cast<double>(target.clockHz)) *
      1e6;
  candidate.micros = std::max(candidate.memoryMicros, candidate.mathMicros);
}

/// As many ring stages as fit beside a second block where that is affordable,
/// at most `most`.
static int64_t fittingStages(const Candidate &candidate,
                             const GemmProblem &problem, int64_t bytes,
                             int64_t most) {
  int64_t stages = most;
  for (; stages > 1; --stages) {
    SharedPlan plan =
        planShared(candidate.mma, candidate.rows, candidate.columns,
                   candidate.k, stages, problem.elementBytes);
    if (plan.total(stages) <= bytes)
      break;
  }
  return stages;
}

static Candidate mmaSyncCandidate(int64_t block, const GemmProblem &problem,
                                  const Target &target) {
  Candidate candidate;
  candidate.mma = Mma::MmaSync;
  candidate.block = block;
  candidate.rows = std::clamp<int64_t>(block, 16, 32);
  candidate.columns = 128;
  candidate.k = kTileK;
  candidate.warps = warpsOf(candidate.mma, candidate.rows);
  // Two blocks share a multiprocessor to hide each other's epilogue.
  candidate.stages =
      fittingStages(candidate, problem,
                    std::min(target.sharedPerBlock, target.sharedPerSM / 2), 5);
  return candidate;
}

static Candidate wgmmaCandidate(int64_t block, const GemmProblem &problem,
                                const Target &target) {
  Candidate candidate;
  candidate.mma = Mma::Wgmma;
  candidate.block = block;
  candidate.rows = std::min<int64_t>(block, 128);
  candidate.columns = 128;
  candidate.k = kTileK;
  candidate.warps = warpsOf(candidate.mma, candidate.rows);
  candidate.stages =
      fittingStages(candidate, problem, target.sharedPerBlock, 4);
  return candidate;
}

std::vector<Candidate> moe::rankSchedules(const GemmProblem &problem,
                                          const Target &target) {
  std::vector<Candidate> ranked;
  if (problem.simtReason.empty()) {
    bool wgmma = target.hasWgmma && problem.wgmmaReason.empty();
    auto consider = [&](int64_t block) {
      if (block >= kFirstWgmmaBlock && wgmma)
        ranked.push_back(wgmmaCandidate(block, problem, target));
      else if (target.hasMmaBF16)
        ranked.push_back(mmaSyncCandidate(block, problem, target));
    };
    if (problem.block != 0) {
      consider(problem.block);
    } else {
      for (int64_t block : {16, 32})
        consider(block);
      if (wgmma)
        for (int64_t block : {64, 128})
          consider(block);
    }
  }
  Candidate simt;
  simt.block = problem.block ? problem.block : 16;
  simt.rows = 16;
  simt.columns = 64;
  simt.k = 16;
  ranked.push_back(simt);

  for (Candidate &candidate : ranked) {
    predict(candidate, problem, target);
    candidate.reason =
        candidate.mma == Mma::Simt && !problem.simtReason.empty()
            ? problem.simtReason
            : llvm::formatv("{0} bound, {1:F0} rows computed for {2}",
                            candidate.mathMicros > candidate.memoryMicros
                                ? "math"
                                : "memory",
                            candidate.paddedRows, problem.rows)
                  .str();
  }
  // Of equal times the shorter block wins: it pads less on skewed routing. The
  // general kernel is last unless it is alone.
  llvm::stable_sort(ranked, [](const Candidate &a, const Candidate &b) {
    bool aSimt = a.mma == Mma::Simt, bSimt = b.mma == Mma::Simt;
    return aSimt != bSimt ? bSimt : a.micros < b.micros;
  });
  return ranked;
}

std::string moe::describe(const Candidate &candidate) {
  return llvm::formatv("{0}, tile [{1}, {2}, {3}], {4} stage{5}",
                       stringifyMma(candidate.mma), candidate.rows,
                       candidate.columns, candidate.k, candidate.stages,
                       candidate.stages == 1 ? "" : "s")
      .str();
}
