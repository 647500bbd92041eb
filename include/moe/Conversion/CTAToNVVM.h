//===- CTAToNVVM.h - cta ops to instructions --------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_CONVERSION_CTATONVVM_H
#define MOE_CONVERSION_CTATONVVM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
class TypeConverter;

namespace cta {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "moe/CTA/CTAPasses.h.inc"

/// Teaches `converter` the LLVM types of rings, fragments and row lists.
void addCTATypeConversions(TypeConverter &converter);

/// One pattern for each cta op.
void populateCTAToNVVMPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns);

} // namespace cta
} // namespace mlir

#endif // MOE_CONVERSION_CTATONVVM_H
