//===- Expression.h - sizes as functions of the extents -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The EXPR of a manifest (include/moe/Bundle/Manifest.h), compiled once to a
// list of steps for a small stack machine. Arithmetic is exact in 64 bits with
// sign; what overflows, and a division by zero, is an error. floordiv rounds
// down, ceildiv up, and mod is a - floordiv(a, b) * b.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_EXPRESSION_H
#define MOE_LIB_RUNTIME_EXPRESSION_H

#include "JsonField.h"

#include "moe/Runtime/moe_runtime.h"

#include <string>
#include <vector>

namespace mlir::moe::runtime {

/// Names one extent of the arguments.
struct Dimension {
  uint32_t argument;
  uint32_t dim;
  bool operator==(const Dimension &other) const {
    return argument == other.argument && dim == other.dim;
  }
};

class Expression {
public:
  /// The constant 0.
  Expression() : Expression(0) {}
  explicit Expression(int64_t constant);

  /// Compiles what stands at `field`; `ranks` are those of the arguments.
  static Expression compile(const JsonField &field,
                            const std::vector<uint32_t> &ranks);

  /// The value under the extents of `args`; allocates only to fail.
  int64_t evaluate(const moe_tensor *args) const;

  bool isConstant() const;
  /// The value of a constant.
  int64_t constant() const { return steps.front().value; }
  /// Whether this is exactly one extent, and then which.
  bool isDimension(Dimension &dimension) const;
  /// Every extent that the value depends on.
  std::vector<Dimension> dimensions() const;
  /// For messages: "ceildiv(mul(args[0].shape[0], 8), 64)".
  std::string text() const;

private:
  enum class Op : uint8_t {
    Constant,
    Dim,
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Max,
    Min
  };
  struct Step {
    Op op;
    Dimension dimension;
    int64_t value;
  };
  /// Operands on the stack at once, and operators inside each other.
  static constexpr unsigned kMaxDepth = 64;
  static constexpr size_t kMaxSteps = 256;

  void append(const JsonField &field, const std::vector<uint32_t> &ranks,
              unsigned depth);
  static bool findOp(const std::string &name, Op &op);
  static const char *nameOf(Op op);
  static int64_t apply(Op op, int64_t lhs, int64_t rhs);

  std::vector<Step> steps;
};

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_EXPRESSION_H
