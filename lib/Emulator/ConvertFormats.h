//===- ConvertFormats.h - what cvt reads and writes -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each format reads its bits as a number, and makes bits of a number that is
// rounded, saturated and so on as an instruction says.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_CONVERTFORMATS_H
#define MOE_LIB_EMULATOR_CONVERTFORMATS_H

#include "Lanes.h"
#include "Numbers.h"

#include <algorithm>
#include <cfenv>
#include <type_traits>

namespace mlir::moe::emulator::formats {

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

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

inline double roundToInteger(double value, uint8_t rounding) {
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
typename Format::T adjust(typename Format::T bits, double exact,
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

template <typename Integer>
struct Whole {
  using T = Integer;
  static Integer number(T bits) { return bits; }

  /// From a float. NaN is 0, and the highest bit alone where the conversion is
  /// `wide`: from f64, or to 64 bits.
  static T from(double value, uint8_t rounding, uint8_t, bool wide) {
    using Limits = std::numeric_limits<T>;
    if (value != value)
      return wide ? T(uint64_t(1) << (8 * sizeof(T) - 1)) : T(0);
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

/// A number of 64 bits as an f64 rounded to odd: rounded once more, to fewer
/// bits and in any direction, it is the number rounded once.
template <typename From>
double toOdd(From value) {
  bool negative = value < 0;
  uint64_t magnitude = negative ? 0 - uint64_t(value) : uint64_t(value);
  if (magnitude >> 53) {
    int shift = 11 - __builtin_clzll(magnitude);
    uint64_t lost = magnitude & ((uint64_t(1) << shift) - 1);
    magnitude = (magnitude >> shift | (lost != 0)) << shift;
  }
  return negative ? -double(magnitude) : double(magnitude);
}

/// An integer rounded by the processor, in any mode.
template <typename Number, typename From>
Number roundInteger(From value, uint8_t rounding) {
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                   FE_UPWARD};
  if (rounding == kNearest)
    return static_cast<Number>(value);
  std::fesetround(kModes[rounding & 3]);
  volatile From source = value;
  volatile Number result = static_cast<Number>(source);
  std::fesetround(FE_TONEAREST);
  return result;
}

/// What the float formats have in common. kLargest is the largest number, which
/// has the bits below those of infinity.
template <typename Format, typename Bits>
struct FloatFormat {
  using T = Bits;

  template <typename From>
  static T from(From value, uint8_t rounding, uint8_t modifiers, bool) {
    if constexpr (std::is_integral_v<From>) {
      if (modifiers & kSaturate)
        return Format::write(value > 0 ? 1.0 : 0.0);
      return Format::fromInteger(value, rounding);
    }
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
    return modifiers & kSatFinite ? makeFinite(bits) : bits;
  }
  template <typename From>
  static T fromInteger(From value, uint8_t rounding) {
    double number = toOdd(value);
    T bits = Format::write(number);
    return rounding == kNearest ? bits : adjust<Format>(bits, number, rounding);
  }
  /// The largest number instead of infinity.
  static T makeFinite(T bits) {
    constexpr T kSign = T(T(1) << (8 * sizeof(T) - 1));
    return (bits & ~kSign) == Format::kLargest + 1
               ? T((bits & kSign) | Format::kLargest)
               : bits;
  }
};

struct Single : FloatFormat<Single, uint32_t> {
  static constexpr uint32_t kLargest = 0x7f7fffff;
  static constexpr uint32_t kNaN = kNaN32;
  static float number(T bits) { return floatOfBits(bits); }
  static T write(double value) { return bitsOfFloat(float(value)); }
  // Once: by way of f64 there would be two roundings.
  template <typename From>
  static T fromInteger(From value, uint8_t rounding) {
    return bitsOfFloat(roundInteger<float>(value, rounding));
  }
};
struct Double : FloatFormat<Double, uint64_t> {
  static constexpr uint64_t kLargest = 0x7fefffffffffffffu;
  static constexpr uint64_t kNaN = 0x7fffffffffffffffu;
  static double number(T bits) { return doubleOfBits(bits); }
  static T write(double value) { return bitsOfDouble(value); }
  template <typename From>
  static T fromInteger(From value, uint8_t rounding) {
    return write(roundInteger<double>(value, rounding));
  }
};
struct Half : FloatFormat<Half, uint16_t> {
  static constexpr uint16_t kLargest = 0x7bff;
  static constexpr uint16_t kNaN = kNaN16;
  static float number(T bits) { return f16ToFloat(bits); }
  static T write(double value) { return doubleToF16(value); }
};
struct BHalf : FloatFormat<BHalf, uint16_t> {
  static constexpr uint16_t kLargest = 0x7f7f;
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
    uint32_t bits = bitsOfFloat(number);
    // .rna drops bits of a NaN: what is left may be infinity.
    if (rounding == kNearestAway && number != number)
      number = floatOfBits(bits &= ~0x1fffu);
    if (number != number)
      return kNaN;
    if ((modifiers & kRelu) && number <= 0)
      return 0;
    if (std::isfinite(number))
      bits = rounding == kToZero        ? bits & ~0x1fffu
             : rounding == kNearestAway ? (bits + 0x1000u) & ~0x1fffu
                                        : write(number);
    if ((modifiers & kSatFinite) && (bits & 0x7fffffff) == 0x7f800000)
      return (bits & 0x80000000) | 0x7f7fe000;
    return bits;
  }
};

/// cvt to two values in one register, in ConvertPairs.cpp; the modifiers are in
/// the instruction's option and size.
void decodeConvertPair(DecodeContext &context, Type to, Type from);
/// cvt.pack, which was taken.
void decodePackedIntegers(DecodeContext &context);

} // namespace mlir::moe::emulator::formats

#endif // MOE_LIB_EMULATOR_CONVERTFORMATS_H
