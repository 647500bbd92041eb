//===- MatrixMath.cpp - products of small matrices -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixMath.h"

#include "Numbers.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace mlir::moe;
using namespace mlir::moe::emulator;

uint32_t mlir::moe::emulator::bitsOf(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::TF32:
    return 32;
  default:
    return 8;
  }
}

Element mlir::moe::emulator::takeElement(DecodeContext &context) {
  struct Row {
    std::string_view name;
    Element element;
  };
  static constexpr Row kRows[] = {
      {"f16", Element::F16},   {"bf16", Element::BF16}, {"tf32", Element::TF32},
      {"e4m3", Element::E4M3}, {"e5m2", Element::E5M2}, {"s8", Element::S8},
      {"u8", Element::U8}};
  std::string_view name =
      context.needOneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"});
  for (const Row &row : kRows)
    if (row.name == name)
      return row.element;
  return Element::F16; // needOneOf gives one of the rows
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

MOE_VECTOR_CLONES
static void expandBF16(const uint16_t *source, float *to, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t bits = uint32_t(source[i]) << 16;
    std::memcpy(to + i, &bits, sizeof(bits));
  }
}

MOE_VECTOR_CLONES
static void expandF16(const uint16_t *source, float *to, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    // The exponent gets the bias of f32 by a product, which also makes
    // subnormal halves normal.
    uint32_t half = source[i], magnitude = (half & 0x7fffu) << 13;
    float scaled;
    std::memcpy(&scaled, &magnitude, sizeof(scaled));
    scaled *= 0x1p112f;
    uint32_t bits;
    std::memcpy(&bits, &scaled, sizeof(bits));
    if ((half & 0x7c00u) == 0x7c00u) // infinity and NaN
      bits = 0x7f800000u | (half & 0x3ffu) << 13;
    bits |= (half & 0x8000u) << 16;
    std::memcpy(to + i, &bits, sizeof(bits));
  }
}

static std::array<float, 256> tableOf(double (*convert)(uint8_t)) {
  std::array<float, 256> table;
  for (uint32_t i = 0; i < 256; ++i)
    table[i] = static_cast<float>(convert(static_cast<uint8_t>(i)));
  return table;
}

static void expandBytes(const std::array<float, 256> &table,
                        const uint8_t *source, float *to, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    to[i] = table[source[i]];
}

void mlir::moe::emulator::expandElements(Element element, const void *source,
                                         float *to, uint32_t count) {
  static const std::array<float, 256> e4m3 = tableOf(f8E4M3FNToDouble);
  static const std::array<float, 256> e5m2 = tableOf(f8E5M2ToDouble);
  const auto *bytes = static_cast<const uint8_t *>(source);
  switch (element) {
  case Element::F16:
    return expandF16(static_cast<const uint16_t *>(source), to, count);
  case Element::BF16:
    return expandBF16(static_cast<const uint16_t *>(source), to, count);
  case Element::TF32:
    // The lowest 13 bits of the register are not looked at.
    for (uint32_t i = 0; i < count; ++i)
      to[i] = floatOfBits(static_cast<const uint32_t *>(source)[i] & ~0x1fffu);
    return;
  case Element::E4M3:
    return expandBytes(e4m3, bytes, to, count);
  case Element::E5M2:
    return expandBytes(e5m2, bytes, to, count);
  case Element::S8:
    for (uint32_t i = 0; i < count; ++i)
      to[i] = static_cast<int8_t>(bytes[i]);
    return;
  case Element::U8:
    for (uint32_t i = 0; i < count; ++i)
      to[i] = bytes[i];
    return;
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

MOE_VECTOR_CLONES
static void multiplyRow(float *d, const float *a, const float *b,
                        uint32_t bStride, uint32_t columns, uint32_t depth) {
  // 8 columns, the smallest width of an instruction, stay in a register.
  for (uint32_t n = 0; n < columns; n += 8) {
    float sum[8];
    for (uint32_t j = 0; j < 8; ++j)
      sum[j] = d[n + j];
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t j = 0; j < 8; ++j)
        sum[j] = __builtin_fmaf(a[k], b[k * bStride + n + j], sum[j]);
    for (uint32_t j = 0; j < 8; ++j)
      d[n + j] = sum[j];
  }
}

void mlir::moe::emulator::multiplyAdd(float *d, uint32_t dStride,
                                      const float *a, uint32_t aStride,
                                      const float *b, uint32_t bStride,
                                      uint32_t rows, uint32_t columns,
                                      uint32_t depth) {
  for (uint32_t m = 0; m < rows; ++m)
    multiplyRow(d + size_t(m) * dStride, a + size_t(m) * aStride, b, bStride,
                columns, depth);
}

void mlir::moe::emulator::multiplyAddIntegers(int32_t *d, uint32_t dStride,
                                              const float *a, uint32_t aStride,
                                              const float *b, uint32_t bStride,
                                              uint32_t rows, uint32_t columns,
                                              uint32_t depth, bool saturate) {
  for (uint32_t m = 0; m < rows; ++m)
    for (uint32_t n = 0; n < columns; ++n) {
      int64_t sum = d[m * dStride + n];
      for (uint32_t k = 0; k < depth; ++k)
        sum += int64_t(a[m * aStride + k]) * int64_t(b[k * bStride + n]);
      if (saturate)
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      d[m * dStride + n] = static_cast<int32_t>(sum);
    }
}
