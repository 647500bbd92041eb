//===- Array.h - dense host arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that go into and come out of a function, whatever executes it.
// An array is dense, row major, in host memory, aligned to 64 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_ARRAY_H
#define MOE_EXECUTION_ARRAY_H

#include "moe/Data/Elements.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>

namespace mlir::moe {

inline StringRef elementName(ElementKind kind) { return elementKindName(kind); }
/// The kind of a scalar type, none where arrays cannot hold it.
std::optional<ElementKind> elementKind(Type type);

/// A dense array. Moving is cheap and leaves an empty array behind; copying
/// takes `clone`, because it can fail for want of memory.
class Array {
public:
  /// A rank-1 f32 array without elements.
  Array() = default;
  Array(Array &&other) noexcept { *this = std::move(other); }
  Array &operator=(Array &&other) noexcept;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { release(); }

  /// An array with undefined contents. Fails for negative extents and for more
  /// bytes than the machine has memory.
  static llvm::Expected<Array> create(ElementKind kind,
                                      ArrayRef<int64_t> shape);
  /// As `create`, filled with `fillUnwritten`.
  static llvm::Expected<Array> createUnwritten(ElementKind kind,
                                               ArrayRef<int64_t> shape);

  llvm::Expected<Array> clone() const;
  /// A copy with elements of another kind. Floats round once, to nearest even;
  /// an integer that the kind cannot hold is an error.
  llvm::Expected<Array> convert(ElementKind kind) const;

  ElementKind kind() const { return elements; }
  ArrayRef<int64_t> shape() const { return extents; }
  ShapeView shapeView() const { return {extents.data(), extents.size()}; }
  int64_t rank() const { return extents.size(); }
  int64_t dim(unsigned i) const { return extents[i]; }
  /// Number of elements.
  int64_t size() const;
  int64_t bytes() const { return size() * elementBytes(elements); }

  void *data() { return buffer; }
  const void *data() const { return buffer; }
  /// The elements as `T`, whose size must be that of one element.
  template <typename T>
  MutableArrayRef<T> as() {
    return {static_cast<T *>(buffer), static_cast<size_t>(size())};
  }
  template <typename T>
  ArrayRef<T> as() const {
    return {static_cast<const T *>(buffer), static_cast<size_t>(size())};
  }

  /// One element by its flat index; integers and floats alike.
  double floatAt(int64_t index) const {
    return loadFloat(elements, buffer, index);
  }
  int64_t intAt(int64_t index) const {
    return loadInt(elements, buffer, index);
  }
  /// Stores `value`, rounded to nearest even where it is not representable.
  void setFloat(int64_t index, double value) {
    storeFloat(elements, buffer, index, value);
  }
  /// Stores the low bits of `value`.
  void setInt(int64_t index, int64_t value) {
    storeInt(elements, buffer, index, value);
  }

  /// Gives the array another shape with the same number of elements.
  void reshape(ArrayRef<int64_t> shape);
  /// Fills with what marks an element that nobody wrote: NaN, or -1 where the
  /// elements are integers (i1: true).
  void fillUnwritten() { moe::fillUnwritten(elements, buffer, size()); }

private:
  void release();

  ElementKind elements = ElementKind::F32;
  SmallVector<int64_t, 4> extents = {0};
  void *buffer = nullptr;
};

/// `elements` of the kind starting at `source`, as f32. f64 rounds.
void loadAsFloat(ElementKind kind, const void *source, int64_t elements,
                 float *target);

/// "4x8xbf16", for messages.
std::string describe(ElementKind kind, ArrayRef<int64_t> shape);
inline std::string describe(const Array &array) {
  return describe(array.kind(), array.shape());
}

} // namespace mlir::moe

#endif // MOE_EXECUTION_ARRAY_H
