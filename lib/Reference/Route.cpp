//===- Route.cpp - the definition of moe.route -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Route.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Router::Router(RouteOp op, const Frame &frame)
    : op(op), experts(op.getNumExperts()), slots(op.getTopK()),
      bias(frame.getFloats(op.getBias())),
      expertScale(frame.getFloats(op.getExpertScale())) {}

void Router::readLogits(ArrayRef<float> logits) {
  token = Token(experts, slots);
  for (int64_t e = 0; e < experts; ++e) {
    double logit = logits[e];
    token.selectable[e] =
        !std::isnan(logit) && logit != -std::numeric_limits<double>::infinity();
    if (!token.selectable[e]) {
      token.logits[e] = -std::numeric_limits<double>::infinity();
      continue;
    }
    logit = std::min<double>(logit, std::numeric_limits<float>::max());
    if (std::optional<APFloat> cap = op.getSoftcap()) {
      double softcap = cap->convertToFloat();
      logit = softcap * std::tanh(logit / softcap);
    }
    token.logits[e] = logit;
  }
}

/// The score of one logit that does not depend on the others.
static double pointwiseScore(Score score, double logit) {
  switch (score) {
  case Score::Sigmoid:
    return 1 / (1 + std::exp(-logit));
  case Score::SqrtSoftplus:
    // log(1 + exp(l)) without overflow.
    return std::sqrt(std::max(logit, 0.0) +
                     std::log1p(std::exp(-std::fabs(logit))));
  default: // Identity
    return logit;
  }
}

void Router::softmax(ArrayRef<int64_t> members) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t e : members)
    largest = std::max(largest, token.logits[e]);
  for (int64_t e : members)
    if (token.selectable[e])
      sum += std::exp(token.logits[e] - largest);
  for (int64_t e : members)
    token.scores[e] =
        token.selectable[e] ? std::exp(token.logits[e] - largest) / sum : 0.0;
}

void Router::computeScores() {
  if (op.getScore() == Score::Softmax) {
    softmax(llvm::to_vector(llvm::seq<int64_t>(0, experts)));
    return;
  }
  for (int64_t e = 0; e < experts; ++e)
    if (token.selectable[e])
      token.scores[e] =
          static_cast<float>(pointwiseScore(op.getScore(), token.logits[e]));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

void Router::computeKeys() {
  bool byLogit = op.getOrder() == Order::TopKThenScore;
  for (int64_t e = 0; e < experts; ++e) {
    float key = byLogit ? static_cast<float>(token.logits[e]) : token.scores[e];
    token.keys[e] = bias.empty() ? key : key + bias[e];
    token.candidate[e] =
        token.selectable[e] && (bias.empty() || !std::isnan(bias[e]));
  }
}

float Router::groupRank(int64_t group) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  float largest = kLowest, second = kLowest;
  int64_t found = 0, size = experts / op.getGroups();
  for (int64_t e = group * size, end = e + size; e < end; ++e) {
    if (!token.candidate[e])
      continue;
    ++found;
    if (token.keys[e] > largest)
      second = std::exchange(largest, token.keys[e]);
    else
      second = std::max(second, token.keys[e]);
  }
  if (op.getGroupRank() == GroupRank::Max || found < 2)
    return largest;
  // Infinite biases of both signs: such a group ranks below all finite ones.
  float sum = largest + second;
  return std::isnan(sum) ? kLowest : sum;
}

bool Router::hasCandidate(int64_t group) {
  int64_t size = experts / op.getGroups();
  for (int64_t e = group * size, end = e + size; e < end; ++e)
    if (token.candidate[e])
      return true;
  return false;
}

void Router::keepBestGroups() {
  int64_t groups = op.getGroups(), keep = op.getKeepGroups();
  if (keep == groups)
    return;
  std::vector<std::pair<float, int64_t>> ranked;
  for (int64_t g = 0; g < groups; ++g)
    if (hasCandidate(g))
      ranked.emplace_back(groupRank(g), g);
  llvm::stable_sort(ranked, [](auto &a, auto &b) { return a.first > b.first; });

  std::vector<bool> kept(groups);
  for (auto [place, group] : llvm::enumerate(ranked)) {
    kept[group.second] = static_cast<int64_t>(place) < keep;
    if (static_cast<int64_t>(place) == keep)
      noteDecision(ranked[place - 1].first, group.first);
  }
  for (int64_t e = 0; e < experts; ++e)
    if (!kept[e / (experts / groups)])
      token.candidate[e] = false;
}

void Router::selectTopK() {
  std::vector<int64_t> ranked;
  for (int64_t e = 0; e < experts; ++e)
    if (token.candidate[e])
      ranked.push_back(e);
  llvm::stable_sort(ranked, [&](int64_t a, int64_t b) {
    return token.keys[a] > token.keys[b];
  });
  for (int64_t j = 0, e = ranked.size(); j < slots && j < e; ++j) {
    token.ids[j] = ranked[j];
    if (j + 1 < e)
      noteDecision(token.keys[ranked[j]], token.keys[ranked[j + 1]]);
  }
}

