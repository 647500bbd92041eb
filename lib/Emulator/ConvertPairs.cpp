//===- ConvertPairs.cpp - cvt to several numbers in one register -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvertFormats.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::formats;

//===----------------------------------------------------------------------===//
// Two values in one register
//===----------------------------------------------------------------------===//

namespace {
template <bool E5M2>
struct Byte {
  static double number(uint8_t bits) {
    return E5M2 ? f8E5M2ToDouble(bits) : f8E4M3FNToDouble(bits);
  }
  /// Always saturates to the largest number.
  static uint8_t write(double value) {
    constexpr double kLargest = E5M2 ? 57344.0 : 448.0;
    if (value != value)
      return 0x7f;
    value = std::min(std::max(value, -kLargest), kLargest);
    return E5M2 ? doubleToF8E5M2(value) : doubleToF8E4M3FN(value);
  }
};
} // namespace

template <typename Format>
static uint32_t narrow(float value, const Instruction &i) {
  return Format::from(value, i.option, i.size, false);
}

/// The first source is the upper half.
static void setPairPoison(Warp &warp, const Instruction &i, uint32_t each) {
  if (!warp.poisoned)
    return;
  uint32_t high = warp.poisonedLanes(i.a, 4), low = warp.poisonedLanes(i.b, 4);
  uint32_t *planes = warp.poisonToWrite(i.d);
  for (uint32_t byte = 0; byte < 2 * each; ++byte)
    planes[byte] = (planes[byte] & ~warp.active) |
                   ((byte < each ? low : high) & warp.active);
}

template <typename Format>
static void convertPair(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<float>(i.a), *b = warp.read<float>(i.b);
  setPairPoison(warp, i, 2);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return narrow<Format>(a[lane], i) << 16 | narrow<Format>(b[lane], i);
  });
}

static void convertPairToBF16(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  setPairPoison(warp, i, 2);
  auto half = [](uint32_t bits) {
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? uint32_t(kNaN16) : rounded;
  };
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return half(a[lane]) << 16 | half(b[lane]);
  });
}

template <bool E5M2>
static void convertPairToBytes(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<float>(i.a), *b = warp.read<float>(i.b);
  setPairPoison(warp, i, 1);
  forLanes<uint16_t>(warp, i.d, [=](uint32_t lane) -> uint16_t {
    auto byte = [&](float value) -> uint32_t {
      return Byte<E5M2>::write((i.size & kRelu) && value <= 0 ? 0 : value);
    };
    return uint16_t(byte(a[lane]) << 8 | byte(b[lane]));
  });
}

template <bool E5M2>
static void halvesToBytes(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a);
  forLanes<uint16_t>(warp, i.d, [=](uint32_t lane) -> uint16_t {
    auto byte = [&](uint32_t half) -> uint32_t {
      float value = f16ToFloat(uint16_t(half));
      return Byte<E5M2>::write((i.size & kRelu) && value <= 0 ? 0 : value);
    };
    return uint16_t(byte(a[lane] >> 16) << 8 | byte(a[lane]));
  });
}

template <bool E5M2>
static void bytesToHalves(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint16_t>(i.a);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    auto half = [&](uint32_t byte) -> uint32_t {
      double value = Byte<E5M2>::number(uint8_t(byte));
      if (value != value)
        return kNaN16;
      return doubleToF16((i.size & kRelu) && value <= 0 ? 0 : value);
    };
    return half(a[lane] >> 8) << 16 | half(a[lane]);
  });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// d = c, a, b, where a and b are made of `size` bits each.
static void packIntegers(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<int32_t>(i.a), *b = warp.read<int32_t>(i.b);
  const auto *c = i.c.exists() ? warp.read<uint32_t>(i.c) : nullptr;
  uint32_t bits = i.size;
  int64_t least = i.immediate, most = least + (int64_t(1) << bits) - 1;
  auto mask = static_cast<uint32_t>((uint64_t(1) << bits) - 1);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    auto part = [&](int64_t value) {
      return uint32_t(std::min(std::max(value, least), most)) & mask;
    };
    uint32_t both = part(a[lane]) << bits | part(b[lane]);
    return c ? both | c[lane] << (2 * bits) : both;
  });
}

void mlir::moe::emulator::formats::decodePackedIntegers(
    DecodeContext &context) {
  Instruction &out = context.out();
  context.needOneOf({"sat"});
  std::string_view to =
      context.needOneOf({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  context.needOneOf({"s32"});
  out.size = to == "u16" || to == "s16" ? 16 : uint8_t(to[1] - '0');
  out.immediate = to[0] == 's' ? -(int64_t(1) << (out.size - 1)) : 0;
  context.d(0, 32);
  context.a(1, 32);
  context.b(2, 32);
  if (out.size < 16) {
    context.needOneOf({"b32"});
    context.c(3, 32);
  }
  context.needOperands(out.size < 16 ? 4 : 3);
  context.run(packIntegers);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void mlir::moe::emulator::formats::decodeConvertPair(DecodeContext &context,
                                                     Type to, Type from) {
  Instruction &out = context.out();
  bool bytes = to.kind == Type::E4M3 || to.kind == Type::E5M2;
  context.d(0, to.width());
  if (from.lanes == 2) {
    context.needOperands(2);
    context.a(1, from.width());
    if (bytes && from.kind == Type::Float && from.bits == 16)
      return context.run(to.kind == Type::E5M2 ? halvesToBytes<true>
                                               : halvesToBytes<false>);
    if (to.kind == Type::Float && from.kind == Type::E4M3)
      return context.run(bytesToHalves<false>);
    if (to.kind == Type::Float && from.kind == Type::E5M2)
      return context.run(bytesToHalves<true>);
    return;
  }
  if (!from.is(Type::Float, 32))
    return;
  context.needOperands(3);
  context.a(1, 32);
  context.b(2, 32);
  out.poison = Poison::Own;
  if (to.kind == Type::BFloat)
    context.run(out.option == kNearest && out.size == 0 ? convertPairToBF16
                                                        : convertPair<BHalf>);
  else if (to.kind == Type::Float)
    context.run(convertPair<Half>);
  else if (bytes)
    context.run(to.kind == Type::E5M2 ? convertPairToBytes<true>
                                      : convertPairToBytes<false>);
}
