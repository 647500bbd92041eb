//===- ScheduleTest.cpp - ranking of grouped GEMM kernels -------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Schedule/Schedule.h"
#include "moe/Target/Target.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::moe;

/// 128 experts of 1536 x 2048 bf16, `rows` rows in all.
static GemmProblem problemOf(int64_t rows, int64_t block = 0) {
  GemmProblem problem;
  problem.rows = rows;
  problem.experts = 128;
  problem.columns = 1536;
  problem.k = 2048;
  problem.block = block;
  return problem;
}

/// Calls `check` for problems of every size on every chip.
template <typename Check>
static void forEachProblem(Check check) {
  for (const Target &target : allTargets())
    for (int64_t rows : {0, 1, 8, 100, 4096, 65536, 4000000})
      for (int64_t experts : {1, 8, 256, 4096})
        for (int64_t columns : {1, 64, 4096})
          for (int64_t k : {8, 64, 7168})
            for (int64_t block : {0, 1, 16, 32, 64, 128, 256}) {
              SCOPED_TRACE(target.arch.str() + " rows " + std::to_string(rows) +
                           " experts " + std::to_string(experts) + " columns " +
                           std::to_string(columns) + " k " + std::to_string(k) +
                           " block " + std::to_string(block));
              GemmProblem problem = problemOf(rows, block);
              problem.experts = experts;
              problem.columns = columns;
              problem.k = k;
              check(problem, target, rankSchedules(problem, target));
            }
}

static const Target &chip(const char *arch) { return *lookupTarget(arch); }

namespace {

TEST(Schedule, AlwaysHasTheGeneralKernelLast) {
  forEachProblem([](const GemmProblem &, const Target &,
                    const std::vector<Candidate> &ranked) {
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.back().mma, Mma::Simt);
    for (size_t i = 0; i + 1 < ranked.size(); ++i)
      EXPECT_NE(ranked[i].mma, Mma::Simt);
  });
}

TEST(Schedule, IsOrderedByTime) {
  forEachProblem([](const GemmProblem &, const Target &,
                    const std::vector<Candidate> &ranked) {
    for (const Candidate &candidate : ranked) {
      EXPECT_TRUE(std::isfinite(candidate.micros));
      EXPECT_GE(candidate.micros, 0);
      EXPECT_EQ(candidate.micros,
                std::max(candidate.memoryMicros, candidate.mathMicros));
      EXPECT_FALSE(candidate.reason.empty());
    }
    for (size_t i = 0; i + 2 < ranked.size(); ++i)
      EXPECT_LE(ranked[i].micros, ranked[i + 1].micros);
  });
}

TEST(Schedule, FitsTheChip) {
  forEachProblem([](const GemmProblem &problem, const Target &target,
                    const std::vector<Candidate> &ranked) {
    for (const Candidate &candidate : ranked) {
      if (candidate.mma == Mma::Simt)
        continue;
      EXPECT_TRUE(candidate.mma == Mma::Wgmma ? target.hasWgmma
                                              : target.hasMmaBF16);
      SharedPlan plan =
          planShared(candidate.mma, candidate.rows, candidate.columns,
                     candidate.k, candidate.stages, problem.elementBytes);
      EXPECT_LE(plan.total(candidate.stages), target.sharedPerBlock);
      // A ring of one stage would not overlap loads and products.
      EXPECT_GE(candidate.stages, 2);
      EXPECT_EQ(candidate.warps, warpsOf(candidate.mma, candidate.rows));
      EXPECT_LE(32 * candidate.warps, target.threadsPerBlock);
    }
  });
}

/// A tile holds rows of one block, and of a written block the rows it says.
TEST(Schedule, KeepsTheWrittenBlock) {
  forEachProblem([](const GemmProblem &problem, const Target &target,
                    const std::vector<Candidate> &ranked) {
    for (const Candidate &candidate : ranked) {
      if (problem.block != 0) {
        EXPECT_EQ(candidate.block, problem.block);
      }
      if (candidate.mma == Mma::Simt)
        continue;
      // Below 16 rows the tile is masked, otherwise tiles divide the block.
      if (candidate.block >= 16)
        EXPECT_EQ(candidate.block % candidate.rows, 0);
      else
        EXPECT_EQ(candidate.rows, 16);
    }
  });
}

TEST(Schedule, WrittenBlockDecidesTheFamily) {
  for (int64_t rows : {8, 65536}) {
    for (int64_t block : {1, 8, 16, 32})
      EXPECT_EQ(
          rankSchedules(problemOf(rows, block), chip("sm_90a")).front().mma,
          Mma::MmaSync)
          << rows << " rows, block " << block;
    for (int64_t block : {64, 128, 256})
      EXPECT_EQ(
          rankSchedules(problemOf(rows, block), chip("sm_90a")).front().mma,
          Mma::Wgmma)
          << rows << " rows, block " << block;
  }
}

