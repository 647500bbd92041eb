//===- AccessChecks.h - what every access of a checked run passes -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_ACCESSCHECKS_H
#define MOE_LIB_EMULATOR_ACCESSCHECKS_H

#include "Contracts.h"
#include "GlobalRaces.h"

#include <unordered_map>

namespace mlir::moe::emulator {

struct Access;
enum class AccessKind : uint8_t;
struct Program;

/// What the checks of one launch remember of global memory.
class LaunchChecks {
public:
  LaunchChecks(const Program &program, const Memory &memory,
               const std::vector<BufferContract> &contracts);

  /// Null for memory that is in no allocation.
  GlobalRecords *recordsOf(const Allocation *allocation) const {
    auto found = records.find(allocation);
    return found == records.end() ? nullptr : found->second.get();
  }

  Contracts contracts;
  /// Whether some instruction orders blocks that are not in one cluster.
  bool ordersClusters;

private:
  std::unordered_map<const Allocation *, std::unique_ptr<GlobalRecords>>
      records;
};

/// The running lanes of a warp access `bytes` bytes each, where `access` says.
/// Reports races and broken contracts.
void checkAccess(Warp &warp, const Instruction &i, AccessKind kind,
                 uint32_t bytes, const Access &access);

/// The same of global memory that a bulk copy of a lane reads or writes, with
/// `combines` by a reduction.
void checkBulkAccess(Warp &warp, const Instruction &i, uint32_t lane,
                     uint64_t address, uint64_t bytes, bool writes,
                     bool combines);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_ACCESSCHECKS_H
