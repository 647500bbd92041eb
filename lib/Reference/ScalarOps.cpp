//===- ScalarOps.cpp - arith, math and affine ops -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic around the moe ops, mostly of extents. Ops on tensors apply
// the scalar op to each element. Integers wrap at their width as arith says,
// but index arithmetic that overflows is an error, as is every division that
// has no result.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

namespace {
/// A scalar operand or result: an integer of the type's width, or a float.
struct Scalar {
  APInt integer;
  double real = 0;
};

using IntResult = FailureOr<APInt>;
} // namespace

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// `value` unless `overflow` is set on index arithmetic.
static IntResult checked(Operation *op, const APInt &value, bool overflow) {
  if (overflow && getElementTypeOrSelf(op->getResult(0)).isIndex())
    return op->emitOpError("overflows the index type");
  return value;
}

/// Emits an error unless `a / b` has a result.
static LogicalResult checkDivision(Operation *op, const APInt &a,
                                   const APInt &b, bool isSigned) {
  if (b.isZero())
    return op->emitOpError("divides by zero");
  if (isSigned && a.isMinSignedValue() && b.isAllOnes())
    return op->emitOpError("overflows");
  return success();
}

/// Emits an error unless the shift amount is below the width.
static LogicalResult checkShift(Operation *op, const APInt &amount) {
  if (amount.uge(amount.getBitWidth()))
    return op->emitOpError("shifts by ")
           << amount.getZExtValue() << ", the width or more";
  return success();
}

static IntResult divide(Operation *op, const APInt &a, const APInt &b) {
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  TRY(checkDivision(op, a, b, isSigned));
  return llvm::TypeSwitch<Operation *, IntResult>(op)
      .Case([&](arith::DivSIOp) { return a.sdiv(b); })
      .Case([&](arith::DivUIOp) { return a.udiv(b); })
      .Case([&](arith::RemSIOp) { return a.srem(b); })
      .Case([&](arith::RemUIOp) { return a.urem(b); })
      .Case([&](arith::CeilDivSIOp) {
        return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP);
      })
      .Case([&](arith::CeilDivUIOp) {
        return llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP);
      })
      .Case([&](arith::FloorDivSIOp) {
        return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
      })
      .Default([&](Operation *) { return unknownOp(op); });
}

static IntResult shift(Operation *op, const APInt &a, const APInt &b) {
  TRY(checkShift(op, b));
  return llvm::TypeSwitch<Operation *, IntResult>(op)
      .Case([&](arith::ShLIOp) { return a.shl(b); })
      .Case([&](arith::ShRSIOp) { return a.ashr(b); })
      .Case([&](arith::ShRUIOp) { return a.lshr(b); })
      .Default([&](Operation *) { return unknownOp(op); });
}

/// Ops on two integers of one width.
static IntResult evalIntegers(Operation *op, const APInt &a, const APInt &b) {
  bool overflow = false;
  return llvm::TypeSwitch<Operation *, IntResult>(op)
      .Case([&](arith::AddIOp) {
        APInt sum = a.sadd_ov(b, overflow);
        return checked(op, sum, overflow);
      })
      .Case([&](arith::SubIOp) {
        APInt difference = a.ssub_ov(b, overflow);
        return checked(op, difference, overflow);
      })
      .Case([&](arith::MulIOp) {
        APInt product = a.smul_ov(b, overflow);
        return checked(op, product, overflow);
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return divide(op, a, b); })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) { return shift(op, a, b); })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Case([&](arith::MinSIOp) { return llvm::APIntOps::smin(a, b); })
      .Case([&](arith::MaxSIOp) { return llvm::APIntOps::smax(a, b); })
      .Case([&](arith::MinUIOp) { return llvm::APIntOps::umin(a, b); })
      .Case([&](arith::MaxUIOp) { return llvm::APIntOps::umax(a, b); })
      .Case([&](arith::CmpIOp compare) {
        return APInt(1, arith::applyCmpPredicate(compare.getPredicate(), a, b));
      })
      .Default([&](Operation *) { return unknownOp(op); });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// maximumf and minimumf: a NaN operand wins.
static double extremum(double a, double b, bool maximum) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  if (a == b)
    return (std::signbit(a) == maximum) ? b : a;
  return (a < b) == maximum ? b : a;
}

