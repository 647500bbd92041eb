//===- FakeState.h - what the recording driver keeps -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TEST_RUNTIME_FAKECUDA_FAKESTATE_H
#define MOE_TEST_RUNTIME_FAKECUDA_FAKESTATE_H

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace fake {

using Handle = void *;
using DevicePtr = unsigned long long;

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidContext = 201,
  NoImage = 209,
  InvalidPtx = 218,
  NotFound = 500
};

struct Function {
  std::string name;
  std::vector<size_t> parameterBytes;
  int dynamicShared = 48 * 1024; // without a request for more
};

struct Module {
  std::map<std::string, Function> functions;
};

struct Stream {
  bool capturing = false;
  int captured = 0;
};

/// A graph or, with the same numbers of nodes, what can be launched of it.
struct Graph {
  int launches = 0;
  /// One for each kernel node: where it is in `lines`.
  std::vector<std::unique_ptr<size_t>> nodes;
  /// What is recorded for each kernel node when the graph is launched.
  std::vector<std::string> lines;
};

/// What the fake writes where the driver would write a tensor map.
struct FakeMap {
  char magic[8];
  int number;
};

/// All of the state; every call locks it.
struct State {
  State();

  std::mutex mutex;
  FILE *log = nullptr;
  /// By address: bytes and number.
  std::map<DevicePtr, std::pair<size_t, int>> allocations;
  int numAllocations = 0;
  int numMaps = 0;
  std::map<std::string, int> calls;
};

State &state();
/// The contexts of this thread, the current one last.
extern thread_local std::vector<Handle> contexts;

int setting(const char *name, int other);
std::string textSetting(const char *name);

/// Writes one line; the state is locked.
__attribute__((format(printf, 1, 2))) void record(const char *format, ...);
/// What FAKE_CUDA_FAIL wants of this call of `name`; the state is locked.
Result wanted(const char *name);

/// "a2+256", or the number where it lies in no allocation.
std::string nameOf(DevicePtr address);
bool isInside(DevicePtr address, size_t bytes);

} // namespace fake

// The first lines of a call.
#define LOCKED_CALL(name)                                                      \
  std::lock_guard<std::mutex> lock(state().mutex);                             \
  if (Result failure = wanted(name))                                           \
  return failure
#define NEEDS_CONTEXT()                                                        \
  if (contexts.empty())                                                        \
  return InvalidContext

#endif // MOE_TEST_RUNTIME_FAKECUDA_FAKESTATE_H
