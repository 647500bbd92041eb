//===- Session.cpp - a layer on a device, with its arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace mlir::moe;
using namespace mlir::moe::exec;

/// Work on more bytes than this is announced on stderr.
static constexpr uint64_t kLongBytes = uint64_t(1) << 30;
/// Workspace is filled in pieces of this many bytes.
static constexpr uint64_t kPieceBytes = uint64_t(16) << 20;

Session::Session(Plan &plan) : plan(plan) {
  // A constructor that throws runs no destructor.
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

Session::~Session() { close(); }

void Session::open() {
  check(moe_device_open(plan.options.device.c_str(), plan.options.ordinal,
                        &handle));
  check(moe_layer_load(plan.bundle, handle, &layer));
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    check(moe_device_allocate(handle, plan.arguments[i].deviceBytes(),
                              &plan.tensors[i].data));
    if (!plan.arguments[i].isResult())
      uploadInput(i);
  }
  workspaceBytes = plan.workspaceBytes();
  check(moe_device_allocate(handle, workspaceBytes, &workspace));
}

void Session::close() {
  moe_device_free(handle, workspace);
  for (moe_tensor &tensor : plan.tensors)
    moe_device_free(handle, tensor.data);
  moe_layer_unload(layer);
  moe_device_close(handle);
}

/// Copies between a dense array and one with strides, element by element of
/// all but the innermost dimension where that is dense.
static void copyStrided(const ArgumentInfo &info, unsigned char *dense,
                        unsigned char *strided, bool toDense) {
  auto size = static_cast<size_t>(elementBytes(info.kind));
  int64_t elements = info.view().size();
  std::vector<int64_t> index(info.shape.size(), 0);
  for (int64_t i = 0; i < elements; ++i) {
    int64_t offset = 0;
    for (size_t j = 0; j < index.size(); ++j)
      offset += index[j] * info.argument.strides[j];
    unsigned char *far = strided + static_cast<size_t>(offset) * size;
    unsigned char *near = dense + static_cast<size_t>(i) * size;
    std::memcpy(toDense ? near : far, toDense ? far : near, size);
    for (size_t j = index.size(); j-- > 0;) {
      if (++index[j] < info.shape[j])
        break;
      index[j] = 0;
    }
  }
}

void Session::uploadInput(size_t index) {
  const ArgumentInfo &info = plan.arguments[index];
  uint64_t bytes = info.deviceBytes();
  if (bytes >= kLongBytes)
    std::fprintf(stderr, "moe-exec: argument %zu, %s, %.1f GB\n", index,
                 info.description().c_str(), static_cast<double>(bytes) * 1e-9);
  HostBuffer values = plan.makeInput(index);
  if (info.isStrided()) {
    HostBuffer strided =
        allocateHost(bytes, "argument " + std::to_string(index));
    std::memset(strided.get(), 0xff, bytes); // NaN between the rows
    copyStrided(info, values.get(), strided.get(), /*toDense=*/false);
    values = std::move(strided);
  }
  check(
      moe_device_upload(handle, plan.tensors[index].data, values.get(), bytes));
}

void Session::poison() {
  // Bytes of 255 are a NaN in every float format and -1 in every integer.
  HostBuffer piece = allocateHost(std::min(workspaceBytes, kPieceBytes),
                                  "a piece of the workspace");
  std::memset(piece.get(), 0xff, std::min(workspaceBytes, kPieceBytes));
  for (uint64_t done = 0; done < workspaceBytes; done += kPieceBytes)
    check(moe_device_upload(handle, static_cast<char *>(workspace) + done,
                            piece.get(),
                            std::min(workspaceBytes - done, kPieceBytes)));
  check(moe_device_mark_unwritten(handle, workspace, workspaceBytes));
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const ArgumentInfo &info = plan.arguments[i];
    if (!info.isResult())
      continue;
    uint64_t bytes = info.deviceBytes();
    HostBuffer values = allocateHost(bytes, "result " + std::to_string(i));
    fillUnwritten(info.kind, values.get(),
                  static_cast<int64_t>(bytes) / elementBytes(info.kind));
    check(moe_device_upload(handle, plan.tensors[i].data, values.get(), bytes));
    check(moe_device_mark_unwritten(handle, plan.tensors[i].data, bytes));
  }
}

HostBuffer Session::downloadResult(size_t index) {
  const ArgumentInfo &info = plan.arguments[index];
  uint64_t bytes = info.deviceBytes();
  HostBuffer values = allocateHost(bytes, "result " + std::to_string(index));
  check(moe_device_download(handle, values.get(), plan.tensors[index].data,
                            bytes));
  if (!info.isStrided())
    return values;
  HostBuffer dense = allocateHost(
      static_cast<uint64_t>(info.view().size() * elementBytes(info.kind)),
      "result " + std::to_string(index));
  copyStrided(info, dense.get(), values.get(), /*toDense=*/true);
  return dense;
}

std::vector<HostBuffer> Session::run() {
  poison();
  check(moe_layer_launch(layer, plan.tensors.data(), plan.tensors.size(),
                         workspace, workspaceBytes, nullptr));
  check(moe_device_synchronize(handle));
  std::vector<HostBuffer> results;
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    if (plan.arguments[i].isResult())
      results.push_back(downloadResult(i));
  return results;
}

moe_timing Session::time(uint32_t repeats) {
  moe_timing timing;
  check(moe_layer_time(layer, plan.tensors.data(), plan.tensors.size(),
                       workspace, workspaceBytes, repeats, &timing));
  return timing;
}
