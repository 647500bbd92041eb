//===- CallMemory.cpp - the buffers of one call -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallMemory.h"

#include "../Runtime/Error.h"

#include <algorithm>
#include <tuple>

using namespace mlir::moe;
using namespace mlir::moe::emulator;

CallMemory::CallMemory(const runtime::CallRequest &request, Memory &device)
    : device(device) {
  const std::vector<runtime::Argument> &arguments = request.bundle->arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    add({static_cast<char *>(request.addresses[i]),
         runtime::bytesOfArgument(*request.bundle, i, request.args),
         "argument " + std::to_string(i), arguments[i].isWritten});
  mergeOverlapping();
  for (const Region &region : regions)
    enter(region);
  for (size_t i = 0; i < request.variant->workspace.size(); ++i)
    request.addresses[arguments.size() + i] = buffers.allocate(
        runtime::bytesOfWorkspace(*request.variant, i, request.args),
        "workspace " + std::to_string(i));
}

void CallMemory::add(Region region) {
  if (region.bytes == 0)
    return;
  if (!device.find(reinterpret_cast<uint64_t>(region.data), region.bytes))
    runtime::failArgument(region.name + ": not all of its " +
                          std::to_string(region.bytes) +
                          " bytes lie in memory of this device");
  regions.push_back(std::move(region));
}

void CallMemory::mergeOverlapping() {
  std::sort(regions.begin(), regions.end(),
            [](const Region &a, const Region &b) {
              return std::tie(a.data, a.name) < std::tie(b.data, b.name);
            });
  std::vector<Region> merged;
  for (Region &region : regions) {
    if (merged.empty() || region.data >= merged.back().end()) {
      merged.push_back(std::move(region));
      continue;
    }
    Region &before = merged.back();
    before.bytes = static_cast<uint64_t>(std::max(before.end(), region.end()) -
                                         before.data);
    before.name += " and " + region.name;
    before.isWritten |= region.isWritten;
  }
  regions = std::move(merged);
}

void CallMemory::enter(const Region &region) {
  buffers.add(region.data, region.bytes, region.name,
              device.isDefined(region.data, region.bytes));
  buffers.copyDefined(device, region.data, region.bytes);
  if (region.isWritten)
    return;
  BufferContract contract;
  contract.name = region.name;
  contract.data = region.data;
  contract.bytes = region.bytes;
  contract.mayWrite = false;
  promises.push_back(std::move(contract));
}

void CallMemory::finish() {
  for (const Region &region : regions)
    if (region.isWritten)
      device.copyDefined(buffers, region.data, region.bytes);
}
