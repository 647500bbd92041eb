//===- Passes.h - passes over the moe dialect -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TRANSFORMS_PASSES_H
#define MOE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::moe {

// Options and constructors of every pass in MoEPasses.td. Documentation:
// docs/reference/passes.md.
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "moe/MoE/MoEPasses.h.inc"

} // namespace mlir::moe

#endif // MOE_TRANSFORMS_PASSES_H
