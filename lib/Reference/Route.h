//===- Route.h - select and weigh the experts of one token -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_REFERENCE_ROUTE_H
#define MOE_LIB_REFERENCE_ROUTE_H

#include "Interpreter.h"

namespace mlir::moe::reference {

/// Keys that differ by less than this, relative to the larger, are a near tie.
constexpr double kNearTie = 1e-5;

/// What is known of one token while it is routed.
struct Token {
  Token() = default;
  Token(int64_t experts, int64_t slots)
      : selectable(experts), candidate(experts), logits(experts),
        scores(experts), keys(experts), ids(slots, -1), weights(slots) {}

  /// Per expert: its logit is neither NaN nor -inf.
  std::vector<bool> selectable;
  /// Per expert: may still be chosen.
  std::vector<bool> candidate;
  /// Per expert, in f64: the logit after +inf and softcap were dealt with,
  /// -inf where not selectable.
  std::vector<double> logits;
  /// Per expert: the score, computed in f64 and rounded; without bias.
  std::vector<float> scores;
  /// Per expert: what the selection compares.
  std::vector<float> keys;
  /// Per slot: the result.
  std::vector<int64_t> ids;
  std::vector<float> weights;
  /// A decision was closer than kNearTie.
  bool nearTie = false;
};

/// Routes token after token by the rules of one moe.route.
class Router {
public:
  Router(RouteOp op, const Frame &frame);

  /// `table` and `tokenId` are the operands of hash routing, if any.
  const Token &route(ArrayRef<float> logits, const Array *table,
                     int64_t tokenId);

private:
  // The steps, in the order and by the numbers of the op's description.
  void readLogits(ArrayRef<float> logits); // 1
  void computeScores();                    // 2
  void computeKeys();                      // 3
  void keepBestGroups();                   // 4
  void selectTopK();                       // 5
  void takeScoresAsWeights();              // 6
  void scaleWeights();                     // 6

  void selectFromTable(const Array &table, int64_t tokenId);
  void selectBySparseMixer();

  /// Scores of `members` as a softmax over them alone.
  void softmax(ArrayRef<int64_t> members);
  bool hasCandidate(int64_t group);
  float groupRank(int64_t group);
  /// The slot has an expert whose logit is selectable; all others weigh 0.
  bool isWeighted(int64_t slot) const;
  /// Records whether a decision between `a` and `b` was a near tie.
  void noteDecision(double a, double b);

  RouteOp op;
  int64_t experts, slots;
  std::vector<float> bias, expertScale;
  Token token;
};

} // namespace mlir::moe::reference

#endif // MOE_LIB_REFERENCE_ROUTE_H
