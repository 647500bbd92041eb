//===- Convert.cpp - cvt between numbers -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Numbers.h"

#include <algorithm>
#include <cfenv>
#include <type_traits>

using namespace mlir::moe;
using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

namespace {
enum Rounding : uint8_t { kNearest, kToZero, kDown, kUp, kNearestAway };

/// Bits of Instruction::size.
enum Modifier : uint8_t {
  kSaturate = 1,
  kRelu = 2,
  kSatFinite = 4,
  kFlush = 8,
  /// .rni and the like between floats: the result is a whole number.
  kToInteger = 16,
};
} // namespace

static double roundToInteger(double value, uint8_t rounding) {
  switch (rounding) {
  case kToZero:
    return std::trunc(value);
  case kDown:
    return std::floor(value);
  case kUp:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

/// Moves the nearest value of a format, given as its bits with the sign on top,
/// to the one that the rounding asks for.
template <typename Format>
static typename Format::T adjust(typename Format::T bits, double exact,
                                 uint8_t rounding) {
  double rounded = Format::number(bits);
  bool negative = std::signbit(exact);
  bool tooFar = negative ? rounded < exact : rounded > exact;
  bool tooNear = negative ? rounded > exact : rounded < exact;
  bool outward = rounding == (negative ? kDown : kUp);
  bool inward = rounding == kToZero || rounding == (negative ? kUp : kDown);
  if (tooFar && inward)
    return bits - 1;
  if (tooNear && outward)
    return bits + 1;
  return bits;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {
template <typename Integer>
struct Whole {
  using T = Integer;
  static Integer number(T bits) { return bits; }

  /// From a float. NaN is 0 but where 64 bits become 64 bits.
  static T from(double value, uint8_t rounding, uint8_t, bool wide) {
    using Limits = std::numeric_limits<T>;
    if (value != value)
      return wide ? T(uint64_t(1) << 63) : T(0);
    value = roundToInteger(value, rounding);
    // 2^63 and 2^64 are floats, the largest integers are not.
    double end = std::ldexp(1.0, Limits::digits);
    if (value >= end)
      return Limits::max();
    return value < double(Limits::min()) ? Limits::min() : T(value);
  }
  template <typename From>
  static std::enable_if_t<std::is_integral_v<From>, T>
  from(From value, uint8_t, uint8_t modifiers, bool) {
    if (!(modifiers & kSaturate))
      return T(value);
    using Limits = std::numeric_limits<T>;
    auto wide = static_cast<__int128>(value);
    return T(std::min<__int128>(std::max<__int128>(wide, Limits::min()),
                                Limits::max()));
  }
};

/// What the float formats have in common: integers become f64 first, which is
/// exact but for 64 bits.
template <typename Format, typename Bits>
struct FloatFormat {
  using T = Bits;

  template <typename From>
  static T from(From value, uint8_t rounding, uint8_t modifiers, bool) {
    if constexpr (std::is_integral_v<From>)
      return Format::fromInteger(value, rounding);
    double number = value;
    if (number != number)
      return modifiers & kSaturate ? Format::write(0.0) : Format::kNaN;
    if (modifiers & kToInteger)
      number = std::copysign(roundToInteger(number, rounding), number);
    if (modifiers & kSaturate)
      number = number > 0 ? std::min(number, 1.0) : 0.0;
    if ((modifiers & kRelu) && number <= 0)
      number = 0;
    T bits = Format::write(number);
    if (rounding != kNearest && !(modifiers & kToInteger) &&
        std::isfinite(number))
      bits = adjust<Format>(bits, number, rounding);
    return bits;
  }
  template <typename From>
  static T fromInteger(From value, uint8_t rounding) {
    T bits = Format::write(static_cast<double>(value));
    return rounding == kNearest
               ? bits
               : adjust<Format>(bits, static_cast<double>(value), rounding);
  }
};

struct Single : FloatFormat<Single, uint32_t> {
  static constexpr uint32_t kNaN = kNaN32;
  static float number(T bits) { return floatOfBits(bits); }
  static T write(double value) { return bitsOfFloat(float(value)); }
  // Once: by way of f64 there would be two roundings.
  template <typename From>
  static T fromInteger(From value, uint8_t rounding) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                     FE_UPWARD};
    if (rounding == kNearest)
      return bitsOfFloat(static_cast<float>(value));
    std::fesetround(kModes[rounding & 3]);
    volatile From source = value;
    volatile float result = static_cast<float>(source);
    std::fesetround(FE_TONEAREST);
    return bitsOfFloat(result);
  }
};
struct Double : FloatFormat<Double, uint64_t> {
  static constexpr uint64_t kNaN = 0x7fffffffffffffffu;
  static double number(T bits) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static T write(double value) {
    T bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
};
struct Half : FloatFormat<Half, uint16_t> {
  static constexpr uint16_t kNaN = kNaN16;
  static float number(T bits) { return f16ToFloat(bits); }
  static T write(double value) { return doubleToF16(value); }
};
struct BHalf : FloatFormat<BHalf, uint16_t> {
  static constexpr uint16_t kNaN = kNaN16;
  static float number(T bits) { return bf16ToFloat(bits); }
  static T write(double value) { return doubleToBF16(value); }
};
/// f32 with 10 bits of mantissa.
struct TF32 : FloatFormat<TF32, uint32_t> {
  static constexpr uint32_t kNaN = kNaN32;
  static float number(T bits) { return floatOfBits(bits); }
  static T write(double value) {
    uint32_t bits = bitsOfFloat(float(value));
    return (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
  }
  template <typename From>
  static T from(From value, uint8_t rounding, uint8_t modifiers, bool) {
    auto number = static_cast<float>(value);
    if (number != number)
      return kNaN;
    if ((modifiers & kRelu) && number <= 0)
      return 0;
    uint32_t bits = bitsOfFloat(number);
    if (std::isinf(number))
      return bits;
    if (rounding == kToZero)
      return bits & ~0x1fffu;
    if (rounding == kNearestAway)
      return (bits + 0x1000u) & ~0x1fffu;
    return write(number);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// One value
//===----------------------------------------------------------------------===//

/// The low bits of a register that is as wide as T or wider.
template <typename T>
static void readLanes(const Warp &warp, Operand operand, uint32_t width,
                      T out[kLanes]) {
  auto copy = [&](const auto *from) {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      out[lane] = T(from[lane]);
  };
  if (width == sizeof(T))
    std::memcpy(out, warp.read<T>(operand), sizeof(T) * kLanes);
  else if (width == 2)
    copy(warp.read<uint16_t>(operand));
  else if (width == 4)
    copy(warp.read<uint32_t>(operand));
  else
    copy(warp.read<uint64_t>(operand));
}

template <typename T>
static void writeLanes(Warp &warp, Operand operand, uint32_t width,
                       const T values[kLanes]) {
  auto value = [&](uint32_t lane) { return values[lane]; };
  if (width == sizeof(T))
    forLanes<T>(warp, operand, value);
  else if (width == 2)
    forLanes<uint16_t>(warp, operand, value);
  else if (width == 4)
    forLanes<uint32_t>(warp, operand, value);
  else
    forLanes<uint64_t>(warp, operand, value);
}

template <typename To, typename From>
static void convert(Warp &warp, const Instruction &i) {
  constexpr bool kWide =
      std::is_same_v<From, Double> && sizeof(typename To::T) == 8;
  typename From::T in[kLanes];
  typename To::T out[kLanes];
  readLanes(warp, i.a, i.widths[2], in);
  if (i.option == kNearest && i.size == 0) {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      out[lane] = To::from(From::number(in[lane]), kNearest, 0, kWide);
  } else {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      out[lane] = To::from(From::number(in[lane]), i.option, i.size, kWide);
  }
  writeLanes(warp, i.d, i.widths[0], out);
}

// What layers convert all the time, in loops that are vectorised.

static void widenBF16(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint16_t>(i.a);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    uint32_t bits = uint32_t(a[lane]) << 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? kNaN32 : bits;
  });
}

static void narrowToBF16(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a);
  forLanes<uint16_t>(warp, i.d, [=](uint32_t lane) -> uint16_t {
    uint32_t bits = a[lane];
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? kNaN16 : uint16_t(rounded);
  });
}

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
  return Format::from(value, i.option, i.size & ~kSatFinite, false);
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
// Decoding
//===----------------------------------------------------------------------===//

template <typename Function>
static Handler forFormat(Type type, Function f) {
  if (type.lanes != 1)
    return nullptr;
  if (type.is(Type::Float, 16))
    return f(Tag<Half>());
  if (type.is(Type::Float, 32))
    return f(Tag<Single>());
  if (type.is(Type::Float, 64))
    return f(Tag<Double>());
  if (type.is(Type::BFloat, 16))
    return f(Tag<BHalf>());
  if (type.bits == 8 && type.isInteger())
    return type.isSigned() ? f(Tag<Whole<int8_t>>()) : f(Tag<Whole<uint8_t>>());
  return forInteger(type, [&](auto tag) {
    return f(Tag<Whole<typename decltype(tag)::type>>());
  });
}

static Handler conversion(Type to, Type from) {
  if (to.kind == Type::TF32)
    return from.is(Type::Float, 32) ? convert<TF32, Single> : Handler(nullptr);
  return forFormat(to, [&](auto toTag) {
    return forFormat(from, [](auto fromTag) -> Handler {
      return convert<typename decltype(toTag)::type,
                     typename decltype(fromTag)::type>;
    });
  });
}

static void decodePair(DecodeContext &context, Type to, Type from) {
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

static void decodeConvert(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::Convert;
  std::string_view mode = context.takeOneOf(
      {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  out.option = mode == "rz" || mode == "rzi"   ? kToZero
               : mode == "rm" || mode == "rmi" ? kDown
               : mode == "rp" || mode == "rpi" ? kUp
               : mode == "rna"                 ? kNearestAway
                                               : kNearest;
  bool flush = context.take("ftz");
  if (context.take("sat"))
    out.size |= kSaturate;
  if (context.take("relu"))
    out.size |= kRelu;
  if (context.take("satfinite"))
    out.size |= kSatFinite;
  Type to = context.takeType(), from = context.takeType();
  if (to.lanes == 2)
    return decodePair(context, to, from);
  if (!mode.empty() && mode.back() == 'i' && to.isFloat())
    out.size |= kToInteger;
  if (flush)
    context.fail("flushing of subnormals is not supported here");
  context.needOperands(2);
  context.d(0, to.width(),
            to.isFloat() ? DecodeContext::Exact : DecodeContext::OrWider);
  context.a(1, from.width(),
            from.isFloat() ? DecodeContext::Exact : DecodeContext::OrWider);
  bool plain = out.option == kNearest && out.size == 0;
  if (plain && to.is(Type::Float, 32) && from.is(Type::BFloat, 16))
    return context.run(widenBF16);
  if (plain && to.is(Type::BFloat, 16) && from.is(Type::Float, 32))
    return context.run(narrowToBF16);
  context.run(conversion(to, from));
}

void mlir::moe::emulator::addConvertInstructions(InstructionTable &table) {
  table.add("cvt", decodeConvert);
}
