//===- Report.h - what a run found and counted -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_REPORT_H
#define MOE_EMULATOR_REPORT_H

#include "moe/Emulator/Contract.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::moe::emulator {

enum class HazardKind {
  OutOfBounds,
  Misaligned,
  Undefined,
  Race,
  MissingProxyFence,
  MatrixInFlight,
  CopyInFlight,
  Deadlock,
  BarrierMisuse,
  Contract,
  Divergence,
  TensorMap,
  InvalidValue,
  Trap,
  Limit,
};

/// "out of bounds", "race", ...
const char *nameOf(HazardKind kind);

/// One thing that is wrong, at the first place where it was seen.
struct Hazard {
  HazardKind kind;
  std::string kernel;
  /// Of the PTX text, from 1.
  uint32_t line = 0;
  /// The opcode with its modifiers.
  std::string instruction;
  /// "file.mlir:12:3" where the PTX has .loc, else empty.
  std::string location;
  uint32_t block[3] = {0, 0, 0};
  uint32_t thread[3] = {0, 0, 0};
  std::string message;
  /// How often it was seen in the run, at this instruction.
  uint64_t count = 1;
  /// Of the schedule; 0: round-robin.
  uint64_t seed = 0;

  /// One or two lines of text.
  std::string format() const;
};

/// One instruction of the program and how often it ran.
struct InstructionCount {
  uint32_t line;
  std::string name;
  /// By warps, and by threads.
  uint64_t warps;
  uint64_t threads;
};

struct Counts {
  uint64_t warpInstructions = 0;
  uint64_t threadInstructions = 0;
  /// Thread instructions by class: "integer", "float", ...
  std::vector<std::pair<std::string, uint64_t>> byClass;
  uint64_t globalBytesRead = 0, globalBytesWritten = 0;
  uint64_t sharedBytesRead = 0, sharedBytesWritten = 0;
  /// 32-byte pieces of global memory that loads, stores, atomics and cp.async
  /// of a warp touch: each counts once for an instruction.
  uint64_t sectors = 0;
  /// Passes over shared memory that these and loads and stores of matrices take
  /// beyond those without a conflict: one for up to 4 bytes of each lane, two
  /// for 8, four for 16.
  uint64_t bankConflicts = 0;
  /// Multiply-adds of mma and wgmma.
  uint64_t matrixMultiplyAdds = 0;
  uint64_t barrierWaits = 0;

  void add(const Counts &other);
};

struct Report {
  std::vector<Hazard> hazards;
  Counts counts;
  /// One for each contract of the launch.
  std::vector<BufferUse> buffers;
  double seconds = 0;

  bool clean() const { return hazards.empty(); }
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_REPORT_H
