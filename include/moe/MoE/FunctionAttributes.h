//===- FunctionAttributes.h - what moe says about functions -----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes of functions and their arguments:
//
//   moe.token_ranges = [[1, 16], [17, 128], [129, -1]]
//     Written by the user: a variant for each range. Ascending, disjoint, both
//     ends included; the first starts at 0 or 1, the last may end in -1, which
//     is no upper end.
//   moe.token_range = [17, 128], moe.variant_of = "layer"
//     Left by moe-split-token-ranges on each variant.
//   moe.argument = #moe.argument<...>
//     Left by moe-describe-arguments on arguments and results.
//   moe.alignment = 2 : i64
//     Written by the user on an argument or result: the bytes that its address
//     is a multiple of, a power of two; without it 16. Less than 16 makes
//     kernels access the buffer in smaller pieces.
//   moe.written
//     Left by moe-outline-kernels on each argument that a kernel writes.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_MOE_FUNCTIONATTRIBUTES_H
#define MOE_MOE_FUNCTIONATTRIBUTES_H

#include "moe/MoE/MoEDialect.h"

#include <optional>

namespace mlir {
class FunctionOpInterface;
} // namespace mlir

namespace mlir::moe {

inline constexpr llvm::StringLiteral kTokenRanges = "moe.token_ranges";
inline constexpr llvm::StringLiteral kTokenRange = "moe.token_range";
inline constexpr llvm::StringLiteral kVariantOf = "moe.variant_of";
inline constexpr llvm::StringLiteral kArgument = "moe.argument";
inline constexpr llvm::StringLiteral kAlignment = "moe.alignment";
inline constexpr llvm::StringLiteral kWritten = "moe.written";

/// Numbers of tokens from `lo` to `hi`, both included.
struct TokenRange {
  int64_t lo = 0;
  /// -1: no upper end.
  int64_t hi = -1;

  bool isBounded() const { return hi != -1; }
  bool operator==(const TokenRange &other) const {
    return lo == other.lo && hi == other.hi;
  }
};

/// The range that a pair of the attributes above holds; none for anything else.
std::optional<TokenRange> tokenRange(Attribute attr);
Attribute tokenRangeAttr(MLIRContext *context, TokenRange range);

/// Extent `dimension` of argument `argument`.
struct ArgumentExtent {
  int64_t argument, dimension;
};

/// What "tokens" means in the attributes above: the first dynamic extent of the
/// arguments. None where every extent is static.
std::optional<ArgumentExtent> tokensOf(FunctionOpInterface function);

} // namespace mlir::moe

#endif // MOE_MOE_FUNCTIONATTRIBUTES_H
