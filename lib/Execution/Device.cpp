//===- Device.cpp - what every device checks -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Device.h"

#include "moe/Execution/ShapeSolver.h"

using namespace mlir;
using namespace mlir::moe;

/// Whether an array of `kind` and `shape` is a value of `type`.
static bool isValueOf(const Array &array, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  ArrayRef<int64_t> expected = tensor ? tensor.getShape() : ArrayRef<int64_t>();
  if (elementKind(element) != array.kind() ||
      static_cast<int64_t>(expected.size()) != array.rank())
    return false;
  return llvm::all_of(llvm::zip_equal(expected, array.shape()), [](auto pair) {
    auto [wanted, found] = pair;
    return ShapedType::isDynamic(wanted) || wanted == found;
  });
}

LogicalResult moe::checkInputs(func::FuncOp function, ArrayRef<Array> inputs) {
  if (function.getNumArguments() != inputs.size())
    return function.emitOpError("requires one array per argument, ")
           << function.getNumArguments() << ", but got " << inputs.size();
  for (auto [index, type, array] :
       llvm::enumerate(function.getArgumentTypes(), inputs)) {
    if (!isValueOf(array, type))
      return function.emitOpError("requires argument ")
             << index << " to be " << type << ", but got an array of "
             << describe(array);
  }
  return success();
}

LogicalResult moe::checkExtents(func::FuncOp function, ArrayRef<Array> inputs) {
  ShapeSolver solver(function);
  for (auto [argument, array] :
       llvm::zip_equal(function.getArguments(), inputs)) {
    if (isa<ShapedType>(argument.getType()))
      solver.setShape(argument, array.shape());
    else if (argument.getType().isIntOrIndex())
      solver.setScalar(argument, array.intAt(0));
  }
  return solver.check();
}
