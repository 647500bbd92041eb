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

static constexpr uint32_t kMagic = 0x4d454f4du;
static constexpr uint64_t kMaxExtent = uint64_t(1) << 32;
static constexpr uint64_t kMaxStride = uint64_t(1) << 40;
static constexpr uint32_t kMaxBox = 256;

namespace {
/// The layout of the 128 bytes.
struct Encoded {
  uint32_t magic;
  uint8_t rank, type, fillNaN, swizzle;
  uint64_t address;
  uint64_t extents[kMaxTensorRank];
  uint64_t strides[kMaxTensorRank - 1];
  uint16_t box[kMaxTensorRank];
  uint8_t elementStrides[kMaxTensorRank];
};
static_assert(sizeof(Encoded) <= kTensorMapBytes);
} // namespace

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
  case ElementType::TFloat32:
    return 4;
  case ElementType::UInt64:
  case ElementType::Int64:
  case ElementType::Float64:
    return 8;
  }
  return 0;
}

static std::string dimension(const char *what, uint32_t i, uint64_t value) {
  return std::string(what) + " " + std::to_string(i) + " is " +
         std::to_string(value);
}

std::string TensorMap::problem() const {
  if (rank < 1 || rank > kMaxTensorRank)
    return "rank " + std::to_string(rank) + ": 1 to 5 are possible";
  if (bytesOf(type) == 0)
    return "element type " + std::to_string(int(type)) + " is none";
  if (fillNaN && type < ElementType::Float16)
    return "integers cannot be filled with NaN";
  if (reinterpret_cast<uint64_t>(address) % 16 != 0)
    return "the address is no multiple of 16";
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return "a swizzle of " + std::to_string(swizzle) +
           " bytes: 0, 32, 64 and 128 are possible";
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] < 1 || extents[i] > kMaxExtent)
      return dimension("extent", i, extents[i]) + ": 1 to 2^32 are possible";
    if (box[i] < 1 || box[i] > kMaxBox)
      return dimension("box extent", i, box[i]) + ": 1 to 256 are possible";
    if (elementStrides[i] < 1 || elementStrides[i] > 8)
      return dimension("element stride", i, elementStrides[i]) +
             ": 1 to 8 are possible";
    if (i + 1 < rank && (strides[i] % 16 != 0 || strides[i] >= kMaxStride))
      return dimension("stride", i + 1, strides[i]) +
             " bytes: it has to be a multiple of 16 below 2^40";
  }
  uint32_t inner = rowBytes();
  if (inner % 16 != 0)
    return "rows of the box have " + std::to_string(inner) +
           " bytes, which is no multiple of 16";
  if (swizzle != 0 && inner > swizzle)
    return "rows of the box have " + std::to_string(inner) +
           " bytes, more than the swizzle of " + std::to_string(swizzle);
  return {};
}

void TensorMap::encode(void *bytes) const {
  std::string text = problem();
  if (!text.empty())
    throw Error(0, "tensor map: " + text);
  Encoded encoded = {};
  encoded.magic = kMagic;
  encoded.rank = static_cast<uint8_t>(rank);
  encoded.type = static_cast<uint8_t>(type);
  encoded.fillNaN = fillNaN;
  encoded.swizzle = static_cast<uint8_t>(swizzle);
  encoded.address = reinterpret_cast<uint64_t>(address);
  std::memcpy(encoded.extents, extents, sizeof(extents));
  std::memcpy(encoded.strides, strides, sizeof(strides));
  for (uint32_t i = 0; i < kMaxTensorRank; ++i) {
    encoded.box[i] = static_cast<uint16_t>(box[i]);
    encoded.elementStrides[i] = static_cast<uint8_t>(elementStrides[i]);
  }
  std::memset(bytes, 0, kTensorMapBytes);
  std::memcpy(bytes, &encoded, sizeof(encoded));
}

bool TensorMap::decode(const void *bytes, TensorMap &map) {
  Encoded encoded;
  std::memcpy(&encoded, bytes, sizeof(encoded));
  if (encoded.magic != kMagic)
    return false;
  map.address = reinterpret_cast<void *>(encoded.address);
  map.rank = encoded.rank;
  map.type = static_cast<ElementType>(encoded.type);
  map.fillNaN = encoded.fillNaN;
  map.swizzle = encoded.swizzle;
  std::memcpy(map.extents, encoded.extents, sizeof(map.extents));
  std::memcpy(map.strides, encoded.strides, sizeof(map.strides));
  for (uint32_t i = 0; i < kMaxTensorRank; ++i) {
    map.box[i] = encoded.box[i];
    map.elementStrides[i] = encoded.elementStrides[i];
  }
  return map.problem().empty();
}

uint32_t TensorMap::boxElements(uint32_t dimension) const {
  uint32_t step = dimension == 0 ? 1 : elementStrides[dimension];
  return (box[dimension] + step - 1) / step;
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = bytesOf(type);
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= boxElements(i);
  return bytes;
}
