//===- CTADialect.cpp - the cta dialect -------------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/CTA/CTADialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::cta;

#include "moe/CTA/CTADialect.cpp.inc"
#include "moe/CTA/CTAEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "moe/CTA/CTAAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "moe/CTA/CTATypes.cpp.inc"

#define GET_OP_CLASSES
#include "moe/CTA/CTAOps.cpp.inc"

void CTADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "moe/CTA/CTAAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "moe/CTA/CTATypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "moe/CTA/CTAOps.cpp.inc"
      >();
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t stages, int64_t stageBytes,
                               Completion completion) {
  if (stages < 2 || stages > 16)
    return emitError() << "ring requires 2 to 16 stages, but got " << stages;
  if (stageBytes <= 0 || stageBytes % kSwizzleAtomBytes)
    return emitError() << "ring requires stages of a positive multiple of "
                       << kSwizzleAtomBytes << " bytes, but got " << stageBytes;
  return success();
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rows, int64_t cols, Mma mma,
                                   int64_t parts) {
  if (parts != 1 && parts != 2)
    return emitError() << "fragment requires 1 or 2 parts, but got " << parts;
  if (mma == Mma::Wgmma && rows != 64)
    return emitError() << "wgmma fragment requires 64 rows, but got " << rows;
  if (rows <= 0 || rows % 16)
    return emitError() << "fragment requires a positive multiple of 16 rows, "
                          "but got "
                       << rows;
  int64_t unit = parts * (mma == Mma::Wgmma ? 8 : 32);
  if (cols <= 0 || cols % unit)
    return emitError() << "fragment requires a positive multiple of " << unit
                       << " columns, but got " << cols;
  return success();
}
