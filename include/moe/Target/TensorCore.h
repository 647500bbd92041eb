//===- TensorCore.h - what the tensor-core GEMM kernels take ----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one rule that selecting, checking and building a tensor-core kernel
// share, on plain data. Each function says what is wrong, in words that follow
// the name of an op or kernel, or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TARGET_TENSORCORE_H
#define MOE_TARGET_TENSORCORE_H

#include <cstdint>
#include <string>

namespace mlir::moe {

/// A tile row of a step along K is one 128-byte swizzle line.
inline constexpr int64_t kTileRowBytes = 128;
/// Elements of 16 bits in it.
inline constexpr int64_t kTileK = kTileRowBytes / 2;
/// Most columns of b in a tile.
inline constexpr int64_t kMaxTileColumns = 256;
/// A ring needs two stages to overlap loads with MMAs; more than 16 never help.
inline constexpr int64_t kMinStages = 2, kMaxStages = 16;
/// Bytes of one asynchronous copy, and of the smallest piece of one.
inline constexpr int64_t kCopyBytes = 16, kLeastCopyBytes = 4;

/// What a GEMM multiplies.
struct TensorCoreOperands {
  bool is16Bit = true;  // bf16 or f16
  bool sameType = true; // of a and b
  bool isNK = true;     // b is [E, N, K]
  int64_t n = 1, k = 1;
  /// Bytes that rows of a and of b start at multiples of.
  int64_t alignmentA = kCopyBytes, alignmentB = kCopyBytes;
  /// b is a slice of a buffer.
  bool isSliceB = false;
};

/// Why no tensor-core kernel takes the operands; empty if one does.
std::string refuseOperands(const TensorCoreOperands &operands);

/// Why those of wgmma do not take operands that others do; empty if they do.
std::string refuseWgmma(const TensorCoreOperands &operands);

/// How a kernel cuts them up.
struct TensorCoreTile {
  bool wgmma = false; // else mma.sync
  int64_t rows = 16;
  int64_t columns = 128; // of b
  int64_t parts = 1;     // 2 under a gated activation
  /// Rows of a block of the row table, 0 where there is none.
  int64_t block = 0;
};

/// Why no kernel has the tile; empty if one has.
std::string refuseTile(const TensorCoreTile &tile);

/// Warps of the kernel: four, and for wgmma four more per 64 rows.
int64_t warpsOfKernel(bool wgmma, int64_t rows);

} // namespace mlir::moe

#endif // MOE_TARGET_TENSORCORE_H
