//===- GlobalRaces.h - unordered accesses to global memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each 4 bytes of global memory that a launch touches: the last write of
// the launch and one of the reads. Warps of one cluster are ordered as they are
// for shared memory (Order.h). Clusters are not ordered by anything, unless the
// kernel has an instruction that acquires or releases at the scope of the
// device: then they are taken as ordered.
//
// As in SharedRaces.h, hazards may be missed and none is invented.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_GLOBALRACES_H
#define MOE_LIB_EMULATOR_GLOBALRACES_H

#include "SharedRaces.h"

#include "moe/Emulator/Memory.h"

#include <atomic>
#include <memory>

namespace mlir::moe::emulator {

/// What is known of an allocation in one launch, page by page, from the first
/// touch on. Any number of host threads may use it at once.
class GlobalRecords {
public:
  explicit GlobalRecords(const Allocation &allocation);
  ~GlobalRecords();
  GlobalRecords(const GlobalRecords &) = delete;

  struct Word {
    std::atomic<uint64_t> write{0}, read{0};
  };
  Word &word(uint64_t address) {
    uint64_t index = (address - begin) / 4;
    Word *page = pages[index / kPageWords].load(std::memory_order_acquire);
    return (page ? page : addPage(index / kPageWords))[index % kPageWords];
  }

private:
  static constexpr uint64_t kPageWords = 1024;

  Word *addPage(uint64_t page);

  uint64_t begin;
  uint64_t count;
  std::unique_ptr<std::atomic<Word *>[]> pages;
};

/// A lane, or kSeveralLanes of them, reads or writes these bytes.
void noteGlobal(Warp &warp, const Instruction &i, GlobalRecords &records,
                const Allocation &allocation, uint8_t lane, uint64_t address,
                uint32_t bytes, AccessRole role);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_GLOBALRACES_H
