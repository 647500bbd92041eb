//===- Elements.cpp - arrays in memory that somebody else owns -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Data/Elements.h"

#include "moe/Data/Float.h"

#include <algorithm>
#include <limits>

namespace mlir::moe {

int64_t elementBytes(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
  case ElementKind::I64:
    return 8;
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::I16:
    return 2;
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
  case ElementKind::I8:
  case ElementKind::I1:
    return 1;
  }
  return 0;
}

bool isFloat(ElementKind kind) { return kind <= ElementKind::F8E5M2; }

std::string_view elementKindName(ElementKind kind) {
  constexpr std::string_view kNames[] = {"f64",      "f32",    "f16", "bf16",
                                         "f8E4M3FN", "f8E5M2", "i64", "i32",
                                         "i16",      "i8",     "i1"};
  return kNames[static_cast<size_t>(kind)];
}

int64_t ShapeView::size() const {
  int64_t size = 1;
  for (size_t i = 0; i < rank; ++i)
    size *= extents[i];
  return size;
}

bool bytesOfArray(ElementKind kind, ShapeView shape, int64_t &bytes) {
  bool fits = true, empty = false;
  bytes = elementBytes(kind);
  for (size_t i = 0; i < shape.rank; ++i) {
    // A zero extent must not hide the overflow of the others.
    int64_t extent = std::max<int64_t>(shape[i], 1);
    fits &= shape[i] >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes);
    empty |= shape[i] == 0;
  }
  if (empty)
    bytes = 0;
  return fits;
}

std::string describeArray(ElementKind kind, ShapeView shape) {
  std::string text;
  for (size_t i = 0; i < shape.rank; ++i)
    text += std::to_string(shape[i]) + "x";
  return text.append(elementKindName(kind));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T>
static T at(const void *data, int64_t index) {
  return static_cast<const T *>(data)[index];
}

template <typename T>
static void put(void *data, int64_t index, T value) {
  static_cast<T *>(data)[index] = value;
}

double loadFloat(ElementKind kind, const void *data, int64_t index) {
  switch (kind) {
  case ElementKind::F64:
    return at<double>(data, index);
  case ElementKind::F32:
    return at<float>(data, index);
  case ElementKind::F16:
    return f16ToFloat(at<uint16_t>(data, index));
  case ElementKind::BF16:
    return bf16ToFloat(at<uint16_t>(data, index));
  case ElementKind::F8E4M3FN:
    return f8E4M3FNToDouble(at<uint8_t>(data, index));
  case ElementKind::F8E5M2:
    return f8E5M2ToDouble(at<uint8_t>(data, index));
  default:
    return static_cast<double>(loadInt(kind, data, index));
  }
}

int64_t loadInt(ElementKind kind, const void *data, int64_t index) {
  switch (kind) {
  case ElementKind::I64:
    return at<int64_t>(data, index);
  case ElementKind::I32:
    return at<int32_t>(data, index);
  case ElementKind::I16:
    return at<int16_t>(data, index);
  case ElementKind::I8:
    return at<int8_t>(data, index);
  case ElementKind::I1:
    return at<uint8_t>(data, index) != 0;
  default:
    return static_cast<int64_t>(loadFloat(kind, data, index));
  }
}

void storeFloat(ElementKind kind, void *data, int64_t index, double value) {
  switch (kind) {
  case ElementKind::F64:
    return put(data, index, value);
  case ElementKind::F32:
    return put(data, index, static_cast<float>(value));
  case ElementKind::F16:
    return put(data, index, doubleToF16(value));
  case ElementKind::BF16:
    return put(data, index, doubleToBF16(value));
  case ElementKind::F8E4M3FN:
    return put(data, index, doubleToF8E4M3FN(value));
  case ElementKind::F8E5M2:
    return put(data, index, doubleToF8E5M2(value));
  default:
    storeInt(kind, data, index, static_cast<int64_t>(value));
  }
}

void storeInt(ElementKind kind, void *data, int64_t index, int64_t value) {
  switch (kind) {
  case ElementKind::I64:
    return put(data, index, value);
  case ElementKind::I32:
    return put(data, index, static_cast<int32_t>(value));
  case ElementKind::I16:
    return put(data, index, static_cast<int16_t>(value));
  case ElementKind::I8:
    return put(data, index, static_cast<int8_t>(value));
  case ElementKind::I1:
    return put(data, index, static_cast<uint8_t>(value & 1));
  default:
    storeFloat(kind, data, index, static_cast<double>(value));
  }
}

void fillUnwritten(ElementKind kind, void *data, int64_t elements) {
  if (elements <= 0)
    return;
  if (isFloat(kind))
    storeFloat(kind, data, 0, std::numeric_limits<double>::quiet_NaN());
  else
    storeInt(kind, data, 0, -1);
  // The first element tells the rest, copied in runs that double.
  auto *bytes = static_cast<char *>(data);
  int64_t done = elementBytes(kind), total = done * elements;
  while (done < total) {
    int64_t count = std::min(done, total - done);
    std::memcpy(bytes + done, bytes, static_cast<size_t>(count));
    done += count;
  }
}

} // namespace mlir::moe
