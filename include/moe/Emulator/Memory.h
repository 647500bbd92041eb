//===- Memory.h - global memory of the emulated device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_MEMORY_H
#define MOE_EMULATOR_MEMORY_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mlir::moe::emulator {

/// Bytes that kernels may touch. Addresses are those of the host: kernels read
/// and write the very memory.
struct Allocation {
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  std::string name;
  /// One byte for each of `data`: 1 where nothing was written yet. Null where
  /// all is defined and stays so.
  std::unique_ptr<uint8_t[]> shadow;
  /// Of memory that `allocate` took.
  std::unique_ptr<uint8_t[]> owned;

  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }
  bool contains(uint64_t at, uint64_t size) const {
    return at >= address() && size <= bytes && at - address() <= bytes - size;
  }
};

/// The allocations. May be changed while no kernel runs; any number of threads
/// may look things up.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Memory of undefined contents, 256-byte aligned. It is filled with 0xff:
  /// NaN for every float type, -1 for integers.
  void *allocate(uint64_t bytes, const std::string &name);
  void release(void *data) noexcept;

  /// Lets kernels use memory of the caller, who keeps it alive until `release`.
  /// Throws Error when it overlaps what is there.
  void add(void *data, uint64_t bytes, const std::string &name,
           bool defined = true);

  /// Says that the host has written, or forgotten, these bytes.
  void markDefined(const void *data, uint64_t bytes);
  void markUndefined(const void *data, uint64_t bytes);
  /// Makes these bytes, which lie in one allocation here and in `other`, as
  /// defined as they are there.
  void copyDefined(const Memory &other, const void *data, uint64_t bytes);
  /// Whether all of these bytes were written.
  bool isDefined(const void *data, uint64_t bytes) const;

  std::vector<const Allocation *> all() const;
  /// The allocation that holds `address`; the one before it, if any, where none
  /// does. Null where there is neither.
  const Allocation *nearest(uint64_t address) const;
  /// The allocation that holds all of these bytes, or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;

private:
  void insert(std::unique_ptr<Allocation> allocation);
  void mark(const void *data, uint64_t bytes, uint8_t value);

  mutable std::mutex mutex;
  /// By address.
  std::vector<std::unique_ptr<Allocation>> allocations;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_MEMORY_H
