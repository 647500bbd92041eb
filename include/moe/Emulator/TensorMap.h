//===- TensorMap.h - tensor maps of the emulated device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel takes a tensor map as 128 bytes that only the driver and the chip
// can read. The emulated device has an encoding of its own, under the rules of
// cuTensorMapEncodeTiled.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_TENSOR_MAP_H
#define MOE_EMULATOR_TENSOR_MAP_H

#include <cstdint>
#include <string>

namespace mlir::moe::emulator {

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
};

uint32_t bytesOf(ElementType type);
bool isFloat(ElementType type);

constexpr uint32_t kMaxTensorRank = 5;
constexpr uint32_t kEncodedTensorMapBytes = 128;

/// A tensor in global memory and the box of it that one copy moves. The
/// innermost dimension comes first.
struct TensorMap {
  ElementType type = ElementType::UInt8;
  uint32_t rank = 1;
  /// A multiple of 16.
  uint64_t address = 0;
  /// In elements: 1 to 2^32.
  uint64_t extents[kMaxTensorRank] = {1, 1, 1, 1, 1};
  /// In bytes: multiples of 16 below 2^40. That of dimension 0 is the size of
  /// an element and not looked at.
  uint64_t strides[kMaxTensorRank] = {};
  /// In elements: 1 to 256; those of the innermost dimension make a multiple of
  /// 16 bytes, and no more bytes than the swizzle, where there is one.
  uint32_t box[kMaxTensorRank] = {1, 1, 1, 1, 1};
  /// Every n-th element of a dimension but the innermost: 1 to 8.
  uint32_t elementStrides[kMaxTensorRank] = {1, 1, 1, 1, 1};
  /// Bytes: 0 (none), 32, 64 or 128.
  uint32_t swizzle = 0;
  /// Elements out of bounds are NaN instead of zero; float types only.
  bool fillNaN = false;

  /// Elements that a copy moves in a dimension.
  uint32_t boxElements(uint32_t dimension) const;
  /// Of a whole box in shared memory.
  uint32_t boxBytes() const;
};

/// Throws Error, with the rule, what was found and what to change.
void encode(const TensorMap &map, uint8_t encoded[kEncodedTensorMapBytes]);

/// False where these bytes are no tensor map of this device, e.g. one that a
/// driver has encoded.
bool decode(const uint8_t encoded[kEncodedTensorMapBytes], TensorMap &map);

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_TENSOR_MAP_H
