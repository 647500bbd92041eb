//===- FakeMemory.cpp - memory and streams of the fake driver -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fake;

// NOLINTBEGIN(readability-identifier-naming): the names of the driver.

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FAKE_API int cuMemAlloc_v2(DevicePtr *data, size_t bytes) {
  LOCKED_CALL("cuMemAlloc");
  NEEDS_CONTEXT();
  if (bytes == 0)
    return InvalidValue;
  // Aligned to 256 bytes and, where possible, to nothing more.
  void *memory = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (!memory)
    return OutOfMemory;
  *data = reinterpret_cast<DevicePtr>(memory);
  int number = state().numAllocations++;
  state().allocations[*data] = {bytes, number};
  record(R"({"call":"cuMemAlloc","name":"a%d","bytes":%zu})", number, bytes);
  return Success;
}

FAKE_API int cuMemFree_v2(DevicePtr data) {
  LOCKED_CALL("cuMemFree");
  NEEDS_CONTEXT();
  if (state().allocations.erase(data) == 0)
    return InvalidValue;
  std::free(reinterpret_cast<void *>(data));
  return Success;
}

/// FNV-1a in 64 bits.
static unsigned long long checkSum(const void *data, size_t bytes) {
  unsigned long long sum = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i)
    sum = (sum ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3u;
  return sum;
}

FAKE_API int cuMemcpyHtoD_v2(DevicePtr target, const void *source,
                             size_t bytes) {
  LOCKED_CALL("cuMemcpyHtoD");
  NEEDS_CONTEXT();
  if (!isInside(target, bytes))
    return InvalidValue;
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  if (state().log)
    record(R"({"call":"cuMemcpyHtoD","target":"%s","bytes":%zu,"sum":%llu})",
           nameOf(target).c_str(), bytes, checkSum(source, bytes));
  return Success;
}

FAKE_API int cuMemcpyDtoH_v2(void *target, DevicePtr source, size_t bytes) {
  LOCKED_CALL("cuMemcpyDtoH");
  NEEDS_CONTEXT();
  if (!isInside(source, bytes))
    return InvalidValue;
  std::memcpy(target, reinterpret_cast<const void *>(source), bytes);
  static unsigned char count = 0;
  if (setting("FAKE_CUDA_SCRIBBLE", 0))
    static_cast<unsigned char *>(target)[0] = count++;
  return Success;
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

FAKE_API int cuStreamCreate(Handle *stream, unsigned) {
  LOCKED_CALL("cuStreamCreate");
  NEEDS_CONTEXT();
  *stream = new Stream;
  return Success;
}

FAKE_API int cuStreamDestroy_v2(Handle stream) {
  delete static_cast<Stream *>(stream);
  return Success;
}

FAKE_API int cuStreamSynchronize(Handle) {
  LOCKED_CALL("cuStreamSynchronize");
  return Success;
}

FAKE_API int cuEventCreate(Handle *event, unsigned) {
  LOCKED_CALL("cuEventCreate");
  *event = new int;
  return Success;
}

FAKE_API int cuEventDestroy_v2(Handle event) {
  delete static_cast<int *>(event);
  return Success;
}

FAKE_API int cuEventRecord(Handle, Handle) {
  LOCKED_CALL("cuEventRecord");
  return Success;
}

FAKE_API int cuEventSynchronize(Handle) {
  LOCKED_CALL("cuEventSynchronize");
  return Success;
}

FAKE_API int cuEventElapsedTime(float *milliseconds, Handle, Handle) {
  *milliseconds = 0.5f;
  return Success;
}

FAKE_API int cuStreamBeginCapture_v2(Handle stream, int) {
  LOCKED_CALL("cuStreamBeginCapture");
  static_cast<Stream *>(stream)->capturing = true;
  return Success;
}

FAKE_API int cuStreamEndCapture(Handle stream, Handle *graph) {
  LOCKED_CALL("cuStreamEndCapture");
  auto *of = static_cast<Stream *>(stream);
  of->capturing = false;
  auto *captured = new Graph{of->captured};
  *graph = captured;
  record(R"({"call":"cuStreamEndCapture","launches":%d})", captured->launches);
  return Success;
}

FAKE_API int cuStreamIsCapturing(Handle stream, int *status) {
  LOCKED_CALL("cuStreamIsCapturing");
  *status = stream && static_cast<Stream *>(stream)->capturing ? 1 : 0;
  return Success;
}

FAKE_API int cuGraphCreate(Handle *graph, unsigned) {
  LOCKED_CALL("cuGraphCreate");
  *graph = new Graph;
  return Success;
}

FAKE_API int cuGraphInstantiateWithFlags(Handle *executable, Handle graph,
                                         unsigned long long) {
  LOCKED_CALL("cuGraphInstantiateWithFlags");
  NEEDS_CONTEXT();
  const auto *of = static_cast<Graph *>(graph);
  auto *made = new Graph;
  made->launches = of->launches;
  made->lines = of->lines;
  *executable = made;
  return Success;
}

FAKE_API int cuGraphUpload(Handle, Handle stream) {
  LOCKED_CALL("cuGraphUpload");
  return stream ? Success : InvalidValue;
}

FAKE_API int cuGraphLaunch(Handle executable, Handle stream) {
  LOCKED_CALL("cuGraphLaunch");
  NEEDS_CONTEXT();
  if (stream && static_cast<Stream *>(stream)->capturing)
    return InvalidValue;
  const auto *of = static_cast<Graph *>(executable);
  record(R"({"call":"cuGraphLaunch","launches":%d,"stream":%s})", of->launches,
         stream ? "true" : "false");
  for (const std::string &line : of->lines)
    record("%s", line.c_str());
  return Success;
}

FAKE_API int cuGraphExecDestroy(Handle executable) {
  delete static_cast<Graph *>(executable);
  return Success;
}

FAKE_API int cuGraphDestroy(Handle graph) {
  delete static_cast<Graph *>(graph);
  return Success;
}

// NOLINTEND(readability-identifier-naming)
