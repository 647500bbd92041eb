//===- Route.cpp - moe.route -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop over the tokens; its body follows the numbered steps of the op's
// description. What is known of a token lies in scratch arrays that every
// token overwrites. Scores are computed in f64, by the operations and in the
// order of the reference, so that both round to the same f32.
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
class RouteLowering {
public:
  RouteLowering(Emitter &e, RouteOp op);
  void lower();

private:
  // The steps by the numbers of the op's description.
  void readLogits(Value token);   // 1
  void computeScores();           // 2
  void computeKeys();             // 3
  void keepBestGroups();          // 4
  void selectTopK(Value token);   // 5
  void weighChosen(Value token);  // 6
  void scaleWeights(Value token); // 6

  void selectFromTable(Value token);
  void selectBySparseMixer(Value token);
  void softmaxOfAll();
  void softmaxOfChosen(Value token);
  Value pointwiseScore(Value logit);
  /// Rank of a group, and whether it has a candidate.
  std::pair<Value, Value> rankGroup(Value group);
  /// The first member of [0, count) with the largest value among those whose
  /// flag is set, or -1.
  Value best(Value flags, Value values, Value count);
  Value isWeighted(Value id);

  Emitter &e;
  RouteOp op;
  Value experts, slots;
  /// Per expert: selectable and candidate (i1), logits and exponentials (f64),
  /// scores and keys (f32).
  Value selectable, candidate, logits, exponentials, scores, keys;
  /// Per group: still to choose and kept (i1), rank (f32).
  Value groupLeft, groupKept, groupRanks;
};
} // namespace

RouteLowering::RouteLowering(Emitter &e, RouteOp op) : e(e), op(op) {
  int64_t count = op.getNumExperts(), groups = op.getGroups();
  experts = e.index(count);
  slots = e.index(op.getTopK());
  selectable = e.scratch({count}, e.getI1Type());
  candidate = e.scratch({count}, e.getI1Type());
  logits = e.scratch({count}, e.getF64Type());
  exponentials = e.scratch({count}, e.getF64Type());
  scores = e.scratch({count}, e.getF32Type());
  keys = e.scratch({count}, e.getF32Type());
  if (groups == static_cast<int64_t>(op.getKeepGroups()))
    return;
  groupLeft = e.scratch({groups}, e.getI1Type());
  groupKept = e.scratch({groups}, e.getI1Type());
  groupRanks = e.scratch({groups}, e.getF32Type());
}

