//===- Bits.cpp - logic, shifts and counts of bits -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "IntegerDecode.h"

using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::integer;

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

/// Bits, each on its own; also of predicates, which are one word a warp.
template <template <typename> typename Function>
static void decodeLogic(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_BITS(type, (binaryOf<T, Function<T>>)));
  context.out().poison = Poison::Bytes;
}

template <template <typename> typename Function>
static void predicateLogic(Warp &warp, const Instruction &i) {
  warp.setPredicate(
      i.d, Function<uint32_t>()(warp.predicate(i.a), warp.predicate(i.b)));
}

template <template <typename> typename Function>
static void decodePredicateLogic(DecodeContext &context) {
  binaryOperands(context, context.takeType(), predicateLogic<Function>);
}

static void decodeNot(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, Not<T>>)));
  context.out().poison = Poison::Bytes;
}

static void predicateNot(Warp &warp, const Instruction &i) {
  warp.setPredicate(i.d, ~warp.predicate(i.a));
}

static void decodePredicateNot(DecodeContext &context) {
  unaryOperands(context, context.takeType(), predicateNot);
}

static void decodeLogicalNot(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, LogicalNot<T>>)));
}

namespace {
/// Any function of three bits: bit 4a+2b+c of the table is its value.
struct Table {
  explicit Table(const Instruction &i) {
    for (uint32_t row = 0; row < 8; ++row)
      rows[row] = i.immediate >> row & 1 ? ~0u : 0;
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    uint32_t result = 0;
    for (uint32_t row = 0; row < 8; ++row)
      result |= rows[row] & (row & 4 ? a : ~a) & (row & 2 ? b : ~b) &
                (row & 1 ? c : ~c);
    return result;
  }
  uint32_t rows[8];
};
} // namespace

static void lookUp(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  Table table(i);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return table(a[lane], b[lane], c[lane]);
  });
}

/// The same, and a predicate: whether any bit is set, and or or q.
static void lookUpAndTest(Warp &warp, const Instruction &i) {
  mixPoison(warp, i, 0);
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  uint32_t q = warp.predicate(listOperand(warp, i, 0));
  if (i.size) // negated
    q = ~q;
  Table table(i);
  uint32_t results[kLanes], bits = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    results[lane] = table(a[lane], b[lane], c[lane]);
    bits |= uint32_t(results[lane] != 0) << lane;
  }
  if (i.d.exists())
    forLanes<uint32_t>(warp, i.d, [&](uint32_t lane) { return results[lane]; });
  if (i.e.exists())
    warp.setPredicate(i.e, i.option ? bits & q : bits | q);
}

static void decodeLookUp(DecodeContext &context) {
  std::string_view combine = context.takeOneOf({"and", "or"});
  context.needOneOf({"b32"});
  Instruction &out = context.out();
  context.needOperands(combine.empty() ? 5 : 6);
  context.d(0, 32);
  context.a(1, 32);
  context.b(2, 32);
  context.c(3, 32);
  out.immediate = context.integer(4);
  out.kind = Class::Integer;
  if (out.immediate < 0 || out.immediate > 255)
    context.fail("the table has 8 bits");
  if (combine.empty()) {
    out.poison = Poison::Bytes;
    return context.run(lookUp);
  }
  context.pairSecond(0, 1);
  OperandSyntax q = context.operand(5);
  out.size = q.negated;
  q.negated = false;
  context.append(context.source(q, 1), 2);
  out.option = combine == "and";
  out.poison = Poison::Own;
  context.run(lookUpAndTest);
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

template <bool Left>
static void decodeShift(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(3);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, 32);
  context.out().kind = Class::Integer;
  context.run(
      Left ? FOR_BITS(type, (binaryHandler<T, T, uint32_t, ShiftLeft<T>>))
           : FOR_INTEGER(type, (binaryHandler<T, T, uint32_t, ShiftRight<T>>)));
}

/// b:a, shifted as 64 bits: its upper half where it goes left, else its lower.
template <bool Left, bool Wraps>
static void funnelShift(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    uint64_t both = uint64_t(b[lane]) << 32 | a[lane];
    uint32_t amount = Wraps ? c[lane] & 31 : std::min(c[lane], 32u);
    return uint32_t(Left ? both << amount >> 32 : both >> amount);
  });
}

static void decodeFunnelShift(DecodeContext &context) {
  bool left = context.needOneOf({"l", "r"}) == "l";
  bool wraps = context.needOneOf({"clamp", "wrap"}) == "wrap";
  context.needOneOf({"b32"});
  ternaryOperands(
      context, {Type::Bits, 32, 1},
      left ? (wraps ? funnelShift<true, true> : funnelShift<true, false>)
           : (wraps ? funnelShift<false, true> : funnelShift<false, false>));
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// A number of 32 bits that says where or how many bits of `a` are set.
static void countOperands(DecodeContext &context, Type type, Handler handler) {
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, type.bits);
  context.out().kind = Class::Integer;
  context.run(handler);
}

static void decodeCountBits(DecodeContext &context) {
  Type type = context.takeType();
  countOperands(context, type,
                FOR_BITS(type, (unaryHandler<uint32_t, T, CountBits<T>>)));
}

static void decodeCountLeadingZeros(DecodeContext &context) {
  Type type = context.takeType();
  countOperands(
      context, type,
      FOR_BITS(type, (unaryHandler<uint32_t, T, CountLeadingZeros<T>>)));
}

static void decodeFindLeadingBit(DecodeContext &context) {
  bool shift = context.take("shiftamt");
  Type type = context.takeType();
  countOperands(
      context, type,
      shift
          ? FOR_INTEGER(type,
                        (unaryHandler<uint32_t, T, FindLeadingBitShift<T>>))
          : FOR_INTEGER(type, (unaryHandler<uint32_t, T, FindLeadingBit<T>>)));
}

static void decodeReverseBits(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, ReverseBits<T>>)));
}

void mlir::moe::emulator::addBitInstructions(InstructionTable &table) {
  constexpr TypeClass kInteger = TypeClass::Integer;
  table.add("and", decodeLogic<And>, kInteger);
  table.add("or", decodeLogic<Or>, kInteger);
  table.add("xor", decodeLogic<Xor>, kInteger);
  table.add("not", decodeNot, kInteger);
  table.add("and", decodePredicateLogic<And>, TypeClass::Predicate);
  table.add("or", decodePredicateLogic<Or>, TypeClass::Predicate);
  table.add("xor", decodePredicateLogic<Xor>, TypeClass::Predicate);
  table.add("not", decodePredicateNot, TypeClass::Predicate);
  table.add("cnot", decodeLogicalNot, kInteger);
  table.add("shl", decodeShift<true>, kInteger);
  table.add("shr", decodeShift<false>, kInteger);
  table.add("lop3", decodeLookUp, kInteger);
  table.add("shf", decodeFunnelShift, kInteger);
  table.add("popc", decodeCountBits, kInteger);
  table.add("clz", decodeCountLeadingZeros, kInteger);
  table.add("bfind", decodeFindLeadingBit, kInteger);
  table.add("brev", decodeReverseBits, kInteger);
}
