//===- InputPlan.cpp - what the inputs of a function are -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/InputPlan.h"

#include "moe/Execution/ShapeSolver.h"
#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moe;

namespace {
/// Says what an operand of a moe op means.
class UseReader {
public:
  explicit UseReader(const ShapeSolver &solver) : solver(solver) {}

  /// None where the op takes any value.
  std::optional<InputUse> read(OpOperand &operand) {
    value = operand.get();
    return llvm::TypeSwitch<Operation *, std::optional<InputUse>>(
               operand.getOwner())
        .Case<GateOp, RouteOp, AlignOp, GroupIdsOp, GroupedGemmOp, CombineOp,
              PermuteOp, UnpermuteOp>([&](auto op) { return readOp(op); })
        .Default([](Operation *) { return std::nullopt; });
  }

private:
  using Result = std::optional<InputUse>;

  /// E of the ids: the extent of the map where there is one.
  std::optional<Extent> globalExperts(Value expertMap, int64_t experts) {
    return expertMap ? solver.extent(expertMap, 0) : Extent(experts);
  }

  Result readOp(GateOp op) {
    if (value == op.getWeight())
      return InputUse{InputRole::Weight, solver.extent(value, 1)};
    return std::nullopt;
  }
  Result readOp(RouteOp op) {
    if (value == op.getTokenIds())
      return InputUse{InputRole::Below, solver.extent(op.getTable(), 0)};
    if (value == op.getTable())
      return InputUse{InputRole::Ids, op.getNumExperts()};
    return std::nullopt;
  }
  /// ids and expert_map, which several ops have.
  Result readIds(Value ids, Value expertMap, int64_t experts,
                 int64_t identityExperts = 0) {
    if (value == ids) {
      std::optional<Extent> known = globalExperts(expertMap, experts);
      return InputUse{InputRole::Ids,
                      known ? add(*known, identityExperts) : std::nullopt};
    }
    if (value == expertMap)
      return InputUse{InputRole::ExpertMap, experts};
    return std::nullopt;
  }
  Result readOp(AlignOp op) {
    return readIds(op.getIds(), op.getExpertMap(), op.getExperts());
  }
  Result readOp(PermuteOp op) {
    return readIds(op.getIds(), op.getExpertMap(), op.getExperts());
  }
  Result readOp(CombineOp op) {
    return readIds(op.getIds(), op.getExpertMap(), op.getExperts(),
                   op.getIdentityExperts());
  }
  Result readOp(UnpermuteOp op) {
    if (value == op.getSource())
      return InputUse{InputRole::Permutation, 0};
    return std::nullopt;
  }
  Result readOp(GroupIdsOp op) {
    if (value != op.getGroupTable())
      return std::nullopt;
    if (op.getGrouping() == Grouping::Masked)
      return InputUse{InputRole::Counts, op.getCapacity()};
    return readGroups(op.getGrouping(), solver.extent(op.getIds(), 0));
  }
  static Result readGroups(Grouping grouping, std::optional<Extent> rows) {
    return InputUse{grouping == Grouping::Sizes ? InputRole::Sizes
                                                : InputRole::EndOffsets,
                    rows};
  }
  Result readOp(GroupedGemmOp op) {
    Grouping grouping = op.getGrouping();
    bool kGrouped = grouping == Grouping::KGrouped;
    if (value == op.getB() && !kGrouped)
      return InputUse{InputRole::Weight, op.getK()};
    if (value == op.getExpertMap())
      return InputUse{InputRole::ExpertMap, op.getNumExperts()};
    if (!llvm::is_contained(op.getRows(), value))
      return std::nullopt;
    switch (grouping) {
    case Grouping::Ids:
      return readIds(value, op.getExpertMap(), op.getNumExperts());
    case Grouping::Masked:
      return InputUse{InputRole::Counts, solver.extent(op.getA(), 1)};
    case Grouping::Aligned:
      return std::nullopt; // three tables that only moe.align makes agree
    default:
      return readGroups(grouping, solver.extent(op.getA(), kGrouped ? 1 : 0));
    }
  }

  const ShapeSolver &solver;
  Value value;
};
} // namespace

/// The values that hold the elements of `argument`, itself first.
static SmallVector<Value> valuesOf(Value argument) {
  llvm::SmallSetVector<Value, 4> values;
  values.insert(argument);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
              tensor::ExtractSliceOp>(op) &&
          use.getOperandNumber() == 0)
        values.insert(op->getResult(0));
      auto call = dyn_cast<func::CallOp>(op);
      auto callee = call ? dyn_cast_or_null<func::FuncOp>(
                               SymbolTable::lookupNearestSymbolFrom(
                                   call, call.getCalleeAttr()))
                         : func::FuncOp();
      if (callee && !callee.isExternal())
        values.insert(callee.getArgument(use.getOperandNumber()));
    }
  }
  return values.takeVector();
}

/// The role of an argument: of several uses as ids the one with most experts
/// counts, otherwise the first.
static std::optional<InputUse> roleOf(Value argument,
                                      const ShapeSolver &solver) {
  std::optional<InputUse> found;
  UseReader reader(solver);
  for (Value value : valuesOf(argument))
    for (OpOperand &operand : value.getUses()) {
      std::optional<InputUse> use = reader.read(operand);
      if (!use)
        continue;
      bool moreExperts = found && use->role == InputRole::Ids &&
                         found->role == InputRole::Ids && use->bound &&
                         found->bound &&
                         use->bound->number() > found->bound->number();
      if (!found || moreExperts)
        found = use;
    }
  return found;
}

std::optional<InputUse> moe::inputUse(func::FuncOp function, unsigned argument,
                                      const ShapeSolver &solver) {
  Value value = function.getArgument(argument);
  if (isa<ShapedType>(value.getType()))
    return roleOf(value, solver);
  if (std::optional<int64_t> number = solver.scalar(value))
    return InputUse{InputRole::Value, *number};
  return std::nullopt;
}

FailureOr<ElementKind> moe::argumentKind(func::FuncOp function,
                                         unsigned argument) {
  Type type = function.getArgumentTypes()[argument];
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<ElementKind> kind =
      elementKind(tensor ? tensor.getElementType() : type);
  if (kind)
    return *kind;
  return function.emitOpError("requires argument ")
         << argument
         << " to be a tensor or a scalar of f64, f32, f16, bf16, fp8, i64, "
            "i32, i16, i8, i1 or index, but got "
         << type;
}

FailureOr<InputPlan> moe::planInput(func::FuncOp function, unsigned argument,
                                    const ShapeSolver &solver) {
  Value value = function.getArgument(argument);
  FailureOr<ElementKind> kind = argumentKind(function, argument);
  if (failed(kind))
    return failure();
  InputPlan plan;
  plan.kind = *kind;
  std::optional<SmallVector<int64_t>> shape = solver.shape(value);
  if (!shape)
    return function.emitOpError("leaves an extent of argument ")
           << argument << ", " << value.getType()
           << ", open; give the array with --input=" << argument
           << ":FILE.npy, or T with --tokens";
  plan.shape = *shape;

  std::optional<InputUse> use = inputUse(function, argument, solver);
  bool fits = use && use->bound && use->bound->isNumber() &&
              (use->role == InputRole::Weight) == isFloat(plan.kind);
  if (!fits && isFloat(plan.kind))
    return plan;
  if (!fits)
    return function.emitOpError("does not say which integers argument ")
           << argument << ", " << value.getType()
           << ", may hold; give the array with --input=" << argument
           << ":FILE.npy";
  plan.role = use->role;
  plan.bound = *use->bound->number();
  return plan;
}
