//===- OperandChecks.h - checks that the verifiers share -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_MOE_OPERANDCHECKS_H
#define MOE_LIB_MOE_OPERANDCHECKS_H

#include "moe/MoE/MoEDialect.h"

#include "llvm/Support/MathExtras.h"

/// Returns failure from a verifier once a check failed.
#define VERIFY(check)                                                          \
  do {                                                                         \
    if (failed(check))                                                         \
      return failure();                                                        \
  } while (false)

namespace mlir::moe {

/// The largest number of experts an op accepts.
constexpr int64_t kMaxExperts = 4096;
/// The largest height of a block of rows.
constexpr int64_t kMaxBlock = 256;

/// One operand with the name it has in the documentation.
struct Named {
  Value value;
  StringRef name;

  ShapedType type() const { return cast<ShapedType>(value.getType()); }
  int64_t dim(unsigned i) const { return type().getDimSize(i); }
};

/// Emits errors of the form "requires <rule>, but got <found> (<number>)" at
/// one op. Every check returns failure after emitting.
class OperandChecks {
public:
  explicit OperandChecks(Operation *op) : op(op) {}

  /// Operands are all tensors with one result per destination, or all memrefs
  /// without results. Tensors have no encoding.
  LogicalResult tensorsOrMemrefs();
  /// No destination is another operand as well, unless the op works in place.
  LogicalResult ownDestinations(StringRef number);
  /// The named operands have one value each. The generic form may claim any
  /// split of the operands, and MLIR only checks the optional ones; to be
  /// called before an accessor of an operand.
  LogicalResult
  singleOperands(ArrayRef<int32_t> segments,
                 ArrayRef<std::pair<unsigned, StringRef>> singles);
  LogicalResult rank(Named operand, int64_t rank, StringRef number);
  /// f32, bf16 or f16.
  LogicalResult floatType(Named operand, StringRef number);
  LogicalResult f32Type(Named operand, StringRef number);
  LogicalResult i32Type(Named operand, StringRef number);
  LogicalResult sameType(Named operand, Named other, StringRef number);
  /// Dimension `i` of `operand` is static.
  LogicalResult isStatic(Named operand, unsigned i, StringRef extent,
                         StringRef number);
  /// Dimension `i` of `operand` is `expected` where both are static. `other`
  /// is where `expected` was found.
  LogicalResult extent(Named operand, unsigned i, int64_t expected,
                       StringRef meaning, Named other, StringRef number);
  /// As `extent`, where `expected` comes from an attribute.
  LogicalResult extent(Named operand, unsigned i, int64_t expected,
                       StringRef meaning, StringRef number);
  /// As `extent`, for numbers that no run decides: the extent has to be static.
  LogicalResult fixedExtent(Named operand, unsigned i, int64_t expected,
                            StringRef meaning, Named other, StringRef number);
  LogicalResult fixedExtent(Named operand, unsigned i, int64_t expected,
                            StringRef meaning, StringRef number);
  /// `value`, called `what`, lies in [low, high].
  LogicalResult range(int64_t value, StringRef what, int64_t low, int64_t high,
                      StringRef number);
  LogicalResult powerOfTwoBlock(int64_t block, StringRef number);
  LogicalResult finite(const APFloat &value, StringRef what, StringRef number);

private:
  Operation *op;
};

/// `a + b` and `a * b` of static extents, the largest int64 where that is
/// exceeded: no real buffer has that extent, so that comparisons still fail.
inline int64_t addSaturated(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max()
                                      : sum;
}
inline int64_t mulSaturated(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max()
                                          : product;
}

/// `a * b` saturated, dynamic if one of them is.
inline int64_t mulExtents(int64_t a, int64_t b) {
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
    return ShapedType::kDynamic;
  return mulSaturated(a, b);
}

/// `a / b`, dynamic if one of them is.
inline int64_t divExtents(int64_t a, int64_t b) {
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || b == 0)
    return ShapedType::kDynamic;
  return a / b;
}

} // namespace mlir::moe

#endif // MOE_LIB_MOE_OPERANDCHECKS_H
