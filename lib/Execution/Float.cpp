//===- Float.cpp - conversions between float formats -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Float.h"

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

} // namespace mlir::moe
