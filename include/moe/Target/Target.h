//===- Target.h - the facts of the supported chips --------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of chip numbers: a row per architecture. Passes ask for a row
// by name and read its fields; nothing else in the project holds a number of
// a chip or compares compute capabilities.
//
// Limits (shared memory, registers, threads) hold for every chip of the
// architecture. Sizes and rates (multiprocessors, L2, bandwidth, clocks) are
// those of one product, named in `product`; they rank schedules and never
// decide whether a kernel is legal.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TARGET_TARGET_H
#define MOE_TARGET_TARGET_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::moe {

/// One architecture. Bytes are bytes (1 KB = 1024), rates are per second or
/// per clock and multiprocessor (SM) as said.
struct Target {
  llvm::StringLiteral arch;        // as in -arch of ptxas
  llvm::StringLiteral product;     // whose sizes and rates the row holds
  llvm::StringLiteral ptxFeatures; // of #nvvm.target: the oldest PTX that has
                                   // every instruction we emit

  // Limits of the architecture.
  int64_t sharedPerSM;    // bytes
  int64_t sharedPerBlock; // bytes a block may ask for, opt-in
  int64_t sharedStatic;   // bytes a block may use without opt-in
  int64_t sharedReserved; // bytes the system takes of each resident block
  int64_t registersPerSM; // 32-bit registers
  int64_t registersPerThread;
  int64_t registerUnit; // registers are given to warps in such units
  int64_t threadsPerSM;
  int64_t threadsPerBlock;
  int64_t blocksPerSM;

  // Instructions.
  bool hasCpAsync; // 16-byte asynchronous copies to shared memory
  bool hasMmaBF16; // bf16 and f16 mma.sync with f32 accumulators
  bool hasMmaFP8;  // mma.sync of fp8 at fp8 rate
  bool hasTma;     // tensor maps, bulk copies, mbarrier transaction counts
  bool hasWgmma;   // warpgroup MMA, setmaxnreg
  bool hasCluster; // thread block clusters

  // Sizes and rates of the product.
  int64_t numSMs;
  int64_t l2Bytes;
  int64_t l2BytesPerClock;       // L2 to one SM
  int64_t dramBytesPerSecond;    // data sheet
  double dramEfficiency;         // share of it that a streaming kernel gets
  int64_t clockHz;               // boost clock
  int64_t mmaSyncFlopsPerClock;  // per SM, bf16 or f16, dense
  int64_t wgmmaFlopsPerClock;    // the same, 0 without wgmma
  int64_t wgmmaFP8FlopsPerClock; // 0 without wgmma
  int64_t simtFlopsPerClock;     // per SM, f32 fma counted as two
};

/// The row of `arch` ("sm_90a"), or null where the table has none.
const Target *lookupTarget(llvm::StringRef arch);

/// As above; an error at `loc` that lists the rows where the table has none.
const Target *lookupTarget(Location loc, llvm::StringRef arch);

/// All rows, oldest architecture first.
llvm::ArrayRef<Target> allTargets();

/// "sm_80, sm_89, sm_90, sm_90a": for messages about an unknown name.
std::string supportedArchs();

} // namespace mlir::moe

#endif // MOE_TARGET_TARGET_H
