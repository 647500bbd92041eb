//===- Target.cpp - the facts of the supported chips ------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources, by the letter in the comments of the table:
//
//   (G) CUDA C++ Programming Guide, appendix "Compute Capabilities", table
//       "Technical Specifications per Compute Capability"; the reserved
//       kilobyte of a block is in the section of each capability.
//   (O) the occupancy calculator of the CUDA toolkit: unit of register
//       allocation.
//   (P) PTX ISA: target notes of each instruction.
//   (A) NVIDIA A100 architecture white paper and A100 80 GB SXM data sheet.
//   (L) NVIDIA Ada architecture white paper and L40S data sheet.
//   (H) NVIDIA H100 architecture white paper; H100 SXM and H200 SXM data
//       sheets.
//   (M) measured on one H200: 4.62 TB/s of 4.8 when weights are streamed;
//       taken for the other rows as 0.93 of the data sheet.
//   (N) 8.8 TB/s from L2 seen on one H200 at about 1.65 GHz, over 132 SMs;
//       taken for the other rows too.
//   (D) derived: dense tensor peak / (SMs * boost clock).
//   (B) mma.sync reaches about 0.62 of the wgmma peak on Hopper in published
//       microbenchmarks.
//
//===----------------------------------------------------------------------===//

#include "moe/Target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::moe;

static constexpr int64_t kKB = 1024;
static constexpr int64_t kMB = 1024 * kKB;

