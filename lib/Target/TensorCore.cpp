//===- TensorCore.cpp - what the tensor-core GEMM kernels take --*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Target/TensorCore.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::moe;

/// Rows of `name` that start at multiples of fewer bytes than the `needed`.
static std::string refuseAlignment(const char *name, int64_t k,
                                   int64_t alignment, int64_t needed) {
  if (alignment % needed == 0)
    return "";
  return llvm::formatv("rows of {0} (K = {1}) start at multiples of {2} bytes, "
                       "but have to at multiples of {3}",
                       name, k, alignment, needed);
}

std::string moe::refuseWgmma(const TensorCoreOperands &operands) {
  if (operands.isSliceB)
    return "b is a slice of a buffer, which no tensor map describes";
  std::string reason =
      refuseAlignment("b", operands.k, operands.alignmentB, kCopyBytes);
  return reason.empty()
             ? refuseAlignment("a", operands.k, operands.alignmentA, kCopyBytes)
             : reason;
}

std::string moe::refuseOperands(const TensorCoreOperands &operands) {
  if (!operands.sameType)
    return "a and b have different types";
  if (!operands.is16Bit)
    return "f32 rows are multiplied exactly, without tensor cores";
  if (!operands.isNK)
    return "b is laid out as [K, N], the tensor-core kernels read [N, K]";
  if (operands.k == 0 || operands.n == 0)
    return "there is nothing to multiply";
  std::string reason =
      refuseAlignment("b", operands.k, operands.alignmentB, kLeastCopyBytes);
  return reason.empty() ? refuseAlignment("a", operands.k, operands.alignmentA,
                                          kLeastCopyBytes)
                        : reason;
}

std::string moe::refuseTile(const TensorCoreTile &tile) {
  const char *family = tile.wgmma ? "wgmma" : "mma_sync";
  int64_t rows = tile.rows, columns = tile.columns;
  bool legalRows =
      tile.wgmma ? rows == 64 || rows == 128 : rows == 16 || rows == 32;
  if (!legalRows)
    return llvm::formatv("requires tiles of {0} rows for mma = {1}, but got "
                         "{2}",
                         tile.wgmma ? "64 or 128" : "16 or 32", family, rows);
  // Four warps share the columns of c 16 by 16; a wgmma has them in eights. A
  // gated activation needs as many columns of b for gate as for up.
  int64_t step = (tile.wgmma ? 8 : 64) * tile.parts;
  if (columns < step || columns > kMaxTileColumns || columns % step != 0)
    return llvm::formatv(
        "requires tiles of {0} to {1} columns in steps of {0} for mma = "
        "{2}{3}, but got {4}",
        step, kMaxTileColumns, family,
        tile.parts == 2 ? " with a gated activation" : "", columns);
  // A tile of 16 rows also computes one shorter block.
  bool shortBlock = tile.block < 16 && rows == 16;
  if (tile.block % rows != 0 && !shortBlock)
    return llvm::formatv(
        "requires its blocks of {0} rows to be made of whole tiles, but got "
        "tiles of {1} rows; write {2}",
        tile.block, rows,
        tile.block >= 64 && tile.wgmma ? "a tile of 64 rows"
        : tile.block >= 32             ? "mma = mma_sync and a tile of 32 rows"
                           : "mma = mma_sync and a tile of 16 rows");
  return "";
}

int64_t moe::warpsOfKernel(bool wgmma, int64_t rows) {
  return wgmma ? 4 + 4 * (rows / 64) : 4;
}
