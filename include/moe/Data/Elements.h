//===- Elements.h - arrays in memory that somebody else owns -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lib/Execution and moe-exec share about the elements of arrays. Nothing
// in this folder needs LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DATA_ELEMENTS_H
#define MOE_DATA_ELEMENTS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mlir::moe {

/// What the elements of an array are. `I1` takes a byte of value 0 or 1 and
/// `I64` stands for the type `index` too.
enum class ElementKind : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  I64,
  I32,
  I16,
  I8,
  I1
};

/// Bytes of one element.
int64_t elementBytes(ElementKind kind);
bool isFloat(ElementKind kind);
/// The name of the kind as MLIR writes it, such as "bf16".
std::string_view elementKindName(ElementKind kind);

/// The extents of an array, owned by somebody else.
struct ShapeView {
  const int64_t *extents = nullptr;
  size_t rank = 0;

  int64_t operator[](size_t i) const { return extents[i]; }
  /// Number of elements.
  int64_t size() const;
};

/// The bytes of a dense array. False where an extent is negative or they do
/// not fit 63 bits, whatever zeros are among the extents.
bool bytesOfArray(ElementKind kind, ShapeView shape, int64_t &bytes);

/// "4x8xbf16", for messages.
std::string describeArray(ElementKind kind, ShapeView shape);

/// Element `index` of the array at `data`; integers and floats alike.
double loadFloat(ElementKind kind, const void *data, int64_t index);
int64_t loadInt(ElementKind kind, const void *data, int64_t index);
/// Stores `value`, rounded to nearest even where it is not representable.
void storeFloat(ElementKind kind, void *data, int64_t index, double value);
/// Stores the low bits of `value`.
void storeInt(ElementKind kind, void *data, int64_t index, int64_t value);

/// Fills an array with what marks an element that nobody wrote: NaN, or -1
/// where the elements are integers (i1: true).
void fillUnwritten(ElementKind kind, void *data, int64_t elements);

} // namespace mlir::moe

#endif // MOE_DATA_ELEMENTS_H