static FailureOr<double> evalFloats(Operation *op, double a, double b) {
  return llvm::TypeSwitch<Operation *, FailureOr<double>>(op)
      .Case([&](arith::AddFOp) { return a + b; })
      .Case([&](arith::SubFOp) { return a - b; })
      .Case([&](arith::MulFOp) { return a * b; })
      .Case([&](arith::DivFOp) { return a / b; })
      .Case([&](arith::MaximumFOp) { return extremum(a, b, true); })
      .Case([&](arith::MinimumFOp) { return extremum(a, b, false); })
      .Case([&](arith::MaxNumFOp) { return std::fmax(a, b); })
      .Case([&](arith::MinNumFOp) { return std::fmin(a, b); })
      .Default([&](Operation *) { return unknownOp(op); });
}

static FailureOr<double> evalFloat(Operation *op, double a) {
  return llvm::TypeSwitch<Operation *, FailureOr<double>>(op)
      .Case([&](arith::NegFOp) { return -a; })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return a; })
      .Case([&](math::ExpOp) { return std::exp(a); })
      .Case([&](math::Exp2Op) { return std::exp2(a); })
      .Case([&](math::LogOp) { return std::log(a); })
      .Case([&](math::SqrtOp) { return std::sqrt(a); })
      .Case([&](math::RsqrtOp) { return 1.0 / std::sqrt(a); })
      .Case([&](math::TanhOp) { return std::tanh(a); })
      .Case([&](math::ErfOp) { return std::erf(a); })
      .Case([&](math::AbsFOp) { return std::fabs(a); })
      .Default([&](Operation *) { return unknownOp(op); });
}

//===----------------------------------------------------------------------===//
// One scalar op
//===----------------------------------------------------------------------===//

/// An integer from a float, an error where it does not fit.
static IntResult fromFloat(Operation *op, double value, unsigned width) {
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  bool fits = std::trunc(value) >= -limit && value < limit; // no NaN does
  if (!fits)
    return op->emitOpError("converts ") << value << ", which does not fit";
  return APInt(width, static_cast<int64_t>(value), /*isSigned=*/true,
               /*implicitTrunc=*/true);
}

/// Ops with an integer result.
static IntResult evalToInteger(Operation *op, ArrayRef<Scalar> operands,
                               unsigned width) {
  return llvm::TypeSwitch<Operation *, IntResult>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return operands[0].integer.sextOrTrunc(width); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto) { return operands[0].integer.zextOrTrunc(width); })
      .Case([&](arith::SelectOp) {
        return operands[operands[0].integer.isZero() ? 2 : 1].integer;
      })
      .Case([&](arith::FPToSIOp) {
        return fromFloat(op, operands[0].real, width);
      })
      .Case([&](arith::CmpFOp compare) {
        return APInt(1, arith::applyCmpPredicate(compare.getPredicate(),
                                                 APFloat(operands[0].real),
                                                 APFloat(operands[1].real)));
      })
      .Default([&](Operation *) {
        return operands.size() == 2
                   ? evalIntegers(op, operands[0].integer, operands[1].integer)
                   : IntResult(unknownOp(op));
      });
}

/// Ops with a float result, not yet rounded to its type. Rounding the f64
/// result of +, -, *, / and sqrt on f32 or narrower is the correct rounding.
static FailureOr<double> evalToFloat(Operation *op, ArrayRef<Scalar> operands) {
  return llvm::TypeSwitch<Operation *, FailureOr<double>>(op)
      .Case([&](arith::SelectOp) {
        return operands[operands[0].integer.isZero() ? 2 : 1].real;
      })
      .Case([&](arith::SIToFPOp) {
        return static_cast<double>(operands[0].integer.getSExtValue());
      })
      .Case([&](arith::UIToFPOp) {
        return static_cast<double>(operands[0].integer.getZExtValue());
      })
      .Default([&](Operation *) {
        if (operands.size() == 1)
          return evalFloat(op, operands[0].real);
        return operands.size() == 2
                   ? evalFloats(op, operands[0].real, operands[1].real)
                   : FailureOr<double>(unknownOp(op));
      });
}

//===----------------------------------------------------------------------===//
// Scalars and tensors
//===----------------------------------------------------------------------===//

/// The extents of an elementwise op: those of its tensor operands, which must
/// agree; rank 0 where all operands are scalars.
static FailureOr<SmallVector<int64_t>> elementwiseShape(Operation *op,
                                                        Frame &frame) {
  std::optional<SmallVector<int64_t>> shape;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    ArrayRef<int64_t> extents = frame.get(operand).shape();
    if (shape && ArrayRef<int64_t>(*shape) != extents)
      return op->emitOpError("requires operands of equal shape, but got ")
             << "[" << ArrayRef<int64_t>(*shape) << "] and [" << extents
             << "] in this run";
    shape = llvm::to_vector(extents);
  }
  return shape.value_or(SmallVector<int64_t>());
}

