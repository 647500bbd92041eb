//===- Route.cpp - k experts for each token -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp routes one token; lane l holds experts l, l + 32, ... Keys live in
// shared memory as integers that order like the floats, with one value below
// all of them for experts that cannot be selected. k rounds of a warp-wide
// argmax pick the slots, lower expert first among equal keys. Scores are
// evaluated in f64 and rounded once to f32.
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "Kernels.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::moe;

static constexpr int64_t kUnselectable = std::numeric_limits<int32_t>::min();
static constexpr int64_t kStaticSharedBytes = 48 * 1024;
static constexpr double kInf = std::numeric_limits<double>::infinity();

namespace {
struct Route {
  RouteOp op;
  KernelBuilder &k;
  int numExperts, slots, groups;
  Buffer logits, weights, ids;
  std::optional<Buffer> bias, tokenIds, table, expertScale;
  Buffer keys, chosen, slotWeights; // shared, one part per warp
  Val token, keysAt, chosenAt, weightsAt;
  Val largest, total; // of the softmax over all experts

  /// A logit of the token with the rules for NaN and infinities applied.
  struct Logit {
    Val raw;        // f32
    Val selectable; // i1
  };

  bool softmaxFirst() {
    return op.getScore() == Score::Softmax &&
           op.getOrder() == Order::ScoreThenTopK;
  }
  bool softmaxOfChosen() {
    return op.getScore() == Score::Softmax &&
           op.getOrder() == Order::TopKThenScore;
  }

  void forExperts(function_ref<void(Val)> body);
  SmallVector<Val>
  forExperts(ArrayRef<Val> inits,
             function_ref<SmallVector<Val>(Val, ArrayRef<Val>)> body);
  void forSlots(function_ref<void(Val)> body);
  Logit loadLogit(Val expert);
  Val capped(Val raw);
  Val score(Val raw, Val max, Val sum);
  void reduceLogits();
  void writeKeys();
  Val groupRank(Val group);
  void dropGroups();
  void selectSlots();
  Val sparseMixerWeight(Val best);
  void readTable();
  void weighSlots();
  void writeResults();
};
} // namespace

/// An i32 that orders like the f32 `key`; -0 and 0 are one key.
static Val orderedBits(Val key) {
  KernelBuilder &k = *key.kernel;
  Val bits = k.bits(select(key == 0.0, 0.0, key));
  Val flipped = bits ^ 0x7fffffff;
  return select(bits < 0, flipped, bits);
}
static Val fromOrderedBits(Val bits) {
  KernelBuilder &k = *bits.kernel;
  Val flipped = bits ^ 0x7fffffff;
  return k.fromBits(select(bits < 0, flipped, bits));
}

SmallVector<Val>
Route::forExperts(ArrayRef<Val> inits,
                  function_ref<SmallVector<Val>(Val, ArrayRef<Val>)> body) {
  int rounds = (numExperts + 31) / 32;
  return k.forLoop(0, rounds, 1, inits,
                   [&](Val round, ArrayRef<Val> carried) -> SmallVector<Val> {
                     Val first = round * 32;
                     Val expert = first + k.lane();
                     if (numExperts % 32 == 0)
                       return body(expert, carried);
                     return k.ifElse(
                         expert < numExperts,
                         [&] { return body(expert, carried); },
                         [&] { return SmallVector<Val>(carried); });
                   });
}

void Route::forExperts(function_ref<void(Val)> body) {
  forExperts({}, [&](Val expert, ArrayRef<Val>) -> SmallVector<Val> {
    body(expert);
    return {};
  });
}

void Route::forSlots(function_ref<void(Val)> body) {
  k.forLoop(k.lane(), slots, 32, body);
}

Route::Logit Route::loadLogit(Val expert) {
  Val raw = k.load(logits, k.at(logits, {token, expert}));
  Val selectable = raw > -kInf; // false for NaN
  raw = select(raw == kInf, std::numeric_limits<float>::max(), raw);
  return {raw, selectable};
}

/// The logit in f64, after the softcap.
Val Route::capped(Val raw) {
  Val wide = k.toF64(raw);
  if (!op.getSoftcap())
    return wide;
  double cap = op.getSoftcap()->convertToFloat();
  return tanh64(wide / cap) * cap;
}

