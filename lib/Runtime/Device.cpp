//===- Device.cpp - the kinds of devices -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "Error.h"

#include <vector>

using namespace mlir::moe::runtime;

namespace {
struct Kind {
  const char *name;
  std::unique_ptr<Device> (*open)(int ordinal);
};
} // namespace

/// Those of this library, then those that were added.
static std::vector<Kind> &kinds() {
  static std::vector<Kind> kinds = {{"cuda", openCudaDevice}};
  return kinds;
}

void mlir::moe::runtime::addDeviceKind(
    const char *name, std::unique_ptr<Device> (*open)(int ordinal)) {
  kinds().push_back({name, open});
}

std::unique_ptr<Device> mlir::moe::runtime::openDevice(const std::string &name,
                                                       int ordinal) {
  std::string known;
  for (const Kind &kind : kinds()) {
    if (name == kind.name)
      return kind.open(ordinal);
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  fail(MOE_NO_DEVICE, "there is no kind of device named \"" +
                          name.substr(0, 64) + "\"; known: " + known);
}
