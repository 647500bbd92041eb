//===- MatrixKernels.h - matrices for tests of matrix products -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TEST_UNIT_EMULATOR_MATRIXKERNELS_H
#define MOE_TEST_UNIT_EMULATOR_MATRIXKERNELS_H

#include "KernelRunner.h"

#include "moe/Data/Float.h"

#include <cstring>
#include <random>

namespace mlir::moe::emulator {

/// An element type of tensor cores, and what of it a test needs.
struct ElementKind {
  const char *name;
  uint32_t bits;
  /// Mantissa and bias of small floats; 0 for others.
  uint32_t mantissa = 0, bias = 0;

  bool isInteger() const { return name[1] == '8'; }
};
constexpr ElementKind kF16{"f16", 16}, kBF16{"bf16", 16}, kTF32{"tf32", 32},
    kE4M3{"e4m3", 8, 3, 7}, kE5M2{"e5m2", 8, 2, 15}, kS8{"s8", 8}, kU8{"u8", 8};

/// Bits of a small integer; every type holds those from -4 to 4, u8 from 0 on.
inline uint32_t encode(const ElementKind &kind, int value) {
  uint32_t magnitude = static_cast<uint32_t>(value < 0 ? -value : value);
  if (kind.isInteger())
    return static_cast<uint8_t>(value);
  if (kind.mantissa != 0) {
    if (value == 0)
      return 0;
    uint32_t power = 31u - static_cast<uint32_t>(__builtin_clz(magnitude));
    uint32_t fraction =
        (magnitude << kind.mantissa >> power) & ((1u << kind.mantissa) - 1);
    return (value < 0 ? 128u : 0) | (power + kind.bias) << kind.mantissa |
           fraction;
  }
  auto single = static_cast<float>(value);
  if (kind.bits == 32)
    return bitsOfFloat(single);
  return kind.name[0] == 'b' ? floatToBF16(single) : floatToF16(single);
}

/// Rows of random small integers.
struct TestMatrix {
  uint32_t rows, columns;
  std::vector<int> values;

  TestMatrix(uint32_t rows, uint32_t columns, const ElementKind &kind,
             uint32_t seed)
      : rows(rows), columns(columns), values(size_t(rows) * columns) {
    std::mt19937 random(seed);
    int low = kind.name[0] == 'u' ? 0 : -4;
    for (int &value : values)
      value = std::uniform_int_distribution<int>(low, 4)(random);
  }
  int operator()(uint32_t row, uint32_t column) const {
    return values[size_t(row) * columns + column];
  }
};

/// Row m of a times row n of b.
inline int dot(const TestMatrix &a, const TestMatrix &b, uint32_t m,
               uint32_t n) {
  int sum = 0;
  for (uint32_t k = 0; k < a.columns; ++k)
    sum += a(m, k) * b(n, k);
  return sum;
}

/// "{%x4, %x5, ...}"
inline std::string registerList(const char *prefix, uint32_t count) {
  std::string text = "{";
  for (uint32_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

/// The number that a register, or half of one, holds; `sum` is "f32", "f16" or
/// "s32".
inline double sumAt(const std::string &sum, const uint32_t *words,
                    uint32_t index) {
  if (sum == "s32")
    return static_cast<int32_t>(words[index]);
  if (sum == "f32")
    return floatOfBits(words[index]);
  return f16ToFloat(
      static_cast<uint16_t>(words[index / 2] >> (16 * (index % 2))));
}

} // namespace mlir::moe::emulator

#endif // MOE_TEST_UNIT_EMULATOR_MATRIXKERNELS_H