/// The f32 score of a logit; `max` and `sum` are those of a softmax.
Val Route::score(Val raw, Val max, Val sum) {
  Val logit = capped(raw);
  switch (op.getScore()) {
  case Score::Softmax:
    return k.toF32(exp64(logit - max) / sum);
  case Score::Sigmoid:
    return k.toF32(sigmoid64(logit));
  case Score::SqrtSoftplus:
    return k.toF32(sqrtSoftplus64(logit));
  case Score::Identity:
  case Score::SparseMixer:
    return k.toF32(logit);
  }
  llvm_unreachable("all scores are handled above");
}

/// The largest logit and the sum of exponentials over all experts.
void Route::reduceLogits() {
  SmallVector<Val> result =
      forExperts({k.f32(-kInf)}, [&](Val e, ArrayRef<Val> carried) {
        Logit logit = loadLogit(e);
        Val raw = select(logit.selectable, logit.raw, carried[0]);
        return SmallVector<Val>{max(carried[0], raw)};
      });
  largest = capped(k.warpMax(result[0]));
  result = forExperts({k.f64(0)}, [&](Val e, ArrayRef<Val> carried) {
    Logit logit = loadLogit(e);
    Val term = exp64(capped(logit.raw) - largest);
    return SmallVector<Val>{carried[0] + select(logit.selectable, term, 0.0)};
  });
  total = k.warpSum(result[0]);
}

void Route::writeKeys() {
  forExperts([&](Val e) {
    Logit logit = loadLogit(e);
    Val key = op.getOrder() == Order::TopKThenScore
                  ? k.toF32(capped(logit.raw))
                  : score(logit.raw, largest, total);
    Val selectable = logit.selectable;
    if (bias) {
      Val shift = k.load(*bias, e);
      selectable = selectable & !k.isNaN(shift);
      key = key + shift;
    }
    Val ordered = select(selectable, orderedBits(key), kUnselectable);
    k.store(keys, keysAt + e, ordered);
  });
  k.warpBarrier();
}

/// The rank of a group of neighbouring experts, as an ordered i32.
Val Route::groupRank(Val group) {
  int size = numExperts / groups;
  Val lowest = k.i32(kUnselectable);
  SmallVector<Val> top = k.forLoop(
      0, size, 1, {lowest, lowest}, [&](Val i, ArrayRef<Val> carried) {
        Val key = k.load(keys, keysAt + group * size + i);
        return SmallVector<Val>{max(carried[0], key),
                                max(carried[1], min(carried[0], key))};
      });
  if (op.getGroupRank() == GroupRank::Max)
    return top[0];
  Val best = fromOrderedBits(top[0]);
  Val sum = best + fromOrderedBits(top[1]);
  // Infinite biases of both signs: such a group ranks below all finite ones.
  sum = select(k.isNaN(sum), -kInf, sum);
  Val ordered = orderedBits(sum);
  return select(top[1] == lowest, top[0], ordered);
}

/// Makes the experts of all but the best groups unselectable.
void Route::dropGroups() {
  int size = numExperts / groups;
  k.forLoop(k.lane(), groups, 32, [&](Val group) {
    Val rank = groupRank(group);
    k.store(chosen, chosenAt + group, rank);
  });
  k.warpBarrier();
  k.forLoop(k.lane(), groups, 32, [&](Val group) {
    Val rank = k.load(chosen, chosenAt + group);
    SmallVector<Val> better =
        k.forLoop(0, groups, 1, {k.i32(0)}, [&](Val g, ArrayRef<Val> carried) {
          Val other = k.load(chosen, chosenAt + g);
          Val above = other > rank, equal = other == rank;
          Val wins = above | (equal & (g < group));
          return SmallVector<Val>{carried[0] + select(wins, k.i32(1), 0)};
        });
    k.ifThen(better[0] >= static_cast<int>(op.getKeepGroups()), [&] {
      k.forLoop(0, size, 1, [&](Val i) {
        k.store(keys, keysAt + group * size + i, kUnselectable);
      });
    });
  });
  k.warpBarrier();
}

