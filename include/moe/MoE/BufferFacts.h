//===- BufferFacts.h - where the elements of a buffer lie -------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel may assume of the memory behind a tensor or memref: from its
// type, from the views it is made by, and from the attributes of the argument
// it comes from, `moe.alignment` and `bufferization.buffer_layout`.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_MOE_BUFFERFACTS_H
#define MOE_MOE_BUFFERFACTS_H

#include "moe/MoE/MoEDialect.h"

namespace mlir::moe {

/// Bytes that every buffer starts at a multiple of, where nothing else is said;
/// also the widest access of a kernel.
inline constexpr int64_t kDefaultAlignment = 16;

struct BufferFacts {
  /// Bytes that the address of the first element is a multiple of, at most
  /// kDefaultAlignment.
  int64_t alignment = kDefaultAlignment;
  /// Elements from one index of a dimension to the next; kDynamic where only a
  /// call tells.
  SmallVector<int64_t, 4> strides;
  int64_t elementBytes = 1;
  /// The buffer is a slice of another one.
  bool isSlice = false;

  /// True if the elements lie in row-major order without gaps.
  bool isContiguous(ArrayRef<int64_t> shape) const;
  /// Bytes that the address of every row, the innermost dimension, is a
  /// multiple of, at most kDefaultAlignment.
  int64_t rowAlignment() const;
};

/// The facts of a ranked tensor or a strided memref.
BufferFacts bufferFacts(Value buffer);

/// A buffer as the start of another one.
struct BufferStart {
  /// The memref without the views that only change the start or the shape.
  Value memref;
  /// Elements from the start of `memref` to that of the view.
  int64_t offset = 0;
};

/// Where a memref starts; nothing if that is no constant.
std::optional<BufferStart> bufferStart(Value memref);

} // namespace mlir::moe

#endif // MOE_MOE_BUFFERFACTS_H