void Router::selectFromTable(const Array &table, int64_t tokenId) {
  if (tokenId < 0 || tokenId >= table.dim(0))
    return;
  for (int64_t j = 0; j < slots; ++j) {
    int64_t id = table.intAt(tokenId * slots + j);
    if (id >= 0 && id < experts)
      token.ids[j] = id;
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void Router::takeScoresAsWeights() {
  if (op.getOrder() == Order::TopKThenScore &&
      op.getScore() == Score::Softmax) {
    SmallVector<int64_t> chosen;
    for (int64_t id : token.ids)
      if (id >= 0)
        chosen.push_back(id);
    softmax(chosen);
  }
  for (int64_t j = 0; j < slots; ++j)
    if (isWeighted(j))
      token.weights[j] = token.scores[token.ids[j]];
}

bool Router::isWeighted(int64_t slot) const {
  int64_t id = token.ids[slot];
  return id >= 0 && token.selectable[id];
}

void Router::scaleWeights() {
  float sum = 0;
  for (float weight : token.weights)
    sum += weight;
  for (int64_t j = 0; j < slots; ++j) {
    if (!isWeighted(j))
      continue;
    float &weight = token.weights[j];
    if (op.getRenormalize())
      weight = sum == 0 ? 0 : weight / sum;
    if (!expertScale.empty())
      weight *= expertScale[token.ids[j]];
    weight *= op.getScale().convertToFloat();
  }
}

//===----------------------------------------------------------------------===//
// Sparsemixer
//===----------------------------------------------------------------------===//

/// The candidate with the largest logit, rounded to f32 as every key, or -1.
static int64_t bestLogit(const Token &token) {
  auto key = [&](int64_t e) { return static_cast<float>(token.logits[e]); };
  int64_t best = -1;
  for (int64_t e = 0, end = token.logits.size(); e < end; ++e)
    if (token.candidate[e] && (best < 0 || key(e) > key(best)))
      best = e;
  return best;
}

void Router::selectBySparseMixer() {
  double threshold = 2 * static_cast<double>(op.getJitter().convertToFloat());
  token.candidate = token.selectable;
  for (int64_t j = 0; j < slots; ++j) {
    int64_t best = bestLogit(token);
    if (best < 0)
      return;
    double largest = token.logits[best], sum = 0;
    for (int64_t e = 0; e < experts; ++e) {
      if (!token.candidate[e])
        continue;
      double logit = token.logits[e];
      double distance = (largest - logit) / std::max(std::fabs(logit), largest);
      if (e != best) {
        noteDecision(largest, logit);
        noteDecision(distance, threshold);
      }
      // 0 / 0, of two logits that are 0, takes part.
      if (!(distance > threshold))
        sum += std::exp(logit - largest);
    }
    token.ids[j] = best;
    token.weights[j] = static_cast<float>(1 / sum);
    token.candidate[best] = false;
  }
}

//===----------------------------------------------------------------------===//
// moe.route
//===----------------------------------------------------------------------===//

void Router::noteDecision(double a, double b) {
  double size = std::max(std::fabs(a), std::fabs(b));
  if (std::fabs(a - b) < kNearTie * size)
    token.nearTie = true;
}

const Token &Router::route(ArrayRef<float> logits, const Array *table,
                           int64_t tokenId) {
  readLogits(logits);
  if (op.getScore() == Score::SparseMixer) {
    selectBySparseMixer();
  } else {
    computeScores();
    if (table) {
      selectFromTable(*table, tokenId);
    } else {
      computeKeys();
      keepBestGroups();
      selectTopK();
    }
    takeScoresAsWeights();
  }
  scaleWeights();
  return token;
}

LogicalResult reference::eval(RouteOp op, Frame &frame) {
  FailureOr<Array> weights = frame.destination(op, op.getWeights());
  FailureOr<Array> ids = frame.destination(op, op.getIds());
  TRY(weights);
  TRY(ids);
  const Array *table = op.getTable() ? &frame.get(op.getTable()) : nullptr;
  ArrayRef<int32_t> tokenIds = frame.getInts32(op.getTokenIds());
  const Array &logits = frame.get(op.getLogits());
  int64_t tokens = logits.dim(0), experts = logits.dim(1), slots = ids->dim(1);
  llvm::BitVector *nearTies = frame.getOptions().nearTies;
  if (nearTies && nearTies->size() < static_cast<uint64_t>(tokens))
    nearTies->resize(tokens);

  Router router(op, frame);
  std::vector<float> row(experts);
  for (int64_t t = 0; t < tokens; ++t) {
    load(logits, t * experts, experts, row.data());
    const Token &token = router.route(row, table, table ? tokenIds[t] : 0);
    for (int64_t j = 0; j < slots; ++j) {
      ids->setInt(t * slots + j, token.ids[j]);
      weights->setFloat(t * slots + j, token.weights[j]);
    }
    if (nearTies && token.nearTie)
      nearTies->set(t);
  }
  TRY(frame.set(op.getResult(0), std::move(*weights)));
  return frame.set(op.getResult(1), std::move(*ids));
}
