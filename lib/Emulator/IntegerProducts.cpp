//===- IntegerProducts.cpp - products of parts of registers -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mul24 and mad24, of the lowest 24 bits; dp4a and dp2a, which add up products
// of bytes.
//
//===----------------------------------------------------------------------===//

#include "IntegerDecode.h"

using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::integer;

//===----------------------------------------------------------------------===//
// 24 bits
//===----------------------------------------------------------------------===//

template <typename T>
static int64_t product24(T a, T b) {
  return int64_t(T(Wide<T>(a) << 8) >> 8) * int64_t(T(Wide<T>(b) << 8) >> 8);
}

namespace {
/// The lowest 32 of the 48 bits, or the highest.
template <typename T, bool High>
struct Multiply24 {
  T operator()(T a, T b) const { return T(product24(a, b) >> (High ? 16 : 0)); }
};
template <typename T, bool High>
struct MultiplyAdd24 {
  T operator()(T a, T b, T c) const {
    return T(Wide<T>(Multiply24<T, High>()(a, b)) + Wide<T>(c));
  }
};
struct MultiplyAdd24Saturated {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate<int32_t>((product24(a, b) >> 16) + c);
  }
};
} // namespace

static void decodeMultiply24(DecodeContext &context) {
  bool high = context.needOneOf({"hi", "lo"}) == "hi";
  Type type = context.takeType();
  if (type.bits != 32 || type.kind == Type::Bits)
    return context.fail("takes .u32 or .s32");
  binaryOperands(context, type,
                 high ? FOR_INTEGER(type, (binaryOf<T, Multiply24<T, true>>))
                      : FOR_INTEGER(type, (binaryOf<T, Multiply24<T, false>>)));
}

static void decodeMultiplyAdd24(DecodeContext &context) {
  bool high = context.needOneOf({"hi", "lo"}) == "hi";
  bool saturates = high && context.take("sat");
  Type type = context.takeType();
  if (type.bits != 32 || type.kind == Type::Bits)
    return context.fail("takes .u32 or .s32");
  if (saturates)
    return ternaryOperands(context, type,
                           type.isSigned()
                               ? ternaryOf<int32_t, MultiplyAdd24Saturated>
                               : Handler(nullptr));
  ternaryOperands(
      context, type,
      high ? FOR_INTEGER(type, (ternaryOf<T, MultiplyAdd24<T, true>>))
           : FOR_INTEGER(type, (ternaryOf<T, MultiplyAdd24<T, false>>)));
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

/// c plus the products of the parts of a, each `sizeof(A)` bytes, with bytes of
/// b from the one on that `First` says.
template <typename A, typename B, uint32_t First>
static void dotProduct(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    uint32_t sum = c[lane];
    for (uint32_t k = 0; k < 4 / sizeof(A); ++k) {
      A x = A(a[lane] >> (8 * sizeof(A) * k));
      B y = B(b[lane] >> (8 * (First + k)));
      sum += uint32_t(int32_t(x) * int32_t(y));
    }
    return sum;
  });
}

template <typename A, uint32_t First>
static Handler dotProductOf(bool isSigned) {
  return isSigned ? dotProduct<A, int8_t, First>
                  : dotProduct<A, uint8_t, First>;
}

static void dotOperands(DecodeContext &context, Handler (*choose)(bool, bool)) {
  bool first = context.needOneOf({"u32", "s32"}) == "s32";
  bool second = context.needOneOf({"u32", "s32"}) == "s32";
  ternaryOperands(context, {Type::Bits, 32, 1}, choose(first, second));
}

static void decodeDotOfBytes(DecodeContext &context) {
  dotOperands(context, [](bool first, bool second) {
    return first ? dotProductOf<int8_t, 0>(second)
                 : dotProductOf<uint8_t, 0>(second);
  });
}

static void decodeDotOfHalves(DecodeContext &context) {
  if (context.needOneOf({"lo", "hi"}) == "lo")
    return dotOperands(context, [](bool first, bool second) {
      return first ? dotProductOf<int16_t, 0>(second)
                   : dotProductOf<uint16_t, 0>(second);
    });
  dotOperands(context, [](bool first, bool second) {
    return first ? dotProductOf<int16_t, 2>(second)
                 : dotProductOf<uint16_t, 2>(second);
  });
}

void mlir::moe::emulator::addIntegerProductInstructions(
    InstructionTable &table) {
  table.add("mul24", decodeMultiply24);
  table.add("mad24", decodeMultiplyAdd24);
  table.add("dp4a", decodeDotOfBytes);
  table.add("dp2a", decodeDotOfHalves);
}
