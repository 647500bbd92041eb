//===- TensorBox.cpp - a box of a tensor and its place in shared memory -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBox.h"

#include <cstring>

using namespace mlir::moe::emulator;

void TensorBox::fill(uint8_t *buffer) const {
  uint64_t bytes = map.boxBytes();
  std::memset(buffer, 0, bytes);
  // What an H200 writes for every type: 0x7ff7 in each 16 bits.
  constexpr uint8_t kNaN[] = {0xf7, 0x7f};
  for (uint64_t i = 0; map.fillNaN && i < bytes; i += sizeof(kNaN))
    std::memcpy(buffer + i, kNaN, sizeof(kNaN));
}
