//===- NNDialect.h - a dialect of somebody else -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TEST_EMBEDDING_NNC_NNDIALECT_H
#define MOE_TEST_EMBEDDING_NNC_NNDIALECT_H

#include "moe/MoE/MoEDialect.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include <memory>

#include "NNDialect.h.inc"

#define GET_OP_CLASSES
#include "NNOps.h.inc"

namespace nn {

/// Replaces each nn.moe_block by moe ops.
std::unique_ptr<mlir::Pass> createLowerMoEBlockPass();

} // namespace nn

#endif // MOE_TEST_EMBEDDING_NNC_NNDIALECT_H
