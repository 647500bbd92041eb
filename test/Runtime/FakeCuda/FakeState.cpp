//===- FakeState.cpp - what the recording driver keeps -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>

namespace fake {

thread_local std::vector<Handle> contexts;

State::State() {
  if (const char *path = std::getenv("FAKE_CUDA_LOG"))
    log = std::fopen(path, "a");
}

State &state() {
  static State instance;
  return instance;
}

int setting(const char *name, int other) {
  const char *text = std::getenv(name);
  return text ? static_cast<int>(std::strtol(text, nullptr, 10)) : other;
}

std::string textSetting(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

void record(const char *format, ...) {
  FILE *log = state().log;
  if (!log)
    return;
  va_list args;
  va_start(args, format);
  std::vfprintf(log, format, args);
  va_end(args);
  std::fputc('\n', log);
  std::fflush(log);
}

Result wanted(const char *name) {
  static const std::string failures = textSetting("FAKE_CUDA_FAIL");
  if (failures.empty())
    return Success;
  int count = state().calls[name]++;
  std::string key = std::string(name) + "=";
  for (size_t start = 0; start < failures.size();) {
    size_t end = std::min(failures.find(',', start), failures.size());
    std::string entry = failures.substr(start, end - start);
    start = end + 1;
    if (entry.compare(0, key.size(), key) != 0)
      continue;
    size_t at = entry.find('@');
    if (at == std::string::npos || std::stoi(entry.substr(at + 1)) == count)
      return static_cast<Result>(std::stoi(entry.substr(key.size())));
  }
  return Success;
}

std::string nameOf(DevicePtr address) {
  auto &allocations = state().allocations;
  auto next = allocations.upper_bound(address);
  if (next != allocations.begin()) {
    auto found = std::prev(next);
    size_t offset = address - found->first;
    if (offset <= found->second.first)
      return "a" + std::to_string(found->second.second) + "+" +
             std::to_string(offset);
  }
  return std::to_string(address);
}

bool isInside(DevicePtr address, size_t bytes) {
  auto &allocations = state().allocations;
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return false;
  auto found = std::prev(next);
  return address - found->first + bytes <= found->second.first;
}

} // namespace fake
