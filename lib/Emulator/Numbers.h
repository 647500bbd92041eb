//===- Numbers.h - arithmetic of PTX on single values -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_NUMBERS_H
#define MOE_LIB_EMULATOR_NUMBERS_H

#include "moe/Data/Float.h"

#include <cmath>
#include <limits>

/// Code for the vector units of newer processors beside the ordinary code; the
/// loader chooses. Sanitizers do not get along with that.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MOE_VECTOR_CLONES                                                      \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MOE_VECTOR_CLONES
#endif

namespace mlir::moe::emulator {

/// The NaN that arithmetic on floats of 32 and 16 bits gives on a GPU.
constexpr uint32_t kNaN32 = 0x7fffffffu;
constexpr uint16_t kNaN16 = 0x7fffu;
/// The NaN that tensor copies put outside of the tensor.
constexpr uint16_t kOutside16 = 0x7ff7u;

inline double doubleOfBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint64_t bitsOfDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float flushToZero(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, value)
             : value;
}

/// A sum rounded to odd: rounded once more, to at most 51 bits, it is the exact
/// sum rounded once.
inline double addToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  double rest = sum - a;
  double error = (a - (sum - rest)) + (b - rest);
  if (error == 0)
    return sum;
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  if (bits & 1)
    return sum;
  return std::nextafter(sum, error > 0
                                 ? std::numeric_limits<double>::infinity()
                                 : -std::numeric_limits<double>::infinity());
}

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_NUMBERS_H
