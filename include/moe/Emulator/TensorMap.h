//===- TensorMap.h - tensor maps of the emulated device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_TENSORMAP_H
#define MOE_EMULATOR_TENSORMAP_H

#include <cstdint>
#include <string>

namespace mlir::moe::emulator {

constexpr uint32_t kTensorMapBytes = 128;
constexpr uint32_t kMaxTensorRank = 5;

/// With the numbers of CUtensorMapDataType.
enum class ElementType : uint8_t {
  UInt8,
  UInt16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  Float32,
  Float64,
  BFloat16,
  /// Float32 of which kernels use the upper 19 bits.
  TFloat32 = 11,
};

/// 0 for a number that is no type.
uint32_t bytesOf(ElementType type);

/// What a tensor map says; the innermost dimension comes first. A kernel takes
/// the 128 bytes that `encode` makes of it; they are the emulator's own, as
/// those of a GPU are its driver's own.
struct TensorMap {
  /// A multiple of 16.
  void *address = nullptr;
  uint32_t rank = 0;
  ElementType type = ElementType::UInt8;
  /// Elements that are out of bounds are NaN instead of 0; for floats only.
  bool fillNaN = false;
  /// In elements: 1 to 2^32.
  uint64_t extents[kMaxTensorRank] = {};
  /// In bytes, of dimensions 1 and up: multiples of 16 below 2^40.
  uint64_t strides[kMaxTensorRank - 1] = {};
  /// In elements: 1 to 256. The rows of the box have a multiple of 16 bytes,
  /// and no more of them than the swizzle, where there is one.
  uint32_t box[kMaxTensorRank] = {};
  /// Every n-th element: 1 to 8; that of dimension 0 is not looked at.
  uint32_t elementStrides[kMaxTensorRank] = {1, 1, 1, 1, 1};
  /// 0, 32, 64 or 128 bytes.
  uint32_t swizzle = 0;

  /// The rule that the map breaks, with numbers; empty where it breaks none.
  std::string problem() const;
  /// Throws Error where there is a problem.
  void encode(void *bytes) const;
  /// False where the bytes are no tensor map.
  static bool decode(const void *bytes, TensorMap &map);

  /// Elements of a dimension that one copy moves.
  uint32_t boxElements(uint32_t dimension) const;
  /// Of rows of the box, and of all of it: what an mbarrier counts. A row takes
  /// as many bytes of shared memory as the swizzle has, where there is one.
  uint32_t rowBytes() const { return box[0] * bytesOf(type); }
  uint64_t boxBytes() const;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_TENSORMAP_H
