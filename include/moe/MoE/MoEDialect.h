//===- MoEDialect.h - the moe dialect -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_MOE_MOEDIALECT_H
#define MOE_MOE_MOEDIALECT_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "moe/MoE/OwnAttributes.h"

#include "moe/MoE/MoEDialect.h.inc"
#include "moe/MoE/MoEEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "moe/MoE/MoEAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "moe/MoE/MoETypes.h.inc"

namespace mlir::moe::detail {
/// Memory effects of a destination-passing op: memref inputs are read, memref
/// destinations are read and written. On tensors there are none.
void getDpsEffects(
    Operation *op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);
/// The first pair of operands, a destination of `op` and another one, that are
/// one memref although `op` does not work in place there, or none.
std::optional<std::pair<OpOperand *, OpOperand *>>
sharedDestination(Operation *op);
} // namespace mlir::moe::detail

#define GET_OP_CLASSES
#include "moe/MoE/MoEOps.h.inc"

namespace mlir::moe {

/// The version written to bytecode. Readers refuse a larger major number.
struct MoEDialectVersion : public DialectVersion {
  MoEDialectVersion(uint32_t major, uint32_t minor)
      : major(major), minor(minor) {}
  static MoEDialectVersion current() { return {1, 0}; }
  uint32_t major, minor;
};

/// The one rule that decides which slots exist: the local expert of `id`, or
/// -1. `expertMap` is empty where there is none; `experts` is the number of
/// local experts.
int64_t localExpert(int64_t id, ArrayRef<int32_t> expertMap, int64_t experts);

/// Rows of a row table that holds any routing of `flatRows` rows to `experts`
/// experts: `flatRows + experts * (block - 1)`, rounded up to `block`.
int64_t worstCaseRows(int64_t flatRows, int64_t experts, int64_t block);

/// Lets one-shot bufferization turn every op on tensors into the same op on
/// memrefs, in place of its destinations.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::moe

#endif // MOE_MOE_MOEDIALECT_H
