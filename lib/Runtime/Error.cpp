//===- Error.cpp - how a failure reaches the caller -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Error.h"

#include <algorithm>
#include <cstring>

namespace mlir::moe::runtime {

/// A fixed size: storing the text of a failure cannot fail itself. It holds
/// the log of a driver that refuses a kernel.
static thread_local char storedText[8192];

void setLastError(const char *text) noexcept {
  size_t length = std::min(std::strlen(text), sizeof(storedText) - 1);
  std::memcpy(storedText, text, length);
  storedText[length] = '\0';
}

const char *lastError() noexcept { return storedText; }

} // namespace mlir::moe::runtime