static const Target targets[] = {
    {
        /*arch=*/"sm_80",
        /*product=*/"A100 80GB SXM",
        /*ptxFeatures=*/"+ptx80",
        /*sharedPerSM=*/164 * kKB,            // (G)
        /*sharedPerBlock=*/163 * kKB,         // (G)
        /*sharedStatic=*/48 * kKB,            // (G)
        /*sharedReserved=*/1 * kKB,           // (G)
        /*registersPerSM=*/65536,             // (G)
        /*registersPerThread=*/255,           // (G)
        /*registerUnit=*/256,                 // (O)
        /*threadsPerSM=*/2048,                // (G)
        /*threadsPerBlock=*/1024,             // (G)
        /*blocksPerSM=*/32,                   // (G)
        /*hasCpAsync=*/true,                  // (P)
        /*hasMmaBF16=*/true,                  // (P)
        /*hasMmaFP8=*/false,                  // (P)
        /*hasTma=*/false,                     // (P)
        /*hasWgmma=*/false,                   // (P)
        /*hasCluster=*/false,                 // (P)
        /*numSMs=*/108,                       // (A)
        /*l2Bytes=*/40 * kMB,                 // (A)
        /*l2BytesPerClock=*/40,               // (N)
        /*dramBytesPerSecond=*/2039000000000, // (A)
        /*dramEfficiency=*/0.93,              // (M)
        /*clockHz=*/1410000000,               // (A)
        /*mmaSyncFlopsPerClock=*/2048,        // (A) 312 TFLOP/s, (D)
        /*wgmmaFlopsPerClock=*/0,
        /*wgmmaFP8FlopsPerClock=*/0,
        /*simtFlopsPerClock=*/128, // (G) 64 f32 lanes
    },
    {
        /*arch=*/"sm_89",
        /*product=*/"L40S",
        /*ptxFeatures=*/"+ptx80",
        /*sharedPerSM=*/100 * kKB,           // (G)
        /*sharedPerBlock=*/99 * kKB,         // (G)
        /*sharedStatic=*/48 * kKB,           // (G)
        /*sharedReserved=*/1 * kKB,          // (G)
        /*registersPerSM=*/65536,            // (G)
        /*registersPerThread=*/255,          // (G)
        /*registerUnit=*/256,                // (O)
        /*threadsPerSM=*/1536,               // (G)
        /*threadsPerBlock=*/1024,            // (G)
        /*blocksPerSM=*/24,                  // (G)
        /*hasCpAsync=*/true,                 // (P)
        /*hasMmaBF16=*/true,                 // (P)
        /*hasMmaFP8=*/true,                  // (P)
        /*hasTma=*/false,                    // (P)
        /*hasWgmma=*/false,                  // (P)
        /*hasCluster=*/false,                // (P)
        /*numSMs=*/142,                      // (L)
        /*l2Bytes=*/96 * kMB,                // (L)
        /*l2BytesPerClock=*/40,              // (N)
        /*dramBytesPerSecond=*/864000000000, // (L)
        /*dramEfficiency=*/0.93,             // (M)
        /*clockHz=*/2520000000,              // (L)
        /*mmaSyncFlopsPerClock=*/1024,       // (L) 362 TFLOP/s, (D)
        /*wgmmaFlopsPerClock=*/0,
        /*wgmmaFP8FlopsPerClock=*/0,
        /*simtFlopsPerClock=*/256, // (G) 128 f32 lanes
    },
    // sm_90 without "a" is what runs on later chips too: TMA and clusters, but
    // no wgmma.
    {
        /*arch=*/"sm_90",
        /*product=*/"H100 SXM",
        /*ptxFeatures=*/"+ptx80",
        /*sharedPerSM=*/228 * kKB,            // (G)
        /*sharedPerBlock=*/227 * kKB,         // (G)
        /*sharedStatic=*/48 * kKB,            // (G)
        /*sharedReserved=*/1 * kKB,           // (G)
        /*registersPerSM=*/65536,             // (G)
        /*registersPerThread=*/255,           // (G)
        /*registerUnit=*/256,                 // (O)
        /*threadsPerSM=*/2048,                // (G)
        /*threadsPerBlock=*/1024,             // (G)
        /*blocksPerSM=*/32,                   // (G)
        /*hasCpAsync=*/true,                  // (P)
        /*hasMmaBF16=*/true,                  // (P)
        /*hasMmaFP8=*/false,                  // ptxas splits it into f16 MMAs
        /*hasTma=*/true,                      // (P)
        /*hasWgmma=*/false,                   // (P) wgmma needs sm_90a
        /*hasCluster=*/true,                  // (P)
        /*numSMs=*/132,                       // (H)
        /*l2Bytes=*/50 * kMB,                 // (H)
        /*l2BytesPerClock=*/40,               // (N)
        /*dramBytesPerSecond=*/3350000000000, // (H)
        /*dramEfficiency=*/0.93,              // (M)
        /*clockHz=*/1830000000,               // (D) the clock of the peak
        /*mmaSyncFlopsPerClock=*/2540,        // (B) 0.62 * 4096
        /*wgmmaFlopsPerClock=*/0,
        /*wgmmaFP8FlopsPerClock=*/0,
        /*simtFlopsPerClock=*/256, // (G) 128 f32 lanes
    },
    {
        /*arch=*/"sm_90a",
        /*product=*/"H200 SXM",
        /*ptxFeatures=*/"+ptx80",
        /*sharedPerSM=*/228 * kKB,            // (G)
        /*sharedPerBlock=*/227 * kKB,         // (G)
        /*sharedStatic=*/48 * kKB,            // (G)
        /*sharedReserved=*/1 * kKB,           // (G)
        /*registersPerSM=*/65536,             // (G)
        /*registersPerThread=*/255,           // (G)
        /*registerUnit=*/256,                 // (O)
        /*threadsPerSM=*/2048,                // (G)
        /*threadsPerBlock=*/1024,             // (G)
        /*blocksPerSM=*/32,                   // (G)
        /*hasCpAsync=*/true,                  // (P)
        /*hasMmaBF16=*/true,                  // (P)
        /*hasMmaFP8=*/false,                  // ptxas splits it into f16 MMAs
        /*hasTma=*/true,                      // (P)
        /*hasWgmma=*/true,                    // (P)
        /*hasCluster=*/true,                  // (P)
        /*numSMs=*/132,                       // (H)
        /*l2Bytes=*/50 * kMB,                 // (H)
        /*l2BytesPerClock=*/40,               // (N)
        /*dramBytesPerSecond=*/4800000000000, // (H)
        /*dramEfficiency=*/0.9625,            // (M) 4.62 TB/s
        /*clockHz=*/1830000000,               // (D) the clock of the peak
        /*mmaSyncFlopsPerClock=*/2540,        // (B) 0.62 * 4096
        /*wgmmaFlopsPerClock=*/4096,          // (H) 989.4 TFLOP/s, (D)
        /*wgmmaFP8FlopsPerClock=*/8192,       // (H) 1979 TFLOP/s, (D)
        /*simtFlopsPerClock=*/256,            // (G) 128 f32 lanes
    },
};

const Target *mlir::moe::lookupTarget(llvm::StringRef arch) {
  const Target *row = llvm::find_if(
      targets, [&](const Target &target) { return target.arch == arch; });
  return row == std::end(targets) ? nullptr : row;
}

const Target *mlir::moe::lookupTarget(Location loc, llvm::StringRef arch) {
  const Target *target = lookupTarget(arch);
  if (!target)
    emitError(loc) << "no target '" << arch << "'; supported are "
                   << supportedArchs()
                   << (arch.contains(',')
                           ? "; the options of a pass are separated by blanks"
                           : "");
  return target;
}

llvm::ArrayRef<Target> mlir::moe::allTargets() { return targets; }

std::string mlir::moe::supportedArchs() {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Target &target : targets)
    names.push_back(target.arch);
  return llvm::join(names, ", ");
}
