//===- FloatOperations.h - float arithmetic on single values -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_FLOATOPERATIONS_H
#define MOE_LIB_EMULATOR_FLOATOPERATIONS_H

#include "Numbers.h"

#include <algorithm>

namespace mlir::moe::emulator::floats {

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

struct F32 {
  using Bits = uint32_t;
  using Number = float;
  static float read(uint32_t bits) { return floatOfBits(bits); }
  static uint32_t write(float value) {
    return value != value ? kNaN32 : bitsOfFloat(value);
  }
};
struct F32Flushed {
  using Bits = uint32_t;
  using Number = float;
  static float read(uint32_t bits) { return flushToZero(floatOfBits(bits)); }
  static uint32_t write(float value) { return F32::write(flushToZero(value)); }
};
struct F64 {
  using Bits = uint64_t;
  using Number = double;
  static double read(uint64_t bits) { return doubleOfBits(bits); }
  static uint64_t write(double value) { return bitsOfDouble(value); }
};
/// The approximations of f64 with .ftz see and give the upper half of the bits.
struct F64Upper {
  using Bits = uint64_t;
  using Number = double;
  static constexpr uint64_t kUpper = ~uint64_t(0xffffffff);
  static double flush(double value) {
    return std::fabs(value) < std::numeric_limits<double>::min()
               ? std::copysign(0.0, value)
               : value;
  }
  static double read(uint64_t bits) { return flush(F64::read(bits & kUpper)); }
  static uint64_t write(double value) {
    return F64::write(flush(value)) & kUpper;
  }
};
struct F16 {
  using Bits = uint16_t;
  using Number = float;
  static float read(uint16_t bits) { return f16ToFloat(bits); }
  static uint16_t write(float value) {
    return value != value ? kNaN16 : floatToF16(value);
  }
  static uint16_t writeDouble(double value) {
    return value != value ? kNaN16 : doubleToF16(value);
  }
};
struct F16Flushed {
  using Bits = uint16_t;
  using Number = float;
  /// A result is a denormal if it were one, rounded to 11 bits, in a format
  /// with smaller exponents.
  template <typename T>
  static T flush(T value) {
    return std::fabs(value) < T(0x1.fffp-15) ? std::copysign(T(0), value)
                                             : value;
  }
  static float read(uint16_t bits) { return flush(f16ToFloat(bits)); }
  static uint16_t write(float value) { return F16::write(flush(value)); }
  static uint16_t writeDouble(double value) {
    return F16::writeDouble(flush(value));
  }
};
struct BF16 {
  using Bits = uint16_t;
  using Number = float;
  static float read(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t write(float value) {
    return value != value ? kNaN16 : floatToBF16(value);
  }
  static uint16_t writeDouble(double value) {
    return value != value ? kNaN16 : doubleToBF16(value);
  }
};
/// Two values of 16 bits in one register, each on its own.
template <typename Half>
struct Pair {
  using Bits = uint32_t;
  using Element = Half;
};

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

struct Add {
  template <typename T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <typename T>
  static T of(T a, T b) {
    return a / b;
  }
};
/// The number where the other operand is NaN; -0 is below +0.
struct Minimum {
  template <typename T>
  static T of(T a, T b) {
    if (a != a || b != b)
      return a != a ? b : a;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  static T of(T a, T b) {
    if (a != a || b != b)
      return a != a ? b : a;
    if (a == b)
      return std::signbit(a) ? b : a;
    return a < b ? b : a;
  }
};
template <typename Choice>
struct PropagateNaN {
  template <typename T>
  static T of(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN()
                            : Choice::of(a, b);
  }
};
/// .xorsign.abs: the choice among magnitudes, with the product of the signs.
template <typename Choice>
struct XorSign {
  template <typename T>
  static T of(T a, T b) {
    T value = Choice::of(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -value : value;
  }
};
struct SquareRoot {
  template <typename T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <typename T>
  static T of(T a) {
    return T(1) / a;
  }
};
struct ReciprocalRoot {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Exponential2 {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
  }
};
struct Logarithm2 {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(std::log2(static_cast<double>(a)));
  }
};
struct Sine {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(std::sin(static_cast<double>(a)));
  }
};
struct Cosine {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(std::cos(static_cast<double>(a)));
  }
};
struct HyperbolicTangent {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};

/// What a result becomes: .sat to [0, 1] with NaN to 0, .relu to 0 and above.
enum After : uint8_t { kNothing, kSaturate, kRelu };

template <typename T>
T finishValue(T value, uint8_t after) {
  if (after == kSaturate)
    return value > T(0) ? std::min(value, T(1)) : T(0);
  if (after == kRelu && value <= T(0))
    return T(0);
  return value;
}

} // namespace mlir::moe::emulator::floats

#endif // MOE_LIB_EMULATOR_FLOATOPERATIONS_H
