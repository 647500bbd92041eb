//===- MatrixMath.h - products of small matrices -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Element types of tensor cores become f32, which holds every one of them and
// every product of two exactly. Sums are in f32, one product after the other in
// ascending order of k, onto the accumulator; sums of type f16 are rounded at
// the end. Tensor cores align several products to the largest of them and cut
// bits off, so that the last bits differ. With S = K max|a| max|b| + max|c|,
// what an H200 answers (test/Emulator/vectors) is within 2^-21 S for sums in
// f32, 2^-9 S for f16, and 2^-12 S for f32 sums of e4m3 and e5m2, which keep
// fewer bits there. Sums that need no rounding are equal.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_MATRIXMATH_H
#define MOE_LIB_EMULATOR_MATRIXMATH_H

#include "Decode.h"

#include <cstdint>

namespace mlir::moe::emulator {

enum class Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8 };

uint32_t bitsOf(Element element);
/// Takes the type of a matrix operand; stops decoding at one that is unknown.
Element takeElement(DecodeContext &context);

/// Elements next to each other to f32.
void expandElements(Element element, const void *source, float *to,
                    uint32_t count);

/// d[m][n] += sum over k of a[m][k] * b[k][n]. Distances between rows are in
/// elements.
void multiplyAdd(float *d, uint32_t dStride, const float *a, uint32_t aStride,
                 const float *b, uint32_t bStride, uint32_t rows,
                 uint32_t columns, uint32_t depth);

/// The same for integers, whose sums wrap around or saturate at the end.
void multiplyAddIntegers(int32_t *d, uint32_t dStride, const float *a,
                         uint32_t aStride, const float *b, uint32_t bStride,
                         uint32_t rows, uint32_t columns, uint32_t depth,
                         bool saturate);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MATRIXMATH_H
