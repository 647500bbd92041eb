//===- Vote.cpp - what the lanes of a warp agree on -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Lanes.h"

#include <algorithm>

using namespace mlir::moe::emulator;

/// The member mask is the last operand of all of these.
static void memberMask(DecodeContext &context, size_t index) {
  context.append(context.source(context.operand(index), 32), 2);
  context.out().kind = Class::Shuffle;
  context.out().poison = Poison::Own;
}

/// The result depends on all lanes: it is undefined where one of them is.
static void spreadPoison(Warp &warp, const Instruction &i) {
  if (!warp.poisoned)
    return;
  bool any = warp.poisonedLanes(i.a, i.widths[2]) & warp.active;
  warp.setPoison(i.d, i.widths[0], any ? kAllLanes : 0);
  warp.setPoison(i.e, i.widths[1], any ? kAllLanes : 0);
}

static void broadcast(Warp &warp, Operand d, uint32_t value) {
  forLanes<uint32_t>(warp, d, [=](uint32_t) { return value; });
}

//===----------------------------------------------------------------------===//
// vote, activemask, elect
//===----------------------------------------------------------------------===//

namespace {
enum Vote : uint8_t { kAll, kAny, kUniform, kBallot };
} // namespace

static void vote(Warp &warp, const Instruction &i) {
  if (!gatherMembers(warp, i, listOperand(warp, i, 0)))
    return;
  spreadPoison(warp, i);
  uint32_t bits = warp.predicate(i.a) ^ (i.size ? kAllLanes : 0);
  bits &= warp.active;
  if (i.option == kBallot)
    return broadcast(warp, i.d, bits);
  bool all = bits == warp.active;
  bool result = i.option == kAll   ? all
                : i.option == kAny ? bits != 0
                                   : all || bits == 0;
  warp.setPredicate(i.d, result ? kAllLanes : 0);
}

static void decodeVote(DecodeContext &context) {
  context.needOneOf({"sync"});
  std::string_view mode = context.needOneOf({"all", "any", "uni", "ballot"});
  context.needOneOf({mode == "ballot" ? "b32" : "pred"});
  context.needOperands(3);
  Instruction &out = context.out();
  context.d(0, mode == "ballot" ? 32 : 1);
  OperandSyntax source = context.operand(1);
  out.size = source.negated;
  source.negated = false;
  out.a = context.source(source, 1);
  memberMask(context, 2);
  out.option = mode == "all"   ? kAll
               : mode == "any" ? kAny
               : mode == "uni" ? kUniform
                               : kBallot;
  context.run(vote);
}

static void activeMask(Warp &warp, const Instruction &i) {
  warp.setPoison(i.d, 4, 0);
  broadcast(warp, i.d, warp.active);
}

static void decodeActiveMask(DecodeContext &context) {
  context.needOneOf({"b32"});
  context.needOperands(1);
  context.d(0, 32);
  context.out().kind = Class::Shuffle;
  context.out().poison = Poison::Own;
  context.run(activeMask);
}

/// One lane of the members: the lowest, on every GPU so far.
static void elect(Warp &warp, const Instruction &i) {
  if (!gatherMembers(warp, i, listOperand(warp, i, 0)))
    return;
  warp.setPoison(i.d, 4, 0);
  warp.setPoison(i.e, 0, 0);
  uint32_t leader = firstLane(warp.active);
  if (i.d.exists())
    broadcast(warp, i.d, leader);
  if (i.e.exists())
    warp.setPredicate(i.e, 1u << leader);
}

static void decodeElect(DecodeContext &context) {
  context.needOneOf({"sync"});
  context.needOperands(2);
  context.d(0, 32);
  context.pairSecond(0, 1);
  memberMask(context, 1);
  context.run(elect);
}

//===----------------------------------------------------------------------===//
// match
//===----------------------------------------------------------------------===//

template <typename T>
static void match(Warp &warp, const Instruction &i) {
  if (!gatherMembers(warp, i, listOperand(warp, i, 0)))
    return;
  spreadPoison(warp, i);
  T a[kLanes];
  std::memcpy(a, warp.read<T>(i.a), sizeof(a));
  uint32_t same[kLanes] = {}, done = 0;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    if (done >> lane & 1)
      continue;
    uint32_t equal = 0;
    for (uint32_t other = 0; other < kLanes; ++other)
      equal |= uint32_t(a[other] == a[lane]) << other;
    equal &= warp.active;
    for (uint32_t others = equal; others; others &= others - 1)
      same[firstLane(others)] = equal;
    done |= equal;
  }
  bool all = same[firstLane(warp.active)] == warp.active;
  if (i.option) { // match.all
    broadcast(warp, i.d, all ? warp.active : 0);
    if (i.e.exists())
      warp.setPredicate(i.e, all ? kAllLanes : 0);
    return;
  }
  forLanes<uint32_t>(warp, i.d, [&](uint32_t lane) { return same[lane]; });
}

static void decodeMatch(DecodeContext &context) {
  std::string_view mode = context.needOneOf({"any", "all"});
  context.needOneOf({"sync"});
  Type type = context.takeType();
  context.needOperands(3);
  context.d(0, 32);
  if (mode == "all")
    context.pairSecond(0, 1);
  context.a(1, type.bits);
  memberMask(context, 2);
  context.out().option = mode == "all";
  context.run(type.bits == 32   ? match<uint32_t>
              : type.bits == 64 ? match<uint64_t>
                                : Handler(nullptr));
}

//===----------------------------------------------------------------------===//
// redux
//===----------------------------------------------------------------------===//

template <typename T, typename Function>
static void reduce(Warp &warp, const Instruction &i) {
  if (!gatherMembers(warp, i, listOperand(warp, i, 0)))
    return;
  spreadPoison(warp, i);
  const T *a = warp.read<T>(i.a);
  T result = a[firstLane(warp.active)];
  for (uint32_t lanes = warp.active & (warp.active - 1); lanes;
       lanes &= lanes - 1)
    result = Function()(result, a[firstLane(lanes)]);
  broadcast(warp, i.d, static_cast<uint32_t>(result));
}

namespace {
struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct And {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct Or {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Xor {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};
struct Least {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Most {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
} // namespace

static void decodeReduce(DecodeContext &context) {
  context.needOneOf({"sync"});
  std::string_view mode =
      context.needOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = context.takeType();
  context.needOperands(3);
  context.d(0, 32);
  context.a(1, 32);
  memberMask(context, 2);
  if (!type.isInteger() || type.bits != 32)
    return;
  bool isSigned = type.isSigned();
  context.run(
      mode == "add"   ? reduce<uint32_t, Sum>
      : mode == "and" ? reduce<uint32_t, And>
      : mode == "or"  ? reduce<uint32_t, Or>
      : mode == "xor" ? reduce<uint32_t, Xor>
      : mode == "min"
          ? (isSigned ? reduce<int32_t, Least> : reduce<uint32_t, Least>)
          : (isSigned ? reduce<int32_t, Most> : reduce<uint32_t, Most>));
}

void mlir::moe::emulator::addVoteInstructions(InstructionTable &table) {
  table.add("vote", decodeVote);
  table.add("activemask", decodeActiveMask);
  table.add("elect", decodeElect);
  table.add("match", decodeMatch);
  table.add("redux", decodeReduce);
}
