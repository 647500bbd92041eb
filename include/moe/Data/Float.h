//===- Float.h - conversions between float formats -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions round to nearest, ties to even. A NaN stays a quiet NaN; what is
// too large becomes infinity. Sources wider than f32 round once: the double
// versions do not go through f32.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DATA_FLOAT_H
#define MOE_DATA_FLOAT_H

#include <cstdint>
#include <cstring>

namespace mlir::moe {

inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float bf16ToFloat(uint16_t bits) {
  return floatOfBits(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t floatToBF16(float value) {
  uint32_t bits = bitsOfFloat(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u); // quiet, never infinity
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float f16ToFloat(uint16_t bits);
uint16_t floatToF16(float value);

/// Rounds a double to f32 toward odd: the f32 result, rounded again to a
/// format with at most 22 bits of precision, is the double rounded once.
float doubleToFloatOdd(double value);

inline uint16_t doubleToBF16(double value) {
  return floatToBF16(doubleToFloatOdd(value));
}
inline uint16_t doubleToF16(double value) {
  return floatToF16(doubleToFloatOdd(value));
}

/// The two formats of 8 bits: E4M3FN has no infinity, and what is too large
/// becomes its NaN.
double f8E4M3FNToDouble(uint8_t bits);
double f8E5M2ToDouble(uint8_t bits);
uint8_t doubleToF8E4M3FN(double value);
uint8_t doubleToF8E5M2(double value);

} // namespace mlir::moe

#endif // MOE_DATA_FLOAT_H
