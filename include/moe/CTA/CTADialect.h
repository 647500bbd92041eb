//===- CTADialect.h - the cta dialect ---------------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_CTA_CTADIALECT_H
#define MOE_CTA_CTADIALECT_H

#include "moe/MoE/OwnAttributes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "moe/CTA/CTADialect.h.inc"
#include "moe/CTA/CTAEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "moe/CTA/CTAAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "moe/CTA/CTATypes.h.inc"

#define GET_OP_CLASSES
#include "moe/CTA/CTAOps.h.inc"

namespace mlir::cta {

/// Bytes of one tile row in shared memory: the span of the 128-byte swizzle.
inline constexpr int64_t kRowBytes = 128;
/// Bytes after which the swizzle pattern repeats; tiles start at multiples.
inline constexpr int64_t kSwizzleAtomBytes = 1024;
/// Bytes of one copied chunk.
inline constexpr int64_t kChunkBytes = 16;
inline constexpr int64_t kWarpThreads = 32;
inline constexpr int64_t kWarpgroupThreads = 128;

/// True when `op` is inside the producer (or the consumer) region of a
/// `cta.roles`.
bool isInRole(Operation *op, bool producer);

} // namespace mlir::cta

#endif // MOE_CTA_CTADIALECT_H
