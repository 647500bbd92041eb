//===- BitFields.cpp - runs of bits inside a register -*- C++ -*-===//
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
// bfe and bfi
//===----------------------------------------------------------------------===//

static void decodeExtractField(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(4);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, 32);
  context.c(3, 32);
  context.out().kind = Class::Integer;
  context.run(FOR_INTEGER(
      type, (ternaryHandler<T, T, uint32_t, uint32_t, ExtractField<T>>)));
}

template <typename T>
static void insertField(Warp &warp, const Instruction &i) {
  mixPoison(warp, i, 4);
  const T *field = warp.read<T>(i.a), *into = warp.read<T>(i.b);
  const auto *position = warp.read<uint32_t>(i.c);
  const auto *length = warp.read<uint32_t>(listOperand(warp, i, 0));
  forLanes<T>(warp, i.d, [=](uint32_t lane) {
    return InsertField<T>()(field[lane], into[lane], position[lane],
                            length[lane]);
  });
}

static void decodeInsertField(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(5);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, type.bits);
  context.c(3, 32);
  // The length is a fifth operand.
  context.append(context.source(context.operand(4), 32), 2);
  context.out().kind = Class::Integer;
  context.out().poison = Poison::Own;
  context.run(FOR_BITS(type, (insertField<T>)));
}

//===----------------------------------------------------------------------===//
// szext, bmsk and fns
//===----------------------------------------------------------------------===//

/// The lowest bits of a value, and its sign.
template <bool Signed, bool Wraps>
static void extendField(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) -> uint32_t {
    uint32_t length = Wraps ? b[lane] & 31 : std::min(b[lane], 32u);
    if (length == 0)
      return 0;
    uint32_t top = a[lane] << (32 - length);
    return Signed ? uint32_t(int32_t(top) >> (32 - length))
                  : top >> (32 - length);
  });
}

static void decodeExtendField(DecodeContext &context) {
  bool wraps = context.needOneOf({"clamp", "wrap"}) == "wrap";
  bool isSigned = context.needOneOf({"u32", "s32"}) == "s32";
  binaryOperands(
      context, {Type::Bits, 32, 1},
      isSigned
          ? (wraps ? extendField<true, true> : extendField<true, false>)
          : (wraps ? extendField<false, true> : extendField<false, false>));
}

/// b ones from bit a on.
template <bool Wraps>
static void makeMask(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    uint32_t first = Wraps ? a[lane] & 31 : std::min(a[lane], 32u);
    uint32_t length = Wraps ? b[lane] & 31 : std::min(b[lane], 32u);
    return uint32_t(((uint64_t(1) << length) - 1) << first);
  });
}

static void decodeMakeMask(DecodeContext &context) {
  bool wraps = context.needOneOf({"clamp", "wrap"}) == "wrap";
  context.needOneOf({"b32"});
  binaryOperands(context, {Type::Bits, 32, 1},
                 wraps ? makeMask<true> : makeMask<false>);
}

namespace {
/// The place of the n-th set bit from bit `start` on; downwards where n is
/// negative. All ones where there is none.
struct FindNthSet {
  uint32_t operator()(uint32_t mask, uint32_t start, uint32_t which) const {
    auto n = static_cast<int32_t>(which);
    if (start >= 32)
      return ~0u;
    if (n == 0)
      return mask >> start & 1 ? start : ~0u;
    uint32_t left = n < 0 ? 0u - which : which;
    for (uint32_t bit = start; bit < 32; bit += n < 0 ? ~0u : 1u)
      if ((mask >> bit & 1) && --left == 0)
        return bit;
    return ~0u;
  }
};
} // namespace

static void decodeFindNthSet(DecodeContext &context) {
  context.needOneOf({"b32"});
  ternaryOperands(context, {Type::Bits, 32, 1},
                  ternaryOf<uint32_t, FindNthSet>);
}

void mlir::moe::emulator::addBitFieldInstructions(InstructionTable &table) {
  constexpr TypeClass kInteger = TypeClass::Integer;
  table.add("bfe", decodeExtractField, kInteger);
  table.add("bfi", decodeInsertField, kInteger);
  table.add("szext", decodeExtendField, kInteger);
  table.add("bmsk", decodeMakeMask, kInteger);
  table.add("fns", decodeFindNthSet, kInteger);
}
