//===- TensorMap.cpp - tensor maps of the emulated device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/TensorMap.h"

#include "moe/Emulator/Error.h"

#include <cstring>

using namespace mlir::moe::emulator;

static constexpr uint32_t kMaxBoxExtent = 256;
static constexpr uint32_t kMaxElementStride = 8;
static constexpr uint64_t kMaxExtent = uint64_t(1) << 32;
static constexpr uint64_t kStrideEnd = uint64_t(1) << 40;
static constexpr uint32_t kGranularity = 16;
/// First bytes of an encoded map.
static constexpr uint64_t kMagic = 0x31504d45544f4d2e;

uint32_t mlir::moe::emulator::bytesOf(ElementType type) {
  switch (type) {
  case ElementType::UInt8:
    return 1;
  case ElementType::UInt16:
  case ElementType::Float16:
  case ElementType::BFloat16:
    return 2;
  case ElementType::UInt32:
  case ElementType::Int32:
  case ElementType::Float32:
    return 4;
  case ElementType::UInt64:
  case ElementType::Int64:
  case ElementType::Float64:
    return 8;
  }
  return 0;
}

bool mlir::moe::emulator::isFloat(ElementType type) {
  return type >= ElementType::Float16;
}

uint32_t TensorMap::boxElements(uint32_t dimension) const {
  // The innermost dimension has no stride of elements.
  uint32_t step = dimension == 0 ? 1 : elementStrides[dimension];
  return (box[dimension] + step - 1) / step;
}

uint32_t TensorMap::boxBytes() const {
  uint32_t bytes = bytesOf(type);
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= boxElements(i);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

[[noreturn]] static void refuse(const std::string &what, uint64_t found,
                                const std::string &rule) {
  throw Error(0, "tensor map: " + what + " is " + std::to_string(found) +
                     ", but has to be " + rule);
}

static void checkDimension(const TensorMap &map, uint32_t i) {
  std::string of = " of dimension " + std::to_string(i);
  if (map.extents[i] == 0 || map.extents[i] > kMaxExtent)
    refuse("the extent" + of, map.extents[i], "1 to 2^32");
  if (map.box[i] == 0 || map.box[i] > kMaxBoxExtent)
    refuse("the box" + of, map.box[i], "1 to 256 elements");
  if (map.elementStrides[i] == 0 || map.elementStrides[i] > kMaxElementStride)
    refuse("the element stride" + of, map.elementStrides[i], "1 to 8");
  if (i == 0)
    return;
  if (map.strides[i] % kGranularity != 0)
    refuse("the stride" + of, map.strides[i], "a multiple of 16 bytes");
  if (map.strides[i] >= kStrideEnd)
    refuse("the stride" + of, map.strides[i], "less than 2^40 bytes");
}

static void check(const TensorMap &map) {
  if (bytesOf(map.type) == 0)
    refuse("the element type", static_cast<uint64_t>(map.type), "a known one");
  if (map.rank == 0 || map.rank > kMaxTensorRank)
    refuse("the rank", map.rank, "1 to 5");
  if (map.address % kGranularity != 0)
    refuse("the address", map.address, "a multiple of 16");
  for (uint32_t i = 0; i < map.rank; ++i)
    checkDimension(map, i);
  uint32_t inner = map.box[0] * bytesOf(map.type);
  if (inner % kGranularity != 0)
    refuse("the innermost extent of the box in bytes", inner,
           "a multiple of 16");
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 &&
      map.swizzle != 128)
    refuse("the swizzle", map.swizzle, "0, 32, 64 or 128");
  if (map.swizzle != 0 && inner > map.swizzle)
    refuse("the innermost extent of the box in bytes", inner,
           "at most the " + std::to_string(map.swizzle) + " of the swizzle");
  if (map.fillNaN && !isFloat(map.type))
    refuse("the fill with NaN", 1, "off, since the elements are integers");
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {
/// Writes or reads one field after the other.
template <typename Byte> struct Cursor {
  Byte *at;

  template <typename Stored, typename Value> void field(Value &value) {
    Stored stored;
    if constexpr (std::is_const_v<Byte>) {
      std::memcpy(&stored, at, sizeof(stored));
      value = static_cast<Value>(stored);
    } else {
      stored = static_cast<Stored>(value);
      std::memcpy(at, &stored, sizeof(stored));
    }
    at += sizeof(stored);
  }
};
} // namespace

/// The order of the fields, for both directions. An extent is kept less 1, so
/// that 2^32 fits.
template <typename Byte, typename Map>
static void transfer(Byte *encoded, Map &map) {
  Cursor<Byte> cursor{encoded + sizeof(kMagic)};
  cursor.template field<uint64_t>(map.address);
  cursor.template field<uint8_t>(map.type);
  cursor.template field<uint8_t>(map.rank);
  cursor.template field<uint8_t>(map.swizzle);
  cursor.template field<uint8_t>(map.fillNaN);
  for (uint32_t i = 0; i < kMaxTensorRank; ++i) {
    cursor.template field<uint64_t>(map.strides[i]);
    cursor.template field<uint32_t>(map.extents[i]);
    cursor.template field<uint16_t>(map.box[i]);
    cursor.template field<uint8_t>(map.elementStrides[i]);
  }
}
static_assert(sizeof(kMagic) + 8 + 4 + kMaxTensorRank * (8 + 4 + 2 + 1) <=
              kEncodedTensorMapBytes);

void mlir::moe::emulator::encode(const TensorMap &map,
                                 uint8_t encoded[kEncodedTensorMapBytes]) {
  check(map);
  TensorMap stored = map;
  stored.strides[0] = bytesOf(map.type);
  for (uint64_t &extent : stored.extents)
    --extent;
  std::memset(encoded, 0, kEncodedTensorMapBytes);
  std::memcpy(encoded, &kMagic, sizeof(kMagic));
  transfer(encoded, stored);
}

bool mlir::moe::emulator::decode(const uint8_t encoded[kEncodedTensorMapBytes],
                                 TensorMap &map) {
  if (std::memcmp(encoded, &kMagic, sizeof(kMagic)) != 0)
    return false;
  transfer(encoded, map);
  for (uint64_t &extent : map.extents)
    ++extent;
  try {
    check(map);
  } catch (const Error &) {
    return false; // bytes of a map that somebody has changed
  }
  return true;
}
