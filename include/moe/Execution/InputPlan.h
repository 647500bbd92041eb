//===- InputPlan.h - what the inputs of a function are -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_INPUTPLAN_H
#define MOE_EXECUTION_INPUTPLAN_H

#include "moe/Execution/Extent.h"
#include "moe/Execution/RandomInputs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mlir::moe {

class ShapeSolver;

/// One argument: everything that its random array depends on but the seed.
struct InputPlan {
  InputRole role = InputRole::Uniform;
  /// The number that goes with the role; see InputRole.
  int64_t bound = 0;
  ElementKind kind = ElementKind::F32;
  SmallVector<int64_t> shape;
};

/// The type of an argument as an array; fails after emitting an error at
/// `function` for a type that arrays cannot hold.
FailureOr<ElementKind> argumentKind(func::FuncOp function, unsigned argument);

/// A role, and the number that goes with it where it is known.
struct InputUse {
  InputRole role;
  std::optional<Extent> bound;
};

/// What the ops that consume an argument, directly or through casts, reshapes,
/// slices and calls, say about its elements: of several uses as ids the one
/// with most experts counts, otherwise the first. None where they say nothing.
std::optional<InputUse> inputUse(func::FuncOp function, unsigned argument,
                                 const ShapeSolver &solver);

/// Plans one argument. The role comes from inputUse; floats without one are
/// Uniform. Emits an error that names the argument where an extent is unknown
/// or no op says what its integers mean.
FailureOr<InputPlan> planInput(func::FuncOp function, unsigned argument,
                               const ShapeSolver &solver);

} // namespace mlir::moe

#endif // MOE_EXECUTION_INPUTPLAN_H