void RouteLowering::lower() {
  Value tokens = e.sharedDim(
      {op.getLogits(), op.getWeights(), op.getIds(), op.getTokenIds()});
  e.loop(tokens, [&](Value token) {
    readLogits(token);
    if (op.getScore() == Score::SparseMixer) {
      selectBySparseMixer(token);
    } else {
      computeScores();
      if (op.getTable()) {
        selectFromTable(token);
      } else {
        computeKeys();
        keepBestGroups();
        selectTopK(token);
      }
      weighChosen(token);
    }
    scaleWeights(token);
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

void RouteLowering::readLogits(Value token) {
  e.loop(experts, [&](Value expert) {
    Value logit = e.load(op.getLogits(), {token, expert});
    // False for a NaN as well.
    Value found =
        e.compare(arith::CmpFPredicate::OGT, logit, e.f32(-kInfinity));
    Value largest = e.f32(std::numeric_limits<float>::max());
    logit = e.select(e.compare(arith::CmpFPredicate::OGT, logit, largest),
                     largest, logit);
    Value wide = e.toFloat(logit, e.getF64Type());
    if (std::optional<APFloat> cap = op.getSoftcap()) {
      Value softcap = e.f64(cap->convertToFloat());
      wide = e.mulf(softcap,
                    math::TanhOp::create(e, e.divf(wide, softcap)).getResult());
    }
    e.store(found, selectable, {expert});
    e.store(e.select(found, wide, e.f64(-kInfinity)), logits, {expert});
  });
}

Value RouteLowering::pointwiseScore(Value logit) {
  auto exp = [&](Value x) -> Value { return math::ExpOp::create(e, x); };
  Value zero = e.f64(0), unit = e.f64(1);
  switch (op.getScore()) {
  case Score::Sigmoid:
    return e.divf(unit, e.addf(unit, exp(arith::NegFOp::create(e, logit))));
  case Score::SqrtSoftplus: {
    // sqrt(max(l, 0) + log1p(x)) with x = exp(-|l|), which cannot overflow.
    // log(u) * x / (u - 1) with u = 1 + x is log1p(x) without its loss where
    // u rounds to 1.
    Value size = math::AbsFOp::create(e, logit);
    Value x = exp(arith::NegFOp::create(e, size));
    Value u = e.addf(unit, x);
    Value log = math::LogOp::create(e, u);
    Value product = e.mulf(log, x);
    Value corrected = e.divf(product, e.subf(u, unit));
    Value isUnit = e.compare(arith::CmpFPredicate::OEQ, u, unit);
    Value positive = e.select(e.compare(arith::CmpFPredicate::OGT, logit, zero),
                              logit, zero);
    return math::SqrtOp::create(
        e, e.addf(positive, e.select(isUnit, x, corrected)));
  }
  default: // Identity
    return logit;
  }
}

void RouteLowering::computeScores() {
  if (op.getScore() == Score::Softmax)
    // With topk_then_score the softmax is over the chosen alone.
    return op.getOrder() == Order::TopKThenScore ? void() : softmaxOfAll();
  e.loop(experts, [&](Value expert) {
    Value score =
        e.toFloat(pointwiseScore(e.load(logits, {expert})), e.getF32Type());
    Value found = e.load(selectable, {expert});
    e.store(e.select(found, score, e.f32(0)), scores, {expert});
  });
}

void RouteLowering::softmaxOfAll() {
  Value largest =
      e.loop(experts, {e.f64(-kInfinity)},
             [&](Value expert, ValueRange carried) -> SmallVector<Value> {
               return {arith::MaxNumFOp::create(e, carried[0],
                                                e.load(logits, {expert}))};
             })[0];
  Value sum =
      e.loop(experts, {e.f64(0)},
             [&](Value expert, ValueRange carried) -> SmallVector<Value> {
               Value shifted = e.subf(e.load(logits, {expert}), largest);
               Value found = e.load(selectable, {expert});
               Value power = math::ExpOp::create(e, shifted);
               Value term = e.select(found, power, e.f64(0));
               e.store(term, exponentials, {expert});
               return {e.addf(carried[0], term)};
             })[0];
  e.loop(experts, [&](Value expert) {
    Value score = e.divf(e.load(exponentials, {expert}), sum);
    score = e.toFloat(score, e.getF32Type());
    Value found = e.load(selectable, {expert});
    e.store(e.select(found, score, e.f32(0)), scores, {expert});
  });
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

Value RouteLowering::best(Value flags, Value values, Value count) {
  Type type = cast<MemRefType>(values.getType()).getElementType();
  return e.loop(count, {e.index(-1), e.constantLike(type, -kInfinity)},
                [&](Value i, ValueRange carried) -> SmallVector<Value> {
                  Value value = e.load(values, {i});
                  Value isFirst = e.compare(arith::CmpIPredicate::slt,
                                            carried[0], e.index(0));
                  Value isLarger =
                      e.compare(arith::CmpFPredicate::OGT, value, carried[1]);
                  Value improves = arith::OrIOp::create(e, isFirst, isLarger);
                  Value better = e.both(e.load(flags, {i}), improves);
                  return {e.select(better, i, carried[0]),
                          e.select(better, value, carried[1])};
                })[0];
}

void RouteLowering::computeKeys() {
  bool byLogit = op.getOrder() == Order::TopKThenScore;
  e.loop(experts, [&](Value expert) {
    Value key = byLogit ? e.toFloat(e.load(logits, {expert}), e.getF32Type())
                        : e.load(scores, {expert});
    Value found = e.load(selectable, {expert});
    if (op.getBias()) {
      Value bias = e.load(op.getBias(), {expert});
      key = e.addf(key, bias);
      found = e.both(found, e.compare(arith::CmpFPredicate::ORD, bias, bias));
    }
    e.store(key, keys, {expert});
    e.store(found, candidate, {expert});
  });
}

std::pair<Value, Value> RouteLowering::rankGroup(Value group) {
  Value size = e.index(op.getNumExperts() / op.getGroups());
  Value begin = e.mul(group, size), end = e.add(begin, size);
  Value one = e.index(1), lowest = e.f32(-kInfinity);
  auto larger = [&](Value a, Value b) {
    return e.select(e.compare(arith::CmpFPredicate::OGT, a, b), a, b);
  };
  SmallVector<Value> result = e.loop(
      begin, end, 1, {lowest, lowest, e.index(0)},
      [&](Value expert, ValueRange carried) -> SmallVector<Value> {
        Value first = carried[0], second = carried[1], found = carried[2];
        Value counts = e.load(candidate, {expert});
        // A key that does not count is the lowest one.
        Value key = e.select(counts, e.load(keys, {expert}), lowest);
        Value leads = e.compare(arith::CmpFPredicate::OGT, key, first);
        return {larger(key, first), e.select(leads, first, larger(key, second)),
                e.add(found, e.select(counts, one, e.index(0)))};
      });
  Value any = e.isBelow(e.index(0), result[2]);
  if (op.getGroupRank() == GroupRank::Max)
    return {result[0], any};
  // Infinite biases of both signs: such a group ranks below all finite ones.
  Value sum = e.addf(result[0], result[1]);
  sum = e.select(e.compare(arith::CmpFPredicate::ORD, sum, sum), sum, lowest);
  Value hasTwo = e.isBelow(one, result[2]);
  return {e.select(hasTwo, sum, result[0]), any};
}

void RouteLowering::keepBestGroups() {
  int64_t groups = op.getGroups(), keep = op.getKeepGroups();
  if (keep == groups)
    return;
  e.loop(groups, [&](Value group) {
    auto [rank, any] = rankGroup(group);
    e.store(rank, groupRanks, {group});
    e.store(any, groupLeft, {group});
    e.store(e.boolean(false), groupKept, {group});
  });
  e.loop(keep, [&](Value) {
    Value group = best(groupLeft, groupRanks, e.index(groups));
    e.when(e.isBelow(group, groups), [&] {
      e.store(e.boolean(false), groupLeft, {group});
      e.store(e.boolean(true), groupKept, {group});
    });
  });
  Value size = e.index(op.getNumExperts() / groups);
  e.loop(experts, [&](Value expert) {
    Value kept = e.load(groupKept, {e.div(expert, size)});
    e.store(e.both(kept, e.load(candidate, {expert})), candidate, {expert});
  });
}

void RouteLowering::selectTopK(Value token) {
  e.loop(slots, [&](Value slot) {
    Value id = best(candidate, keys, experts);
    e.store(id, op.getIds(), {token, slot});
    e.when(e.isBelow(id, experts),
           [&] { e.store(e.boolean(false), candidate, {id}); });
  });
}

void RouteLowering::selectFromTable(Value token) {
  Value table = op.getTable();
  Value tokenId = e.load(op.getTokenIds(), {token});
  Value known = e.isBelow(tokenId, e.dim(table, 0));
  // A table without rows is not read at all.
  e.whenElse(
      known,
      [&] {
        e.loop(slots, [&](Value slot) {
          Value id = e.load(table, {tokenId, slot});
          Value exists = e.isBelow(id, experts);
          id = e.select(exists, id, e.index(-1));
          e.store(id, op.getIds(), {token, slot});
        });
      },
      [&] {
        e.loop(slots, [&](Value slot) {
          e.store(e.index(-1), op.getIds(), {token, slot});
        });
      });
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// True where the slot has an expert and its logit is selectable. Ids are -1
/// or below the number of experts here.
Value RouteLowering::isWeighted(Value id) {
  Value found = e.isBelow(id, experts);
  Value safe = e.select(found, id, e.index(0));
  return e.both(found, e.load(selectable, {safe}));
}

/// Scores of the chosen experts as a softmax over them alone, in slot order.
void RouteLowering::softmaxOfChosen(Value token) {
  auto idOf = [&](Value slot) { return e.load(op.getIds(), {token, slot}); };
  auto logitOf = [&](Value id) {
    Value weighted = isWeighted(id);
    Value safe = e.select(weighted, id, e.index(0));
    Value logit = e.load(logits, {safe});
    return e.select(weighted, logit, e.f64(-kInfinity));
  };
  Value largest = e.loop(
      slots, {e.f64(-kInfinity)},
      [&](Value slot, ValueRange carried) -> SmallVector<Value> {
        return {arith::MaxNumFOp::create(e, carried[0], logitOf(idOf(slot)))};
      })[0];
  auto term = [&](Value id) {
    Value shifted = e.subf(logitOf(id), largest);
    Value power = math::ExpOp::create(e, shifted);
    Value weighted = isWeighted(id);
    return e.select(weighted, power, e.f64(0));
  };
  Value sum = e.loop(slots, {e.f64(0)},
                     [&](Value slot, ValueRange carried) -> SmallVector<Value> {
                       return {e.addf(carried[0], term(idOf(slot)))};
                     })[0];
  e.loop(slots, [&](Value slot) {
    Value id = idOf(slot);
    e.when(isWeighted(id), [&] {
      e.store(e.toFloat(e.divf(term(id), sum), e.getF32Type()), scores, {id});
    });
  });
}

void RouteLowering::weighChosen(Value token) {
  if (op.getOrder() == Order::TopKThenScore && op.getScore() == Score::Softmax)
    softmaxOfChosen(token);
  e.loop(slots, [&](Value slot) {
    Value id = e.load(op.getIds(), {token, slot});
    Value weighted = isWeighted(id);
    Value safe = e.select(weighted, id, e.index(0));
    Value score = e.load(scores, {safe});
    Value weight = e.select(weighted, score, e.f32(0));
    e.store(weight, op.getWeights(), {token, slot});
  });
}

void RouteLowering::scaleWeights(Value token) {
  Value sum;
  if (op.getRenormalize())
    sum = e.loop(
        slots, {e.f32(0)},
        [&](Value slot, ValueRange carried) -> SmallVector<Value> {
          return {e.addf(carried[0], e.load(op.getWeights(), {token, slot}))};
        })[0];
  e.loop(slots, [&](Value slot) {
    Value id = e.load(op.getIds(), {token, slot});
    e.when(isWeighted(id), [&] {
      Value weight = e.load(op.getWeights(), {token, slot});
      if (sum) {
        Value zero = e.f32(0);
        Value isZero = e.compare(arith::CmpFPredicate::OEQ, sum, zero);
        weight = e.select(isZero, zero, e.divf(weight, sum));
      }
      if (Value scale = op.getExpertScale())
        weight = e.mulf(weight, e.load(scale, {id}));
      weight = e.mulf(weight, e.f32(op.getScale().convertToFloat()));
      e.store(weight, op.getWeights(), {token, slot});
    });
  });
}

//===----------------------------------------------------------------------===//
// Sparsemixer
//===----------------------------------------------------------------------===//

void RouteLowering::selectBySparseMixer(Value token) {
  e.loop(experts, [&](Value expert) {
    e.store(e.load(selectable, {expert}), candidate, {expert});
    Value logit = e.load(logits, {expert});
    e.store(e.toFloat(logit, e.getF32Type()), keys, {expert});
  });
  Value threshold = e.f64(2 * double(op.getJitter().convertToFloat()));
  auto sumAround = [&](Value largest) {
    return e.loop(
        experts, {e.f64(0)},
        [&](Value expert, ValueRange carried) -> SmallVector<Value> {
          Value logit = e.load(logits, {expert});
          Value size = math::AbsFOp::create(e, logit);
          size = e.select(e.compare(arith::CmpFPredicate::OLT, size, largest),
                          largest, size);
          Value distance = e.divf(e.subf(largest, logit), size);
          // 0 / 0, of two logits that are 0, takes part.
          Value near =
              e.compare(arith::CmpFPredicate::ULE, distance, threshold);
          Value term =
              math::ExpOp::create(e, e.subf(logit, largest)).getResult();
          Value takesPart = e.both(e.load(candidate, {expert}), near);
          return {e.addf(carried[0], e.select(takesPart, term, e.f64(0)))};
        })[0];
  };
  e.loop(slots, [&](Value slot) {
    Value id = best(candidate, keys, experts);
    e.store(id, op.getIds(), {token, slot});
    e.store(e.f32(0), op.getWeights(), {token, slot});
    e.when(e.isBelow(id, experts), [&] {
      Value sum = sumAround(e.load(logits, {id}));
      Value weight = e.divf(e.f64(1), sum);
      e.store(weight, op.getWeights(), {token, slot});
      e.store(e.boolean(false), candidate, {id});
    });
  });
}

void cpu::lower(Emitter &e, RouteOp op) { RouteLowering(e, op).lower(); }
