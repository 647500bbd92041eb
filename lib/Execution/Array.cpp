//===- Array.cpp - dense host arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Array.h"
#include "moe/Execution/Float.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>
#include <new>
#include <unistd.h>

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

int64_t moe::elementBytes(ElementKind kind) {
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
  llvm_unreachable("all kinds are listed");
}

bool moe::isFloat(ElementKind kind) { return kind <= ElementKind::F8E5M2; }

StringRef moe::elementName(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return "f64";
  case ElementKind::F32:
    return "f32";
  case ElementKind::F16:
    return "f16";
  case ElementKind::BF16:
    return "bf16";
  case ElementKind::F8E4M3FN:
    return "f8E4M3FN";
  case ElementKind::F8E5M2:
    return "f8E5M2";
  case ElementKind::I64:
    return "i64";
  case ElementKind::I32:
    return "i32";
  case ElementKind::I16:
    return "i16";
  case ElementKind::I8:
    return "i8";
  case ElementKind::I1:
    return "i1";
  }
  llvm_unreachable("all kinds are listed");
}

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
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : shape)
    os << extent << 'x';
  os << elementName(kind);
  return text;
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

int64_t Array::size() const {
  int64_t product = 1;
  for (int64_t extent : extents)
    product *= extent;
  return product;
}

llvm::Expected<Array> Array::create(ElementKind kind, ArrayRef<int64_t> shape) {
  int64_t bytes = elementBytes(kind);
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return llvm::createStringError("an array of " + describe(kind, shape) +
                                     " has a negative extent");
    // A zero extent must not hide the overflow of the others.
    overflow |= llvm::MulOverflow(bytes, std::max<int64_t>(extent, 1), bytes);
  }
  if (overflow || bytes > memoryBytes())
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

static const llvm::fltSemantics &fp8Semantics(ElementKind kind) {
  return kind == ElementKind::F8E4M3FN ? llvm::APFloat::Float8E4M3FN()
                                       : llvm::APFloat::Float8E5M2();
}

double Array::floatAt(int64_t index) const {
  switch (elements) {
  case ElementKind::F64:
    return as<double>()[index];
  case ElementKind::F32:
    return as<float>()[index];
  case ElementKind::F16:
    return f16ToFloat(as<uint16_t>()[index]);
  case ElementKind::BF16:
    return bf16ToFloat(as<uint16_t>()[index]);
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
    return llvm::APFloat(fp8Semantics(elements),
                         llvm::APInt(8, as<uint8_t>()[index]))
        .convertToDouble();
  default:
    return static_cast<double>(intAt(index));
  }
}

int64_t Array::intAt(int64_t index) const {
  switch (elements) {
  case ElementKind::I64:
    return as<int64_t>()[index];
  case ElementKind::I32:
    return as<int32_t>()[index];
  case ElementKind::I16:
    return as<int16_t>()[index];
  case ElementKind::I8:
    return as<int8_t>()[index];
  case ElementKind::I1:
    return as<uint8_t>()[index] != 0;
  default:
    return static_cast<int64_t>(floatAt(index));
  }
}

void Array::setFloat(int64_t index, double value) {
  switch (elements) {
  case ElementKind::F64:
    as<double>()[index] = value;
    return;
  case ElementKind::F32:
    as<float>()[index] = static_cast<float>(value);
    return;
  case ElementKind::F16:
    as<uint16_t>()[index] = doubleToF16(value);
    return;
  case ElementKind::BF16:
    as<uint16_t>()[index] = doubleToBF16(value);
    return;
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2: {
    llvm::APFloat rounded(value);
    bool losesInfo;
    rounded.convert(fp8Semantics(elements), llvm::APFloat::rmNearestTiesToEven,
                    &losesInfo);
    as<uint8_t>()[index] =
        static_cast<uint8_t>(rounded.bitcastToAPInt().getZExtValue());
    return;
  }
  default:
    setInt(index, static_cast<int64_t>(value));
  }
}

void Array::setInt(int64_t index, int64_t value) {
  switch (elements) {
  case ElementKind::I64:
    as<int64_t>()[index] = value;
    return;
  case ElementKind::I32:
    as<int32_t>()[index] = static_cast<int32_t>(value);
    return;
  case ElementKind::I16:
    as<int16_t>()[index] = static_cast<int16_t>(value);
    return;
  case ElementKind::I8:
    as<int8_t>()[index] = static_cast<int8_t>(value);
    return;
  case ElementKind::I1:
    as<uint8_t>()[index] = value & 1;
    return;
  default:
    setFloat(index, static_cast<double>(value));
  }
}

void Array::fillUnwritten() {
  for (int64_t i = 0, e = size(); i < e; ++i) {
    if (isFloat(elements))
      setFloat(i, std::numeric_limits<double>::quiet_NaN());
    else
      setInt(i, -1);
  }
}

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
      target[i] =
          llvm::APFloat(fp8Semantics(kind),
                        llvm::APInt(8, static_cast<const uint8_t *>(source)[i]))
              .convertToFloat();
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
