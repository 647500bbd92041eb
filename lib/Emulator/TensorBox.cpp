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
  std::memset(buffer, map.fillNaN ? 0xff : 0, bytes);
  if (!map.fillNaN)
    return;
  // All bits but the sign.
  for (uint64_t last = size - 1; last < bytes; last += size)
    buffer[last] = 0x7f;
}
