//===- Carry.cpp - sums of more than one register -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// .cc writes the carry of a thread, addc, subc and madc read it. It is a
// predicate like any other that no name stands for. A subtraction adds the
// complement: its carry is 0 where it borrows.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "IntegerDecode.h"

using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::integer;

namespace {
enum CarryOperation : uint8_t { kSum, kDifference, kLow, kHigh };
} // namespace

Operand DecodeContext::carry() {
  auto [found, isNew] = state.specials.insert({"%cc", 0});
  if (isNew) {
    found->second = static_cast<RegisterId>(state.entry.registers.size());
    state.entry.registers.push_back({"%cc", 1});
    state.exclusive.push_back(false);
  }
  return {found->second << 1};
}

/// The two numbers that are added for a lane.
template <typename T, CarryOperation Operation>
static std::pair<T, T> terms(const T *a, const T *b, const T *c,
                             uint32_t lane) {
  switch (Operation) {
  case kSum:
    return {a[lane], b[lane]};
  case kDifference:
    return {a[lane], T(~b[lane])};
  case kLow:
    return {T(a[lane] * b[lane]), c[lane]};
  default:
    return {MultiplyHigh<T>()(a[lane], b[lane]), c[lane]};
  }
}

/// High products of T, which is signed for some, are added as U.
template <typename T, CarryOperation Operation>
static void addWithCarry(Warp &warp, const Instruction &i) {
  using U = std::make_unsigned_t<T>;
  mixPoison(warp, i, 0);
  const T *a = warp.read<T>(i.a), *b = warp.read<T>(i.b);
  const T *c = i.c.exists() ? warp.read<T>(i.c) : b;
  uint32_t in = i.count ? warp.predicate(listOperand(warp, i, 0))
                        : (Operation == kDifference ? kAllLanes : 0);
  uint32_t out = 0;
  T results[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    auto [x, y] = terms<T, Operation>(a, b, c, lane);
    Twice<U> sum = Twice<U>(U(x)) + U(y) + (in >> lane & 1);
    results[lane] = T(sum);
    out |= uint32_t(sum >> (8 * sizeof(T)) & 1) << lane;
  }
  forLanes<T>(warp, i.d, [&](uint32_t lane) { return results[lane]; });
  if (i.e.exists())
    warp.setPredicate(i.e, out);
}

template <CarryOperation Operation>
static Handler carryHandler(Type type) {
  // Only the upper half of a product depends on the sign.
  if (Operation != kHigh)
    type.kind = Type::Unsigned;
  if (type.bits != 32 && type.bits != 64)
    return nullptr;
  return FOR_INTEGER(type, (addWithCarry<T, Operation>));
}

static void carryOperands(DecodeContext &context, Type type, unsigned sources,
                          Handler handler, bool reads, bool writes) {
  integerOperands(context, type, sources, handler);
  Instruction &out = context.out();
  if (reads)
    context.append(context.carry(), 2);
  if (writes)
    out.e = context.carry();
  out.poison = Poison::Own;
}

template <CarryOperation Operation>
static void decodeTwo(DecodeContext &context, bool reads, bool writes) {
  Type type = context.takeType();
  carryOperands(context, type, 2, carryHandler<Operation>(type), reads, writes);
}

static void decodeThree(DecodeContext &context, bool reads, bool writes) {
  bool high = context.needOneOf({"lo", "hi"}) == "hi";
  Type type = context.takeType();
  carryOperands(context, type, 3,
                high ? carryHandler<kHigh>(type) : carryHandler<kLow>(type),
                reads, writes);
}

void mlir::moe::emulator::decodeAddWithCarry(DecodeContext &context) {
  decodeTwo<kSum>(context, false, true);
}
void mlir::moe::emulator::decodeSubtractWithCarry(DecodeContext &context) {
  decodeTwo<kDifference>(context, false, true);
}
void mlir::moe::emulator::decodeMultiplyAddWithCarry(DecodeContext &context) {
  decodeThree(context, false, true);
}

void mlir::moe::emulator::addCarryInstructions(InstructionTable &table) {
  table.add("addc", [](DecodeContext &context) {
    decodeTwo<kSum>(context, true, context.take("cc"));
  });
  table.add("subc", [](DecodeContext &context) {
    decodeTwo<kDifference>(context, true, context.take("cc"));
  });
  table.add("madc", [](DecodeContext &context) {
    decodeThree(context, true, context.take("cc"));
  });
}
