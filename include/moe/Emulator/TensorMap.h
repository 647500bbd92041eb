//===- TensorMap.h - tensor maps of the emulated device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_TENSOR_MAP_H
#define MOE_EMULATOR_TENSOR_MAP_H

#include <cstdint>
#include <string>

namespace mlir::moe::emulator {

constexpr uint32_t kTensorMapBytes = 128;
constexpr uint32_t kMaxTensorRank = 5;

/// What a tensor map says; the innermost dimension comes first. A kernel takes
/// the 128 bytes that `encode` makes of it; they are the emulator's own, as
/// those of a GPU are its driver's own.
struct TensorMap {
  void *address = nullptr;
  uint32_t rank = 0;
  /// 1, 2, 4 or 8.
  uint32_t elementBytes = 0;
  /// Elements that are out of bounds are NaN instead of 0.
  bool fillNaN = false;
  /// In elements.
  uint64_t extents[kMaxTensorRank] = {};
  /// In bytes, of dimensions 1 and up.
  uint64_t strides[kMaxTensorRank - 1] = {};
  uint32_t box[kMaxTensorRank] = {};
  uint32_t elementStrides[kMaxTensorRank] = {1, 1, 1, 1, 1};
  /// 0, 32, 64 or 128 bytes.
  uint32_t swizzle = 0;

  /// The rule that the map breaks, with numbers; empty where it breaks none.
  std::string problem() const;
  /// Throws Error where there is a problem.
  void encode(void *bytes) const;
  /// False where the bytes are no tensor map.
  static bool decode(const void *bytes, TensorMap &map);

  uint64_t boxBytes() const;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_TENSOR_MAP_H
