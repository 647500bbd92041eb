//===- OperandChecks.cpp - checks that the verifiers share -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandChecks.h"

using namespace mlir;
using namespace mlir::moe;

LogicalResult OperandChecks::tensorsOrMemrefs() {
  auto dps = cast<DestinationStyleOpInterface>(op);
  bool anyTensor = false, anyMemref = false;
  for (Value operand : op->getOperands()) {
    anyTensor |= isa<TensorType>(operand.getType());
    anyMemref |= isa<MemRefType>(operand.getType());
  }
  if (anyTensor && anyMemref)
    return op->emitOpError(
        "requires its operands to be all tensors or all memrefs, but got both");
  for (Value operand : op->getOperands()) {
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    if (tensor && tensor.getEncoding())
      return op->emitOpError("requires tensors without an encoding, but got ")
             << tensor;
  }
  int64_t results = anyTensor ? dps.getNumDpsInits() : 0;
  if (static_cast<int64_t>(op->getNumResults()) != results)
    return op->emitOpError("requires one result per destination on tensors and "
                           "none on memrefs, but got ")
           << op->getNumResults() << " results for " << dps.getNumDpsInits()
           << " destinations";
  return success();
}

LogicalResult OperandChecks::ownDestinations(StringRef number) {
  auto shared = detail::sharedDestination(op);
  if (!shared)
    return success();
  auto [destination, other] = *shared;
  return op->emitOpError("requires destinations that overlap no other operand, "
                         "but operands #")
         << other->getOperandNumber() << " and #"
         << destination->getOperandNumber()
         << " are one memref; pass a buffer of its own (" << number << ")";
}

LogicalResult OperandChecks::singleOperands(
    ArrayRef<int32_t> segments,
    ArrayRef<std::pair<unsigned, StringRef>> singles) {
  for (auto [segment, name] : singles)
    if (segments[segment] != 1)
      return op->emitOpError("requires operandSegmentSizes to hold 1 for ")
             << name << ", but got " << segments[segment];
  return success();
}

LogicalResult OperandChecks::rank(Named operand, int64_t rank,
                                  StringRef number) {
  if (operand.type().getRank() == rank)
    return success();
  return op->emitOpError("requires ")
         << operand.name << " to have rank " << rank << ", but got "
         << operand.type() << " (" << number << ")";
}

LogicalResult OperandChecks::floatType(Named operand, StringRef number) {
  Type type = operand.type().getElementType();
  if (type.isF32() || type.isBF16() || type.isF16())
    return success();
  return op->emitOpError("requires ")
         << operand.name << " to be f32, bf16 or f16, but got " << type << " ("
         << number << ")";
}

LogicalResult OperandChecks::f32Type(Named operand, StringRef number) {
  Type type = operand.type().getElementType();
  if (type.isF32())
    return success();
  return op->emitOpError("requires ") << operand.name << " to be f32, but got "
                                      << type << " (" << number << ")";
}

LogicalResult OperandChecks::i32Type(Named operand, StringRef number) {
  Type type = operand.type().getElementType();
  if (type.isSignlessInteger(32))
    return success();
  return op->emitOpError("requires ") << operand.name << " to be i32, but got "
                                      << type << " (" << number << ")";
}

LogicalResult OperandChecks::sameType(Named operand, Named other,
                                      StringRef number) {
  Type type = operand.type().getElementType();
  Type expected = other.type().getElementType();
  if (type == expected)
    return success();
  InFlightDiagnostic diag = op->emitOpError("requires ")
                            << operand.name << " to have the element type of "
                            << other.name << ", but got " << type << " and "
                            << expected << " (" << number << ")";
  diag.attachNote(other.value.getLoc()) << other.name << " is defined here";
  return diag;
}

LogicalResult OperandChecks::isStatic(Named operand, unsigned i,
                                      StringRef extent, StringRef number) {
  if (!ShapedType::isDynamic(operand.dim(i)))
    return success();
  return op->emitOpError("requires ")
         << extent << ", dimension " << i << " of " << operand.name
         << ", to be static, but got " << operand.type() << " (" << number
         << ")";
}

LogicalResult OperandChecks::extent(Named operand, unsigned i, int64_t expected,
                                    StringRef meaning, Named other,
                                    StringRef number) {
  int64_t found = operand.dim(i);
  if (ShapedType::isDynamic(found) || ShapedType::isDynamic(expected) ||
      found == expected)
    return success();
  InFlightDiagnostic diag = op->emitOpError("requires dimension ")
                            << i << " of " << operand.name << " to be "
                            << meaning << " = " << expected << ", but got "
                            << found << " (" << number << ")";
  diag.attachNote(other.value.getLoc())
      << other.name << " has type " << other.value.getType();
  return diag;
}

LogicalResult OperandChecks::extent(Named operand, unsigned i, int64_t expected,
                                    StringRef meaning, StringRef number) {
  int64_t found = operand.dim(i);
  if (ShapedType::isDynamic(found) || ShapedType::isDynamic(expected) ||
      found == expected)
    return success();
  return op->emitOpError("requires dimension ")
         << i << " of " << operand.name << " to be " << meaning << " = "
         << expected << ", but got " << found << " (" << number << ")";
}

/// Whether an extent is open that a number is known for.
static bool isOpen(int64_t found, int64_t expected) {
  return ShapedType::isDynamic(found) && !ShapedType::isDynamic(expected);
}

static LogicalResult refuseOpen(Operation *op, Named operand, unsigned i,
                                int64_t expected, StringRef meaning,
                                StringRef number) {
  return op->emitOpError("requires dimension ")
         << i << " of " << operand.name << " to be static, " << meaning << " = "
         << expected << ", but got " << operand.type() << " (" << number << ")";
}

LogicalResult OperandChecks::fixedExtent(Named operand, unsigned i,
                                         int64_t expected, StringRef meaning,
                                         Named other, StringRef number) {
  if (isOpen(operand.dim(i), expected))
    return refuseOpen(op, operand, i, expected, meaning, number);
  return extent(operand, i, expected, meaning, other, number);
}

LogicalResult OperandChecks::fixedExtent(Named operand, unsigned i,
                                         int64_t expected, StringRef meaning,
                                         StringRef number) {
  if (isOpen(operand.dim(i), expected))
    return refuseOpen(op, operand, i, expected, meaning, number);
  return extent(operand, i, expected, meaning, number);
}

LogicalResult OperandChecks::range(int64_t value, StringRef what, int64_t low,
                                   int64_t high, StringRef number) {
  if (value >= low && value <= high)
    return success();
  return op->emitOpError("requires ")
         << what << " to be in [" << low << ", " << high << "], but got "
         << value << " (" << number << ")";
}

LogicalResult OperandChecks::powerOfTwoBlock(int64_t block, StringRef number) {
  if (block >= 1 && block <= kMaxBlock && llvm::isPowerOf2_64(block))
    return success();
  return op->emitOpError("requires block to be a power of two in [1, ")
         << kMaxBlock << "], but got " << block << " (" << number << ")";
}

LogicalResult OperandChecks::finite(const APFloat &value, StringRef what,
                                    StringRef number) {
  if (value.isFinite())
    return success();
  return op->emitOpError("requires ")
         << what << " to be finite, but got " << value.convertToDouble() << " ("
         << number << ")";
}