/// Sparsemixer's weight of `best`: a softmax over the experts that were not
/// chosen before and lie close enough to the best.
Val Route::sparseMixerWeight(Val best) {
  double threshold = 2.0 * op.getJitter().convertToFloat();
  Val most = capped(loadLogit(max(best, 0)).raw);
  SmallVector<Val> sum =
      forExperts({k.f64(0)}, [&](Val e, ArrayRef<Val> carried) {
        Val logit = capped(loadLogit(e).raw);
        Val open = k.load(keys, keysAt + e) != kUnselectable;
        Val distance = most - logit;
        Val far = distance / max(k.abs(logit), most) > threshold;
        Val term = exp64(logit - most);
        return SmallVector<Val>{carried[0] + select(open & !far, term, 0.0)};
      });
  Val one = k.f64(1);
  return k.toF32(one / k.warpSum(sum[0]));
}

/// Fills the slots in descending key order. A lane reads and clears only the
/// keys of its own experts, so rounds need no barrier.
void Route::selectSlots() {
  k.forLoop(0, slots, 1, [&](Val j) {
    SmallVector<Val> best = forExperts(
        {k.i32(kUnselectable), k.i32(-1)}, [&](Val e, ArrayRef<Val> carried) {
          Val key = k.load(keys, keysAt + e);
          Val better = key > carried[0];
          return SmallVector<Val>{select(better, key, carried[0]),
                                  select(better, e, carried[1])};
        });
    for (int64_t mask = 16; mask > 0; mask /= 2) {
      Val key = k.shuffleXor(best[0], mask);
      Val expert = k.shuffleXor(best[1], mask);
      Val above = key > best[0], equal = key == best[0];
      Val better = above | (equal & (expert < best[1]));
      best[0] = select(better, key, best[0]);
      best[1] = select(better, expert, best[1]);
    }
    Val expert = best[1];
    if (op.getScore() == Score::SparseMixer) {
      Val weight = sparseMixerWeight(expert);
      k.ifThen(k.lane() == 0,
               [&] { k.store(slotWeights, weightsAt + j, weight); });
    }
    k.ifThen(k.lane() == 0, [&] { k.store(chosen, chosenAt + j, expert); });
    Val found = expert >= 0, owner = expert & 31;
    k.ifThen(found & (owner == k.lane()),
             [&] { k.store(keys, keysAt + expert, kUnselectable); });
  });
  k.warpBarrier();
}

/// Hash routing: the ids come from the table's row of the token's id.
void Route::readTable() {
  int vocabulary =
      static_cast<int>(cast<MemRefType>(op.getTable().getType()).getDimSize(0));
  Val row = k.load(*tokenIds, k.extend(token));
  Val known = isBelow(row, vocabulary);
  forSlots([&](Val j) {
    SmallVector<Val> id = k.ifElse(
        known,
        [&]() -> SmallVector<Val> {
          Val entry = k.load(*table, k.offset(row, slots, j));
          return {select(isBelow(entry, numExperts), entry, -1)};
        },
        [&]() -> SmallVector<Val> { return {k.i32(-1)}; });
    k.store(chosen, chosenAt + j, id[0]);
  });
  k.warpBarrier();
}

/// The score of each chosen expert, 0 for empty slots.
void Route::weighSlots() {
  Val max = largest, sum = total;
  // The logit of slot j, unselectable where there is none.
  auto slotLogit = [&](Val j) {
    Val id = k.load(chosen, chosenAt + j);
    Logit logit = loadLogit(select(id < 0, 0, id));
    logit.selectable = logit.selectable & (id >= 0);
    return logit;
  };
  if (softmaxOfChosen()) {
    Val lane = k.lane();
    SmallVector<Val> result = k.forLoop(
        lane, slots, 32, {k.f32(-kInf)}, [&](Val j, ArrayRef<Val> carried) {
          Logit logit = slotLogit(j);
          Val raw = select(logit.selectable, logit.raw, carried[0]);
          return SmallVector<Val>{moe::max(carried[0], raw)};
        });
    max = capped(k.warpMax(result[0]));
    result = k.forLoop(lane, slots, 32, {k.f64(0)},
                       [&](Val j, ArrayRef<Val> carried) {
                         Logit logit = slotLogit(j);
                         Val term = exp64(capped(logit.raw) - max);
                         return SmallVector<Val>{
                             carried[0] + select(logit.selectable, term, 0.0)};
                       });
    sum = k.warpSum(result[0]);
  }
  forSlots([&](Val j) {
    Logit logit = slotLogit(j);
    Val weight = op.getScore() == Score::SparseMixer
                     ? k.load(slotWeights, weightsAt + j)
                     : score(logit.raw, max, sum);
    weight = select(logit.selectable, weight, 0.0);
    k.store(slotWeights, weightsAt + j, weight);
  });
  k.warpBarrier();
}

