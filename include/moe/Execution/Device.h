//===- Device.h - what can execute a function -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device executes one function of a module on host arrays and returns all of
// its results. Every device follows the same rules:
//
// - `inputs` has one array per argument; a scalar argument is an array of rank
//   0. `checkInputs` holds before the device starts, and a device calls it.
// - The function and its module are not changed; a device that lowers works on
//   a clone. Inputs are not changed either.
// - An element of a `tensor.empty` that nobody writes is NaN, or -1 for
//   integers, so that unwritten rows compare equal across devices.
// - A failure emits a diagnostic at the operation that caused it. Nothing that
//   a user can write ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_DEVICE_H
#define MOE_EXECUTION_DEVICE_H

#include "moe/Emulator/RuntimeDevice.h"
#include "moe/Execution/Array.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <vector>

namespace mlir::moe {

/// Executes `function` on `inputs`; fails after emitting a diagnostic.
using Device = std::function<FailureOr<std::vector<Array>>(
    func::FuncOp function, ArrayRef<Array> inputs)>;

/// Emits an error unless there is one array per argument, of the element type
/// and the static extents of the argument's type.
LogicalResult checkInputs(func::FuncOp function, ArrayRef<Array> inputs);

/// Holds the extents that types leave open against the shape rules of the ops;
/// fails after emitting an error at the first op that contradicts them. The
/// reference checks each op when it runs it, compiled code does not.
LogicalResult checkExtents(func::FuncOp function, ArrayRef<Array> inputs);

/// Follows the calls of `function`: every callee has a body, none calls one
/// that is still running, at most 128 are nested, and a run makes at most a
/// million. Fails after emitting an error.
LogicalResult checkCalls(func::FuncOp function);

/// Lowers the function to machine code of this CPU and calls it.
FailureOr<std::vector<Array>> runOnCpu(func::FuncOp function,
                                       ArrayRef<Array> inputs);

/// Compiles the function for the first NVIDIA GPU of this machine and launches
/// it there. Results must be ranked tensors.
FailureOr<std::vector<Array>> runOnCuda(func::FuncOp function,
                                        ArrayRef<Array> inputs);

/// Compiles the function for Hopper and executes the PTX on this machine's
/// processors; what is wrong with a kernel is an error. Results must be ranked
/// tensors.
FailureOr<std::vector<Array>>
runOnEmulator(func::FuncOp function, ArrayRef<Array> inputs,
              const emulator::DeviceOptions &options = {});

} // namespace mlir::moe

#endif // MOE_EXECUTION_DEVICE_H
