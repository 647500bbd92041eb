//===- GlobalMemory.cpp - the allocations and their shadow -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/Memory.h"

#include "moe/Emulator/Error.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

static constexpr uint64_t kAlignment = 256;
/// Host addresses stay below the windows of shared and local memory.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 47;

static uint64_t numberOf(const void *data) {
  return reinterpret_cast<uint64_t>(data);
}

void Memory::insert(std::unique_ptr<Allocation> allocation) {
  std::lock_guard<std::mutex> lock(mutex);
  auto after = std::upper_bound(
      allocations.begin(), allocations.end(), allocation->address(),
      [](uint64_t address, const auto &a) { return address < a->address(); });
  auto overlaps = [&](const Allocation &a) {
    return a.address() < allocation->address() + allocation->bytes &&
           allocation->address() < a.address() + a.bytes;
  };
  const Allocation *other = nullptr;
  if (after != allocations.end() && overlaps(**after))
    other = after->get();
  else if (after != allocations.begin() && overlaps(**std::prev(after)))
    other = std::prev(after)->get();
  if (other)
    throw Error(0, "memory \"" + allocation->name + "\" overlaps \"" +
                       other->name + "\"");
  allocations.insert(after, std::move(allocation));
}

void *Memory::allocate(uint64_t bytes, const std::string &name) {
  if (bytes > kMaxBytes)
    throw Error(0, "\"" + name + "\": an allocation of " +
                       std::to_string(bytes) + " bytes");
  auto allocation = std::make_unique<Allocation>();
  uint64_t whole = std::max<uint64_t>(bytes, 1);
  allocation->owned.reset(new uint8_t[whole + 2 * kAlignment]);
  uint64_t begin = numberOf(allocation->owned.get());
  uint64_t skip = kAlignment - begin % kAlignment;
  allocation->data = allocation->owned.get() + skip;
  allocation->bytes = bytes;
  allocation->name = name;
  allocation->shadow.reset(new uint8_t[whole]);
  std::memset(allocation->data, 0xff, whole);
  std::memset(allocation->shadow.get(), 1, whole);
  void *data = allocation->data;
  insert(std::move(allocation));
  return data;
}

void Memory::add(void *data, uint64_t bytes, const std::string &name,
                 bool defined) {
  auto allocation = std::make_unique<Allocation>();
  allocation->data = static_cast<uint8_t *>(data);
  allocation->bytes = bytes;
  allocation->name = name;
  if (!defined) {
    allocation->shadow.reset(new uint8_t[std::max<uint64_t>(bytes, 1)]);
    std::memset(allocation->shadow.get(), 1, bytes);
  }
  insert(std::move(allocation));
}

void Memory::release(void *data) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  allocations.erase(
      std::remove_if(allocations.begin(), allocations.end(),
                     [&](const auto &a) { return a->data == data; }),
      allocations.end());
}

std::vector<const Allocation *> Memory::all() const {
  std::vector<const Allocation *> all;
  for (const auto &allocation : allocations)
    all.push_back(allocation.get());
  return all;
}

const Allocation *Memory::nearest(uint64_t address) const {
  auto after = std::upper_bound(
      allocations.begin(), allocations.end(), address,
      [](uint64_t address, const auto &a) { return address < a->address(); });
  if (after == allocations.begin())
    return nullptr;
  return std::prev(after)->get();
}

const Allocation *Memory::find(uint64_t address, uint64_t bytes) const {
  const Allocation *found = nearest(address);
  return found && found->contains(address, bytes) ? found : nullptr;
}

void Memory::mark(const void *data, uint64_t bytes, uint8_t value) {
  const Allocation *found = find(numberOf(data), bytes);
  if (!found)
    throw Error(0,
                std::to_string(bytes) + " bytes that belong to no allocation");
  if (found->shadow)
    std::memset(found->shadow.get() + (numberOf(data) - found->address()),
                value, bytes);
}

void Memory::markDefined(const void *data, uint64_t bytes) {
  mark(data, bytes, 0);
}

void Memory::markUndefined(const void *data, uint64_t bytes) {
  mark(data, bytes, 1);
}

void Memory::copyDefined(const Memory &other, const void *data,
                         uint64_t bytes) {
  const Allocation *from = other.find(numberOf(data), bytes);
  const Allocation *to = find(numberOf(data), bytes);
  if (!from || !from->shadow || !to || !to->shadow)
    return mark(data, bytes, 0);
  std::memcpy(to->shadow.get() + (numberOf(data) - to->address()),
              from->shadow.get() + (numberOf(data) - from->address()), bytes);
}

bool Memory::isDefined(const void *data, uint64_t bytes) const {
  const Allocation *found = find(numberOf(data), bytes);
  return found && (!found->shadow ||
                   !std::memchr(found->shadow.get() +
                                    (numberOf(data) - found->address()),
                                1, bytes));
}
