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
  uint64_t bytes = map.boxBytes(), size = bytesOf(map.type);
  if (!map.fillNaN) {
    std::memset(buffer, 0, bytes);
    return;
  }
  // All bits but the sign, and bit 3 of every 16.
  for (uint64_t i = 0; i < bytes; ++i)
    buffer[i] = i % 2 == 0 ? 0xf7 : i % size == size - 1 ? 0x7f : 0xff;
}