void Route::writeResults() {
  Val sum;
  if (op.getRenormalize())
    sum = k.forLoop(0, slots, 1, {k.f32(0)}, [&](Val j, ArrayRef<Val> carried) {
      Val weight = k.load(slotWeights, weightsAt + j);
      return SmallVector<Val>{carried[0] + weight};
    })[0];
  forSlots([&](Val j) {
    Val id = k.load(chosen, chosenAt + j);
    Val weight = k.load(slotWeights, weightsAt + j);
    if (op.getRenormalize()) {
      Val share = weight / sum;
      weight = select(sum == 0.0, 0.0, share);
    }
    if (expertScale)
      weight = weight * k.load(*expertScale, select(id < 0, 0, id));
    weight = weight * static_cast<double>(op.getScale().convertToFloat());
    weight = select(id < 0, 0.0, weight);
    Val at = k.offset(token, slots, j);
    k.store(weights, at, weight);
    k.store(ids, at, id);
  });
}

/// Warps of a block: four, or as many as shared memory holds.
static int64_t warpsPerBlock(int64_t experts, int64_t slots, int64_t groups) {
  int64_t bytes = 4 * (experts + std::max(slots, groups) + slots);
  return std::clamp<int64_t>(kStaticSharedBytes / bytes, 1, 4);
}

LogicalResult moe::outline(RouteOp op, LaunchSite &site) {
  int numExperts = static_cast<int>(op.getNumExperts());
  int slots = static_cast<int>(op.getTopK());
  int groups = static_cast<int>(op.getGroups());
  int warps = static_cast<int>(warpsPerBlock(numExperts, slots, groups));
  int chosenSize = std::max(slots, groups);

  KernelBuilder k(site, "route", warps * 32);
  Buffer logits = k.buffer("logits", op.getLogits());
  Buffer weights = k.buffer("weights", op.getWeights());
  Buffer ids = k.buffer("ids", op.getIds());
  auto bias = optionalBuffer(k, "bias", op.getBias());
  auto tokenIds = optionalBuffer(k, "token_ids", op.getTokenIds());
  auto table = optionalBuffer(k, "table", op.getTable());
  auto expertScale = optionalBuffer(k, "expert_scale", op.getExpertScale());
  Extent T = k.extent("T", op.getLogits(), 0);

  Route route{op,
              k,
              numExperts,
              slots,
              groups,
              logits,
              weights,
              ids,
              bias,
              tokenIds,
              table,
              expertScale,
              k.shared("keys", k.i32Type(), warps * numExperts),
              k.shared("chosen", k.i32Type(), warps * chosenSize),
              k.shared("slot_weights", k.f32Type(), warps * slots)};
  Val firstToken = k.block() * warps;
  route.token = firstToken + k.warp();
  route.keysAt = k.warp() * numExperts;
  route.chosenAt = k.warp() * chosenSize;
  route.weightsAt = k.warp() * slots;
  k.ifThen(route.token < T.value, [&] {
    if (route.softmaxFirst())
      route.reduceLogits();
    if (table) {
      route.readTable();
    } else {
      route.writeKeys();
      if (static_cast<int>(op.getKeepGroups()) < groups)
        route.dropGroups();
      route.selectSlots();
    }
    route.weighSlots();
    route.writeResults();
  });
  k.launch({T.symbol.ceilDiv(warps)});
  return success();
}