static Scalar loadScalar(const Array &array, int64_t index, unsigned width) {
  // An operand that is one scalar, such as a condition, serves each element.
  int64_t i = array.rank() == 0 ? 0 : index;
  Scalar scalar;
  if (isFloat(array.kind()))
    scalar.real = array.floatAt(i);
  else
    scalar.integer = APInt(width, array.intAt(i), /*isSigned=*/true,
                           /*implicitTrunc=*/true);
  return scalar;
}

static LogicalResult evalElementwise(Operation *op, Frame &frame) {
  auto isHeld = [](Type type) {
    return elementKind(getElementTypeOrSelf(type)).has_value();
  };
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperandTypes(), isHeld) ||
      !llvm::all_of(op->getResultTypes(), isHeld))
    return unknownOp(op);
  FailureOr<SmallVector<int64_t>> shape = elementwiseShape(op, frame);
  TRY(shape);
  Type type = getElementTypeOrSelf(op->getResult(0));
  FailureOr<Array> result = frame.create(op, type, *shape);
  TRY(result);
  SmallVector<Scalar> operands(op->getNumOperands());
  for (int64_t i = 0, e = result->size(); i < e; ++i) {
    for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands())) {
      Type operandType = getElementTypeOrSelf(value);
      operand = loadScalar(frame.get(value), i, widthOf(operandType));
    }
    if (isa<FloatType>(type)) {
      FailureOr<double> value = evalToFloat(op, operands);
      TRY(value);
      result->setFloat(i, *value);
      continue;
    }
    IntResult value = evalToInteger(op, operands, widthOf(type));
    TRY(value);
    result->setInt(i, value->getSExtValue());
  }
  return frame.set(op->getResult(0), std::move(*result));
}

//===----------------------------------------------------------------------===//
// Constants and affine maps
//===----------------------------------------------------------------------===//

static LogicalResult evalConstant(arith::ConstantOp op, Frame &frame) {
  Type elementType = getElementTypeOrSelf(op.getType());
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elementKind(elementType) ||
      (!dense && !isa<IntegerAttr, FloatAttr>(op.getValue())))
    return unknownOp(op);
  auto type = dyn_cast<RankedTensorType>(op.getType());
  FailureOr<Array> array = frame.create(
      op, elementType, type ? type.getShape() : ArrayRef<int64_t>());
  TRY(array);
  auto setFloat = [&](int64_t i, APFloat value) {
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    array->setFloat(i, value.convertToDouble());
  };
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    array->setInt(0, integer.getValue().getSExtValue());
  else if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    setFloat(0, real.getValue());
  else if (isa<FloatType>(elementType))
    for (auto [i, value] : llvm::enumerate(dense.getValues<APFloat>()))
      setFloat(i, value);
  else
    for (auto [i, value] : llvm::enumerate(dense.getValues<APInt>()))
      array->setInt(i, value.getSExtValue());
  return frame.set(op, std::move(*array));
}

/// The results of an affine map at the operands of `op`.
static FailureOr<SmallVector<int64_t>> evalMap(Operation *op, AffineMap map,
                                               Frame &frame) {
  Builder builder(op->getContext());
  auto operands =
      llvm::map_to_vector(op->getOperands(), [&](Value value) -> Attribute {
        return builder.getIndexAttr(frame.getInt(value));
      });
  SmallVector<Attribute> results;
  if (failed(map.constantFold(operands, results)) ||
      !llvm::all_of(results, llvm::IsaPred<IntegerAttr>))
    return op->emitOpError("divides by zero or overflows in this run");
  return llvm::map_to_vector(results, [](Attribute result) {
    return cast<IntegerAttr>(result).getInt();
  });
}

static LogicalResult evalAffine(Operation *op, AffineMap map, Frame &frame,
                                bool minimum = false) {
  FailureOr<SmallVector<int64_t>> values = evalMap(op, map, frame);
  TRY(values);
  FailureOr<Array> result =
      frame.create(op, op->getResult(0).getType(), ArrayRef<int64_t>());
  TRY(result);
  result->setInt(0, minimum ? *llvm::min_element(*values)
                            : *llvm::max_element(*values));
  return frame.set(op->getResult(0), std::move(*result));
}

LogicalResult reference::evalScalarOp(Operation *op, Frame &frame) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) {
        return evalConstant(constant, frame);
      })
      .Case([&](affine::AffineApplyOp apply) {
        return evalAffine(op, apply.getAffineMap(), frame);
      })
      .Case([&](affine::AffineMinOp min) {
        return evalAffine(op, min.getAffineMap(), frame, /*minimum=*/true);
      })
      .Case([&](affine::AffineMaxOp max) {
        return evalAffine(op, max.getAffineMap(), frame);
      })
      .Default([&](Operation *) { return evalElementwise(op, frame); });
}
