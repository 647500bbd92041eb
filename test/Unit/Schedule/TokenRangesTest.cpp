//===- TokenRangesTest.cpp - where another schedule is the best -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Schedule/TokenRanges.h"
#include "moe/Target/Target.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::moe;

static const Target &chip(const char *arch) { return *lookupTarget(arch); }

/// Both GEMMs of a layer with `experts` experts, k slots, H and I.
static TokenProblems layer(int64_t experts, int64_t slots, int64_t h,
                           int64_t i) {
  TokenProblem up, down;
  up.problem.experts = down.problem.experts = experts;
  up.problem.columns = 2 * i;
  up.problem.k = h;
  up.problem.gated = true;
  down.problem.columns = h;
  down.problem.k = i;
  up.rowsPerToken = down.rowsPerToken = slots;
  return {up, down};
}

static const TokenProblems kLayers[] = {
    layer(128, 8, 2048, 768), layer(8, 2, 4096, 14336),
    layer(256, 8, 7168, 2048), layer(32, 4, 2880, 2880)};

/// Time at T of the schedules chosen for `chosenFor` tokens.
static double micros(const TokenProblems &problems, const Target &target,
                     int64_t chosenFor, int64_t tokens) {
  std::vector<std::vector<Candidate>> then, now;
  for (const TokenProblem &problem : problems) {
    then.push_back(rankSchedules(problem.at(chosenFor), target));
    now.push_back(rankSchedules(problem.at(tokens), target));
  }
  double sum = 0;
  std::vector<Candidate> choices = chooseTogether(then);
  for (size_t i = 0; i < choices.size(); ++i)
    for (const Candidate &candidate : now[i])
      if (candidate.mma == choices[i].mma &&
          candidate.block == choices[i].block)
        sum += candidate.micros;
  return sum;
}

namespace {

TEST(TokenRanges, CoverEveryNumberOnce) {
  for (const Target &target : allTargets())
    for (const TokenProblems &problems : kLayers) {
      auto ranges = chooseTokenRanges({problems}, target, 512);
      ASSERT_FALSE(ranges.empty());
      EXPECT_LE(ranges.size(), 5u);
      EXPECT_EQ(ranges.front().lo, 1);
      EXPECT_FALSE(ranges.back().isBounded());
      for (size_t i = 0; i + 1 < ranges.size(); ++i) {
        EXPECT_LE(ranges[i].lo, ranges[i].hi);
        EXPECT_EQ(ranges[i].hi + 1, ranges[i + 1].lo);
      }
    }
}

TEST(TokenRanges, AreWorthIt) {
  // The selector's choice for a range is near the best for each T in it.
  for (const TokenProblems &problems : kLayers) {
    auto ranges = chooseTokenRanges({problems}, chip("sm_90a"), 512);
    EXPECT_GT(ranges.size(), 1u);
    for (TokenRange range : ranges) {
      int64_t chosenFor = representativeTokens(range, 512);
      int64_t hi = range.isBounded() ? range.hi : 8192;
      for (int64_t t = range.lo; t <= hi; t = std::max(t + 1, t * 9 / 8)) {
        double best = micros(problems, chip("sm_90a"), t, t);
        EXPECT_LE(micros(problems, chip("sm_90a"), chosenFor, t), 1.06 * best)
            << "T = " << t << " in [" << range.lo << ", " << range.hi << "]";
      }
    }
  }
}

TEST(TokenRanges, OneWhereTokensDoNotMatter) {
  TokenProblems fixed = layer(8, 0, 512, 512);
  for (TokenProblem &problem : fixed)
    problem.problem.rows = 64;
  EXPECT_EQ(chooseTokenRanges({fixed}, chip("sm_90a"), 512),
            (std::vector<TokenRange>{{1, -1}}));

  TokenProblems general = layer(8, 2, 512, 512);
  for (TokenProblem &problem : general)
    problem.problem.simtReason = "f32";
  EXPECT_EQ(chooseTokenRanges({general}, chip("sm_90a"), 512),
            (std::vector<TokenRange>{{1, -1}}));
  EXPECT_EQ(chooseTokenRanges({}, chip("sm_90a"), 512),
            (std::vector<TokenRange>{{1, -1}}));
}

TEST(TokenRanges, RepresentativeIsInTheMiddle) {
  EXPECT_EQ(representativeTokens({1, 16}, 512), 4);
  EXPECT_EQ(representativeTokens({0, 16}, 512), 4);
  EXPECT_EQ(representativeTokens({17, 128}, 512), 47);
  EXPECT_EQ(representativeTokens({7, 7}, 512), 7);
  EXPECT_EQ(representativeTokens({0, 0}, 512), 1);
  // Without an upper end: four times the lower one, at least the default.
  EXPECT_EQ(representativeTokens({1, -1}, 512), 512);
  EXPECT_EQ(representativeTokens({0, -1}, 7), 7);
  EXPECT_EQ(representativeTokens({1000, -1}, 512), 4000);
  // Never more than a schedule is chosen for.
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_LE(representativeTokens({huge, -1}, 512), 2147483647);
  EXPECT_LE(representativeTokens({huge, huge}, 512), 2147483647);
}

TEST(TokenRanges, ProblemsScaleWithTokens) {
  TokenProblem problem;
  problem.rowsPerToken = 8;
  EXPECT_EQ(problem.at(3).rows, 24);
  problem.contractsTokens = true;
  EXPECT_EQ(problem.at(3).k, 3);
  TokenProblem fixed;
  fixed.problem.rows = 5;
  EXPECT_EQ(fixed.at(3).rows, 5);
}

} // namespace
