//===- Contract.h - what a kernel may do to a buffer -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_CONTRACT_H
#define MOE_EMULATOR_CONTRACT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mlir::moe::emulator {

/// What a launch promises about some bytes of global memory, beside staying
/// inside of its allocations. A launch with checks reports what breaks it.
struct BufferContract {
  std::string name;
  const void *data = nullptr;
  uint64_t bytes = 0;
  bool mayRead = true, mayWrite = true;
  /// Every byte is written at most once in the launch, or by atomic operations
  /// and reductions.
  bool once = false;
  /// Every byte outside of `untouched` is written.
  bool complete = false;
  /// Bytes [first, second) that nobody reads or writes: rows that are padding,
  /// weights of experts without rows.
  std::vector<std::pair<uint64_t, uint64_t>> untouched;
  /// How many equal pieces, experts for instance, the report counts one by one.
  uint32_t pieces = 1;
};

/// How a launch used the buffer of a contract.
struct BufferUse {
  std::string name;
  uint64_t bytesRead = 0, bytesWritten = 0;
  /// Bytes read of each piece; a byte that is read twice counts twice.
  std::vector<uint64_t> piecesRead;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_CONTRACT_H