TEST(Schedule, WgmmaOnlyWhereTheChipHasIt) {
  for (const char *arch : {"sm_80", "sm_89", "sm_90"})
    for (int64_t rows : {8, 65536})
      for (int64_t block : {0, 16, 64, 128, 256}) {
        SCOPED_TRACE(arch);
        auto ranked = rankSchedules(problemOf(rows, block), chip(arch));
        EXPECT_EQ(ranked.front().mma, Mma::MmaSync);
        for (const Candidate &candidate : ranked)
          EXPECT_NE(candidate.mma, Mma::Wgmma);
      }
}

TEST(Schedule, ReasonAgainstTensorCoresLeavesTheGeneralKernel) {
  for (const Target &target : allTargets())
    for (int64_t block : {0, 16, 128}) {
      GemmProblem problem = problemOf(65536, block);
      problem.simtReason = "K = 511 is odd";
      auto ranked = rankSchedules(problem, target);
      ASSERT_EQ(ranked.size(), 1u);
      EXPECT_EQ(ranked.front().mma, Mma::Simt);
      EXPECT_EQ(ranked.front().reason, "K = 511 is odd");
    }
}

/// Few rows of an expert waste a tall tile; many rows need the fast MMA.
TEST(Schedule, TakesShortTilesForFewRowsAndWgmmaForMany) {
  Candidate few = rankSchedules(problemOf(8), chip("sm_90a")).front();
  EXPECT_EQ(few.mma, Mma::MmaSync);
  EXPECT_EQ(few.block, 16);
  Candidate many = rankSchedules(problemOf(65536), chip("sm_90a")).front();
  EXPECT_EQ(many.mma, Mma::Wgmma);
  EXPECT_EQ(many.block, 128);
}

/// Once tall blocks win they keep winning with more rows.
TEST(Schedule, BlockGrowsWithTheRows) {
  int64_t last = 0;
  for (int64_t rows = 1; rows <= (1 << 22); rows *= 2) {
    auto ranked = rankSchedules(problemOf(rows), chip("sm_90a"));
    EXPECT_GE(ranked.front().block, last) << rows << " rows";
    last = ranked.front().block;
  }
  EXPECT_EQ(last, 128);
}

/// With one row, all weights of one expert are read whatever the block.
TEST(Schedule, EqualTimesTakeTheShorterBlock) {
  GemmProblem problem = problemOf(1);
  problem.experts = 1;
  problem.columns = 128;
  auto ranked = rankSchedules(problem, chip("sm_90a"));
  ASSERT_EQ(ranked.size(), 5u);
  bool someEqual = false;
  for (size_t i = 0; i + 2 < ranked.size(); ++i)
    if (ranked[i].micros == ranked[i + 1].micros) {
      someEqual = true;
      EXPECT_LT(ranked[i].block, ranked[i + 1].block);
    }
  EXPECT_TRUE(someEqual);
}

TEST(Schedule, PredictsWhatItSays) {
  // One expert: every byte and every product can be counted by hand.
  GemmProblem problem;
  problem.rows = 100;
  problem.experts = 1;
  problem.columns = 512;
  problem.k = 1024;
  problem.block = 64;
  const Target &target = chip("sm_90a");
  Candidate candidate = rankSchedules(problem, target).front();
  EXPECT_EQ(candidate.weightBytes, 512 * 1024 * 2);
  // On average half a block of padding.
  EXPECT_EQ(candidate.paddedRows, 100 + 63 / 2.0);
  double flops = 2.0 * candidate.paddedRows * 512 * 1024;
  double peak =
      1.0 * target.wgmmaFlopsPerClock * target.numSMs * target.clockHz;
  EXPECT_NEAR(candidate.mathMicros, flops / peak * 1e6,
              1e-9 * candidate.mathMicros);
  // A gated activation halves what is written, not what is multiplied.
  problem.gated = true;
  Candidate gated = rankSchedules(problem, target).front();
  EXPECT_EQ(gated.mathMicros, candidate.mathMicros);
  EXPECT_LE(gated.memoryMicros, candidate.memoryMicros);
}

TEST(Schedule, PlansSharedMemory) {
  // mma.sync: 16 rows and 128 columns of 64 bf16, five stages, nothing else.
  EXPECT_EQ(planShared(Mma::MmaSync, 16, 128, 64, 5, 2).total(5),
            5 * (16 + 128) * 64 * 2);
  // wgmma adds two barriers a stage and a swizzled strip for each warp.
  EXPECT_EQ(planShared(Mma::Wgmma, 64, 128, 64, 4, 2).total(4),
            4 * (64 + 128) * 64 * 2 + 4 * 16 + 4 * 2048 + 1024);
  // A block of fewer rows than an MMA has still takes 16.
  EXPECT_EQ(planShared(Mma::MmaSync, 4, 128, 64, 1, 2).tileA, 16 * 64 * 2);
  EXPECT_EQ(warpsOf(Mma::MmaSync, 32), 4);
  EXPECT_EQ(warpsOf(Mma::Wgmma, 64), 8);
  EXPECT_EQ(warpsOf(Mma::Wgmma, 128), 12);
}

TEST(Schedule, Describes) {
  Candidate candidate;
  candidate.mma = Mma::Wgmma;
  candidate.rows = 64;
  candidate.stages = 4;
  EXPECT_EQ(describe(candidate), "wgmma, tile [64, 128, 64], 4 stages");
}

} // namespace
