//===- Launch.h - run a kernel -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_LAUNCH_H
#define MOE_EMULATOR_LAUNCH_H

#include "moe/Emulator/Contract.h"
#include "moe/Emulator/Memory.h"
#include "moe/Emulator/Module.h"
#include "moe/Emulator/Report.h"

#include <cstring>

namespace mlir::moe::emulator {

struct Launch {
  std::shared_ptr<const Module> module;
  std::string entry;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  /// 0: what the entry says.
  uint32_t cluster[3] = {0, 0, 0};
  /// Of dynamic shared memory.
  uint32_t sharedBytes = 0;
  /// The parameter block; EntryInfo says what is where.
  std::vector<uint8_t> parameters;
  /// Undefined data, races, fences. Bounds and alignment are always checked.
  bool checks = true;
  /// A store to global memory of what was computed from undefined bytes of
  /// global memory passes them on instead of being a hazard. Holds where they
  /// can come from nowhere else: in a kernel without shared memory that reads
  /// no register before it is written. A copy of rows that nobody wrote is such
  /// a kernel.
  bool carriesUndefined = false;
  /// What it promises about buffers; for a launch with checks.
  std::vector<BufferContract> contracts;
  /// 0: warps take turns; else they run in a random order that the seed fixes.
  uint64_t seed = 0;
  /// A block that runs more instructions than this, over all of its warps, is
  /// stopped.
  uint64_t maxInstructions = uint64_t(1) << 31;
  size_t maxHazards = 16;
  /// Host threads; 0: all processors.
  unsigned threads = 0;

  template <typename T>
  void setParameter(size_t index, const T &value) {
    setParameter(index, static_cast<const void *>(&value), sizeof(T));
  }
  /// Throws Error when the entry has no such parameter or it has another size.
  void setParameter(size_t index, const void *value, size_t bytes);
};

/// Runs all blocks. Throws Error when the launch does not fit the entry; what
/// goes wrong while it runs is in the report.
Report run(const Launch &launch, const Memory &memory);

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_LAUNCH_H
