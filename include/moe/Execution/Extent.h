//===- Extent.h - an extent that may hang on a free one ---------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_EXTENT_H
#define MOE_EXECUTION_EXTENT_H

#include <cstdint>
#include <optional>

namespace mlir::moe {

/// A number, or `factor * symbol + offset` of one symbol that stands for an
/// extent nobody knows yet. Whatever else an extent may be is no Extent: every
/// operation gives none where the result has another form or leaves 64 bits.
class Extent {
public:
  Extent(int64_t number) : constant(number) {}
  static Extent symbol(unsigned symbol) { return Extent(1, symbol, 0); }

  bool isNumber() const { return slope == 0; }
  /// The number, where it is one.
  std::optional<int64_t> number() const {
    return isNumber() ? std::optional(constant) : std::nullopt;
  }
  /// The parts of `factor * symbol + offset`; factor 0 for a number.
  int64_t factor() const { return slope; }
  unsigned symbol() const { return name; }
  int64_t offset() const { return constant; }

  bool operator==(const Extent &other) const {
    return slope == other.slope && constant == other.constant &&
           (slope == 0 || name == other.name);
  }
  bool operator!=(const Extent &other) const { return !(*this == other); }

  friend std::optional<Extent> add(Extent a, Extent b);
  friend std::optional<Extent> subtract(Extent a, Extent b);
  friend std::optional<Extent> multiply(Extent a, Extent b);
  /// `a / divisor` where that leaves no remainder, whatever the symbol is.
  friend std::optional<Extent> divideExactly(Extent a, int64_t divisor);

private:
  Extent(int64_t factor, unsigned symbol, int64_t offset)
      : slope(factor), name(factor == 0 ? 0 : symbol), constant(offset) {}

  int64_t slope = 0;
  unsigned name = 0;
  int64_t constant = 0;
};

std::optional<Extent> add(Extent a, Extent b);
std::optional<Extent> subtract(Extent a, Extent b);
std::optional<Extent> multiply(Extent a, Extent b);
std::optional<Extent> divideExactly(Extent a, int64_t divisor);

} // namespace mlir::moe

#endif // MOE_EXECUTION_EXTENT_H
