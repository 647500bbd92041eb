//===- MoEPasses.td - passes over the moe dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PASSES
#define MOE_PASSES

include "mlir/Pass/PassBase.td"

#endif // MOE_PASSES
