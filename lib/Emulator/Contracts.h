//===- Contracts.h - whether a launch keeps its contracts -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_CONTRACTS_H
#define MOE_LIB_EMULATOR_CONTRACTS_H

#include "moe/Emulator/Contract.h"
#include "moe/Emulator/Report.h"

#include <atomic>
#include <memory>

namespace mlir::moe::emulator {

class HazardSink;
struct Instruction;
struct Warp;

/// The contracts of one launch. Any number of host threads may use it at once.
class Contracts {
public:
  /// Throws Error for a range that is not inside of its buffer.
  explicit Contracts(const std::vector<BufferContract> &contracts);

  bool empty() const { return buffers.empty(); }
  /// One of `lanes` touches these bytes. `combines`: an atomic operation.
  void note(Warp &warp, const Instruction &i, uint32_t lanes, uint64_t address,
            uint64_t bytes, bool writes, bool combines);
  /// The launch is over: reports what it has not written.
  void finish(const std::string &kernel, HazardSink &hazards) const;
  std::vector<BufferUse> uses() const;

private:
  struct Buffer {
    BufferContract contract;
    uint64_t address;
    std::atomic<uint64_t> bytesRead{0}, bytesWritten{0};
    std::vector<std::atomic<uint64_t>> piecesRead;
    /// One for each byte, where the contract asks: 1 once it was written.
    std::unique_ptr<std::atomic<uint8_t>[]> written;
  };

  static void noteRead(Buffer &buffer, uint64_t first, uint64_t bytes);
  static void noteWrite(Buffer &buffer, Warp &warp, const Instruction &i,
                        uint32_t lanes, uint64_t first, uint64_t bytes,
                        bool combines);

  std::vector<std::unique_ptr<Buffer>> buffers;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_CONTRACTS_H
