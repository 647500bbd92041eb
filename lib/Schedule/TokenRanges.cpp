//===- TokenRanges.cpp - where another schedule becomes the best -*- C++-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Schedule/TokenRanges.h"
#include "moe/Target/Target.h"

#include <cmath>
#include <limits>
#include <map>

using namespace mlir;
using namespace mlir::moe;

/// The largest T that is looked at; beyond it the kernels of large batches stay
/// the best.
constexpr int64_t kLastTokens = 8192;
/// More variants than this are not worth their PTX.
constexpr size_t kMostRanges = 5;
/// Ranges are joined where that costs at most this share of time.
constexpr double kTolerance = 0.03;
/// The share of the smaller of memory and math time that the larger does not
/// hide. The ranking does not need it, but what a wrong choice costs does: with
/// few tokens all tiles take the time of the weights, and the tall ones still
/// multiply their padding. Layers of 8 and 32 experts on an H200 with 1 to 16
/// tokens took 8 to 20 % longer with 128 rows than with 16, a share of 0.2 to
/// 0.4.
constexpr double kNotHidden = 0.2;

GemmProblem TokenProblem::at(int64_t tokens) const {
  GemmProblem sized = problem;
  if (rowsPerToken != 0)
    sized.rows = tokens * rowsPerToken;
  if (contractsTokens)
    sized.k = tokens;
  return sized;
}

/// The candidate with the family and block of `like`, or null.
static const Candidate *find(ArrayRef<Candidate> ranked,
                             const Candidate &like) {
  for (const Candidate &candidate : ranked)
    if (candidate.mma == like.mma && candidate.block == like.block)
      return &candidate;
  return nullptr;
}

/// The time that regret is measured in.
static double exposedMicros(const Candidate &candidate) {
  return candidate.micros +
         kNotHidden * std::min(candidate.memoryMicros, candidate.mathMicros);
}

/// The time of all lists with the family and block of `like`; infinite where a
/// list does not have it.
static double commonMicros(ArrayRef<std::vector<Candidate>> rankedLists,
                           const Candidate &like) {
  double micros = 0;
  for (ArrayRef<Candidate> ranked : rankedLists) {
    const Candidate *same = find(ranked, like);
    micros += same ? same->micros : std::numeric_limits<double>::infinity();
  }
  return micros;
}

std::vector<Candidate>
moe::chooseTogether(ArrayRef<std::vector<Candidate>> rankedLists) {
  const Candidate *best = nullptr;
  double bestMicros = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : rankedLists.front()) {
    if (candidate.mma == Mma::Simt)
      continue;
    double micros = commonMicros(rankedLists, candidate);
    if (micros < bestMicros) {
      best = &candidate;
      bestMicros = micros;
    }
  }
  std::vector<Candidate> choice;
  for (ArrayRef<Candidate> ranked : rankedLists)
    choice.push_back(best ? *find(ranked, *best) : ranked.front());
  return choice;
}

int64_t moe::representativeTokens(TokenRange range, int64_t tokens) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t lo = std::clamp<int64_t>(range.lo, 1, kMost);
  if (!range.isBounded())
    return std::max(std::min(lo, kMost / 4) * 4, tokens);
  double hi = std::clamp<int64_t>(range.hi, 1, kMost);
  return std::llround(std::sqrt(static_cast<double>(lo) * hi));
}

namespace {
/// Finds and joins ranges.
class RangeChooser {
public:
  RangeChooser(ArrayRef<TokenProblems> groups, const Target &target,
               int64_t tokens)
      : groups(groups), target(target), tokens(tokens) {}

  std::vector<TokenRange> run();

private:
  /// A schedule for each problem, and what it costs.
  struct Plan {
    std::vector<Candidate> choice;
    double micros = 0;

    bool sameAs(const Plan &other) const {
      return llvm::equal(choice, other.choice,
                         [](const Candidate &a, const Candidate &b) {
                           return a.mma == b.mma && a.block == b.block;
                         });
    }
  };

