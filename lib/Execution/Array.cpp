//===- Array.cpp - dense host arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Array.h"
#include "moe/Data/Float.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <new>
#include <unistd.h>

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

std::optional<ElementKind> moe::elementKind(Type type) {
  if (type.isF64())
    return ElementKind::F64;
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (isa<Float8E4M3FNType>(type))
    return ElementKind::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return ElementKind::F8E5M2;
  if (type.isIndex() || type.isInteger(64))
    return ElementKind::I64;
  if (type.isInteger(32))
    return ElementKind::I32;
  if (type.isInteger(16))
    return ElementKind::I16;
  if (type.isInteger(8))
    return ElementKind::I8;
  if (type.isInteger(1))
    return ElementKind::I1;
  return std::nullopt;
}

std::string moe::describe(ElementKind kind, ArrayRef<int64_t> shape) {
  return describeArray(kind, {shape.data(), shape.size()});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

constexpr std::align_val_t kAlignment{64};

/// Bytes of physical memory, the bound of any array.
static int64_t memoryBytes() {
  static const int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                               static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  return bytes > 0 ? bytes : std::numeric_limits<int64_t>::max();
}

void Array::release() {
  if (buffer)
    ::operator delete(buffer, kAlignment);
  buffer = nullptr;
}

Array &Array::operator=(Array &&other) noexcept {
  if (this == &other)
    return *this;
  release();
  elements = other.elements;
  extents = other.extents;
  buffer = other.buffer;
  other.buffer = nullptr;
  other.elements = ElementKind::F32;
  other.extents = {0};
  return *this;
}

int64_t Array::size() const { return shapeView().size(); }

llvm::Expected<Array> Array::create(ElementKind kind, ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    return llvm::createStringError("an array of " + describe(kind, shape) +
                                   " has a negative extent");
  int64_t bytes;
  if (!bytesOfArray(kind, {shape.data(), shape.size()}, bytes) ||
      bytes > memoryBytes())
    return llvm::createStringError("an array of " + describe(kind, shape) +
                                   " does not fit the memory of this machine");
  Array array;
  array.elements = kind;
  array.extents.assign(shape.begin(), shape.end());
  array.buffer = ::operator new(std::max<size_t>(array.bytes(), 1), kAlignment,
                                std::nothrow);
  if (!array.buffer) {
    array.extents = {0};
    return llvm::createStringError("there is no memory for an array of " +
                                   describe(kind, shape));
  }
  return array;
}

llvm::Expected<Array> Array::createUnwritten(ElementKind kind,
                                             ArrayRef<int64_t> shape) {
  llvm::Expected<Array> array = create(kind, shape);
  if (array)
    array->fillUnwritten();
  return array;
}

llvm::Expected<Array> Array::clone() const {
  llvm::Expected<Array> copy = create(elements, extents);
  if (copy && bytes() > 0)
    std::memcpy(copy->buffer, buffer, bytes());
  return copy;
}

void Array::reshape(ArrayRef<int64_t> shape) {
  extents.assign(shape.begin(), shape.end());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void moe::loadAsFloat(ElementKind kind, const void *source, int64_t elements,
                      float *target) {
  switch (kind) {
  case ElementKind::F32:
    if (elements > 0)
      std::memcpy(target, source, elements * sizeof(float));
    return;
  case ElementKind::F64:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<float>(static_cast<const double *>(source)[i]);
    return;
  case ElementKind::BF16:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = bf16ToFloat(static_cast<const uint16_t *>(source)[i]);
    return;
  case ElementKind::F16:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = f16ToFloat(static_cast<const uint16_t *>(source)[i]);
    return;
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<float>(loadFloat(kind, source, i));
    return;
  case ElementKind::I64:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<float>(static_cast<const int64_t *>(source)[i]);
    return;
  case ElementKind::I32:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<float>(static_cast<const int32_t *>(source)[i]);
    return;
  case ElementKind::I16:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<const int16_t *>(source)[i];
    return;
  case ElementKind::I8:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<const int8_t *>(source)[i];
    return;
  case ElementKind::I1:
    for (int64_t i = 0; i < elements; ++i)
      target[i] = static_cast<const uint8_t *>(source)[i];
    return;
  }
}

llvm::Expected<Array> Array::convert(ElementKind kind) const {
  if (kind == elements)
    return clone();
  llvm::Expected<Array> result = create(kind, extents);
  if (!result)
    return result;
  if (kind == ElementKind::F32 && isFloat(elements)) {
    loadAsFloat(elements, buffer, size(), result->as<float>().data());
    return result;
  }
  for (int64_t i = 0, e = size(); i < e; ++i) {
    if (isFloat(kind)) {
      result->setFloat(i, floatAt(i));
      continue;
    }
    int64_t value = intAt(i);
    result->setInt(i, value);
    if (isFloat(elements) || result->intAt(i) != value)
      return llvm::createStringError(
          "element " + llvm::Twine(i) + " of an array of " + describe(*this) +
          " is not representable in " + elementName(kind));
  }
  return result;
}
