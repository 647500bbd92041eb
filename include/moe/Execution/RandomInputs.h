//===- RandomInputs.h - random arrays for arguments -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// moe/Data/RandomInputs.h documents the values.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_RANDOMINPUTS_H
#define MOE_EXECUTION_RANDOMINPUTS_H

#include "moe/Data/RandomInputs.h"
#include "moe/Execution/Array.h"

namespace mlir::moe {

inline StringRef inputRoleName(InputRole role) { return inputRoleText(role); }

/// The array of one argument. Floats round once from f32 to `kind`.
llvm::Expected<Array> randomArray(InputRole role, int64_t bound,
                                  ElementKind kind, ArrayRef<int64_t> shape,
                                  uint64_t seed, uint64_t argument);

} // namespace mlir::moe

#endif // MOE_EXECUTION_RANDOMINPUTS_H