  const Plan &planAt(int64_t t);
  /// The time at T = `t` of the choice for T = `chosenFor`.
  double micros(int64_t chosenFor, int64_t t);
  /// The greatest share of time that one choice loses somewhere in `range`.
  double regret(TokenRange range);
  void findChanges();
  void joinRanges();

  ArrayRef<TokenProblems> groups;
  const Target &target;
  int64_t tokens;
  std::map<int64_t, Plan> plans;
  std::vector<TokenRange> ranges;
  /// Numbers of tokens at which regret is measured.
  std::vector<int64_t> samples;
};
} // namespace

const RangeChooser::Plan &RangeChooser::planAt(int64_t t) {
  auto [found, isNew] = plans.try_emplace(t);
  Plan &plan = found->second;
  if (!isNew)
    return plan;
  for (const TokenProblems &group : groups) {
    std::vector<std::vector<Candidate>> ranked;
    for (const TokenProblem &problem : group)
      ranked.push_back(rankSchedules(problem.at(t), target));
    for (const Candidate &candidate : chooseTogether(ranked)) {
      plan.micros += exposedMicros(candidate);
      plan.choice.push_back(candidate);
    }
  }
  return plan;
}

double RangeChooser::micros(int64_t chosenFor, int64_t t) {
  const Plan &plan = planAt(chosenFor);
  if (plan.sameAs(planAt(t)))
    return planAt(t).micros;
  double sum = 0;
  size_t next = 0;
  for (const TokenProblems &group : groups)
    for (const TokenProblem &problem : group) {
      std::vector<Candidate> ranked = rankSchedules(problem.at(t), target);
      const Candidate *same = find(ranked, plan.choice[next++]);
      sum +=
          same ? exposedMicros(*same) : std::numeric_limits<double>::infinity();
    }
  return sum;
}

double RangeChooser::regret(TokenRange range) {
  int64_t chosenFor = representativeTokens(range, tokens);
  double worst = 0;
  for (int64_t t : samples)
    if (t >= range.lo && (!range.isBounded() || t <= range.hi))
      worst = std::max(worst, micros(chosenFor, t) / planAt(t).micros - 1);
  return worst;
}

/// Splits where the best choice changes between powers of two; what changes
/// back within one is not seen.
void RangeChooser::findChanges() {
  int64_t start = 1;
  auto close = [&](int64_t last) {
    ranges.push_back({start, last});
    samples.push_back(last);
    samples.push_back(last + 1);
    start = last + 1;
  };
  for (int64_t t = 1; t <= kLastTokens; t *= 2)
    samples.push_back(t);
  for (int64_t power = 2; power <= kLastTokens; power *= 2)
    while (!planAt(start).sameAs(planAt(power))) {
      int64_t same = std::max(start, power / 2), other = power;
      if (!planAt(start).sameAs(planAt(same)))
        same = start;
      while (other - same > 1) {
        int64_t middle = same + (other - same) / 2;
        (planAt(start).sameAs(planAt(middle)) ? same : other) = middle;
      }
      close(same);
    }
  ranges.push_back({start, -1});
}

void RangeChooser::joinRanges() {
  while (ranges.size() > 1) {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i + 1 < ranges.size(); ++i) {
      double joined = regret({ranges[i].lo, ranges[i + 1].hi});
      if (joined < least) {
        best = i;
        least = joined;
      }
    }
    if (least > kTolerance && ranges.size() <= kMostRanges)
      return;
    ranges[best].hi = ranges[best + 1].hi;
    ranges.erase(ranges.begin() + best + 1);
  }
}

std::vector<TokenRange> RangeChooser::run() {
  findChanges();
  joinRanges();
  return ranges;
}

std::vector<TokenRange> moe::chooseTokenRanges(ArrayRef<TokenProblems> groups,
                                               const Target &target,
                                               int64_t tokens) {
  return RangeChooser(groups, target, tokens).run();
}
