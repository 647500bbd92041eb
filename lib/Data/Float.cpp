//===- Float.cpp - conversions between float formats -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Data/Float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlir::moe {

float f16ToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t fraction = bits & 0x3ffu;
  if (exponent == 31)
    return floatOfBits(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0)
    return floatOfBits(sign | ((exponent + 112u) << 23) | (fraction << 13));
  // Subnormals and zeros: fraction * 2^-24 is exact in f32.
  float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return floatOfBits(sign | bitsOfFloat(magnitude));
}

uint16_t floatToF16(float value) {
  uint32_t bits = bitsOfFloat(value);
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return sign | 0x7e00u | static_cast<uint16_t>((magnitude >> 13) & 0x1ffu);
  // 65520 and more round to infinity.
  if (magnitude >= 0x477ff000u)
    return sign | 0x7c00u;
  if (magnitude >= 0x38800000u) {
    // Normal: shift the exponent's bias, round the 13 bits that go.
    uint32_t rounded =
        magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u);
    return sign | static_cast<uint16_t>(rounded >> 13);
  }
  // Subnormal: an integer multiple of 2^-24. Adding 0.5 puts the last bit of
  // an f32 at 2^-24, so that the addition itself rounds to nearest even.
  float shifted = floatOfBits(magnitude) + 0.5f;
  return sign | static_cast<uint16_t>(bitsOfFloat(shifted) - bitsOfFloat(0.5f));
}

float doubleToFloatOdd(double value) {
  auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value)
    return nearest;
  // Truncate towards zero, then set the last bit because the value is inexact.
  float truncated = nearest;
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
    truncated = std::nextafter(nearest, 0.0f);
  return floatOfBits(bitsOfFloat(truncated) | 1u);
}

//===----------------------------------------------------------------------===//
// 8 bits
//===----------------------------------------------------------------------===//

namespace {
/// A format of 8 bits: a sign, an exponent, `fractionBits` of fraction.
struct Format8 {
  int fractionBits;
  int bias;
  /// The first code of a magnitude that is no number.
  unsigned firstSpecial;
  bool hasInfinity;
};
} // namespace

static constexpr Format8 kE4M3FN = {3, 7, 0x7f, false};
static constexpr Format8 kE5M2 = {2, 15, 0x7c, true};

static double decode(const Format8 &format, uint8_t bits) {
  unsigned magnitude = bits & 0x7fu;
  double value;
  if (magnitude >= format.firstSpecial) {
    bool infinite = format.hasInfinity && magnitude == format.firstSpecial;
    value = infinite ? std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  } else {
    int exponent = static_cast<int>(magnitude >> format.fractionBits);
    unsigned fraction = magnitude & ((1u << format.fractionBits) - 1);
    if (exponent == 0)
      exponent = 1; // subnormal: no leading one
    else
      fraction |= 1u << format.fractionBits;
    value = std::ldexp(fraction, exponent - format.bias - format.fractionBits);
  }
  return (bits & 0x80u) ? -value : value;
}

static uint8_t encode(const Format8 &format, double value) {
  auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
  unsigned special = format.firstSpecial;
  if (std::isnan(value)) // the quiet one
    return sign | (format.hasInfinity ? special | 2u : special);
  double magnitude = std::fabs(value);
  int smallest = 1 - format.bias;
  unsigned code = special;
  if (std::isfinite(magnitude)) {
    int exponent = magnitude == 0 ? smallest : std::ilogb(magnitude);
    exponent = std::max(exponent, smallest);
    // In units of the last place; rounding up may carry into the exponent,
    // which the sum below does by itself.
    double units =
        std::nearbyint(std::ldexp(magnitude, format.fractionBits - exponent));
    double scaled =
        units + std::ldexp(exponent - smallest, format.fractionBits);
    code = static_cast<unsigned>(std::min(scaled, double(special)));
  }
  return sign | static_cast<uint8_t>(std::min(code, special));
}

double f8E4M3FNToDouble(uint8_t bits) { return decode(kE4M3FN, bits); }
double f8E5M2ToDouble(uint8_t bits) { return decode(kE5M2, bits); }
uint8_t doubleToF8E4M3FN(double value) { return encode(kE4M3FN, value); }
uint8_t doubleToF8E5M2(double value) { return encode(kE5M2, value); }

} // namespace mlir::moe
