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

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static constexpr size_t kMaxDepth = 128;
static constexpr int64_t kMaxCalls = 1'000'000;

namespace {
/// Counts the calls that a run of a function makes, looking at each function
/// once however often it is called.
class CallCounter {
public:
  /// Fails after emitting an error.
  FailureOr<int64_t> count(func::FuncOp function);

private:
  FailureOr<int64_t> countCall(func::CallOp call);

  llvm::DenseMap<Operation *, int64_t> known;
  SmallVector<func::FuncOp> running;
};
} // namespace

FailureOr<int64_t> CallCounter::countCall(func::CallOp call) {
  auto callee = dyn_cast_or_null<func::FuncOp>(
      SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
  if (!callee || callee.isExternal())
    return call.emitOpError("calls @")
           << call.getCallee()
           << ", which has no body; define it or remove the call";
  if (llvm::is_contained(running, callee))
    return call.emitOpError("calls @") << call.getCallee()
                                       << ", which is still running: recursion "
                                          "cannot end here; unroll it";
  if (running.size() > kMaxDepth)
    return call.emitOpError("is more than ")
           << kMaxDepth << " calls deep; inline some of them";
  return count(callee);
}

FailureOr<int64_t> CallCounter::count(func::FuncOp function) {
  if (auto found = known.find(function); found != known.end())
    return found->second;
  running.push_back(function);
  int64_t calls = 0;
  WalkResult result = function.walk([&](func::CallOp call) {
    FailureOr<int64_t> below = countCall(call);
    if (failed(below))
      return WalkResult::interrupt();
    calls += 1 + *below;
    if (calls <= kMaxCalls)
      return WalkResult::advance();
    function.emitOpError("would make more than ")
        << kMaxCalls << " calls; call fewer functions";
    return WalkResult::interrupt();
  });
  running.pop_back();
  if (result.wasInterrupted())
    return failure();
  known[function] = calls;
  return calls;
}

LogicalResult moe::checkCalls(func::FuncOp function) {
  return failure(failed(CallCounter().count(function)));
}
