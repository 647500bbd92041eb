//===- FunctionAttributes.cpp - what moe says about functions ---*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the discardable attributes of the dialect on functions and their
// arguments: what a user writes, and what one pass leaves for another.
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/FunctionAttributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Token ranges
//===----------------------------------------------------------------------===//

std::optional<TokenRange> moe::tokenRange(Attribute attr) {
  auto pair = dyn_cast_or_null<ArrayAttr>(attr);
  if (!pair || pair.size() != 2)
    return std::nullopt;
  auto lo = dyn_cast<IntegerAttr>(pair[0]), hi = dyn_cast<IntegerAttr>(pair[1]);
  if (!lo || !hi || !lo.getType().isSignlessInteger(64) ||
      !hi.getType().isSignlessInteger(64))
    return std::nullopt;
  return TokenRange{lo.getInt(), hi.getInt()};
}

Attribute moe::tokenRangeAttr(MLIRContext *context, TokenRange range) {
  return Builder(context).getI64ArrayAttr({range.lo, range.hi});
}

/// The range at `attr`, or an error that quotes `name`.
static FailureOr<TokenRange> verifyRange(Operation *op, StringRef name,
                                         Attribute attr) {
  std::optional<TokenRange> range = tokenRange(attr);
  if (!range)
    return op->emitOpError() << "requires '" << name
                             << "' to hold pairs [first, last] of 64-bit "
                                "numbers of tokens, but got "
                             << attr;
  if (range->lo < 0 || (range->isBounded() && range->hi < range->lo) ||
      range->hi < -1)
    return op->emitOpError()
           << "requires each range of '" << name
           << "' to be [first, last] with 0 <= first <= last, or last = -1 for "
              "no upper end, but got "
           << attr;
  return *range;
}

static LogicalResult verifyRanges(Operation *op, StringRef name,
                                  Attribute attr) {
  auto ranges = dyn_cast<ArrayAttr>(attr);
  if (!ranges || ranges.empty())
    return op->emitOpError()
           << "requires '" << name
           << "' to be a list of ranges such as [[1, 16], [17, -1]], but got "
           << attr;
  std::optional<TokenRange> previous;
  for (Attribute element : ranges) {
    FailureOr<TokenRange> range = verifyRange(op, name, element);
    if (failed(range))
      return failure();
    if (!previous && range->lo > 1)
      return op->emitOpError() << "requires the first range of '" << name
                               << "' to start at 0 or 1, but got " << element;
    if (previous && (!previous->isBounded() || range->lo <= previous->hi))
      return op->emitOpError()
             << "requires the ranges of '" << name
             << "' to be in ascending order without overlap, but " << element
             << " follows " << tokenRangeAttr(op->getContext(), *previous);
    previous = *range;
  }
  return success();
}

std::optional<ArgumentExtent> moe::tokensOf(FunctionOpInterface function) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto shaped = dyn_cast_or_null<ShapedType>(type);
    for (int64_t d = 0, e = shaped && shaped.hasRank() ? shaped.getRank() : 0;
         d < e; ++d)
      if (shaped.isDynamicDim(d))
        return ArgumentExtent{static_cast<int64_t>(i), d};
  }
  return std::nullopt;
}

LogicalResult MoEDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  StringRef name = attr.getName();
  bool list = name == kTokenRanges;
  if (!list && name != kTokenRange && name != kVariantOf)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError()
           << "cannot have '" << name << "', which describes a function";
  if (name == kVariantOf)
    return isa<StringAttr>(attr.getValue())
               ? success()
               : op->emitOpError() << "requires '" << name
                                   << "' to be the name of a function, but got "
                                   << attr.getValue();
  if (failed(list ? verifyRanges(op, name, attr.getValue())
                  : LogicalResult(verifyRange(op, name, attr.getValue()))))
    return failure();
  if (tokensOf(function))
    return success();
  return op->emitOpError()
         << "requires an argument with a dynamic extent, which is the number "
            "of tokens that '"
         << name << "' is about; remove it";
}

//===----------------------------------------------------------------------===//
// Descriptions of arguments
//===----------------------------------------------------------------------===//

static LogicalResult verifyExtent(FunctionOpInterface function,
                                  ExtentAttr extent) {
  if (extent.getFactor() == 0)
    return success();
  int64_t argument = extent.getArgument(), dimension = extent.getDimension();
  ShapedType type;
  if (argument >= 0 && argument < function.getNumArguments())
    type = dyn_cast<ShapedType>(function.getArgumentTypes()[argument]);
  if (type && type.hasRank() && dimension >= 0 && dimension < type.getRank())
    return success();
  return function.emitOpError()
         << "requires '" << kArgument
         << "' to name extents of its arguments, but there is no dim("
         << argument << ", " << dimension << ")";
}

/// An alignment of a buffer of `type`: a power of two that holds an element.
static LogicalResult verifyAlignment(Operation *op, Type type,
                                     NamedAttribute attr) {
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  auto alignment = dyn_cast<IntegerAttr>(attr.getValue());
  if (!isa<FunctionOpInterface>(op) || !shaped ||
      !shaped.getElementType().isIntOrFloat())
    return op->emitOpError() << "requires '" << kAlignment
                             << "' to be on a tensor or memref of a function, "
                                "but it is on "
                             << type;
  int64_t elementBytes = llvm::divideCeil(shaped.getElementTypeBitWidth(), 8);
  if (!alignment || !alignment.getType().isSignlessInteger(64) ||
      !llvm::isPowerOf2_64(alignment.getInt()) ||
      alignment.getInt() < elementBytes)
    return op->emitOpError()
           << "requires '" << kAlignment
           << "' to be a power of two of at least the " << elementBytes
           << " bytes of an element, but got " << attr.getValue();
  return success();
}

LogicalResult MoEDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned result,
                                                      NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attr.getName() != kAlignment || !function)
    return success();
  return verifyAlignment(op, function.getResultTypes()[result], attr);
}

LogicalResult MoEDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argument,
                                                   NamedAttribute attr) {
  if (attr.getName() == kAlignment) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    return verifyAlignment(
        op, function ? function.getArgumentTypes()[argument] : Type(), attr);
  }
  if (attr.getName() != kArgument)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto description = dyn_cast<ArgumentAttr>(attr.getValue());
  if (!function || !description)
    return op->emitOpError()
           << "requires '" << kArgument
           << "' to be a #moe.argument of a function, but got "
           << attr.getValue();
  auto type = dyn_cast<ShapedType>(function.getArgumentTypes()[argument]);
  if (!type || !type.hasRank() ||
      type.getRank() != static_cast<int64_t>(description.getShape().size()))
    return op->emitOpError()
           << "requires '" << kArgument << "' of argument " << argument
           << " to have one extent for each dimension of "
           << function.getArgumentTypes()[argument] << ", but got "
           << description.getShape().size();
  for (ExtentAttr extent : description.getShape())
    if (failed(verifyExtent(function, extent)))
      return failure();
  return description.getBound() ? verifyExtent(function, description.getBound())
                                : success();
}
