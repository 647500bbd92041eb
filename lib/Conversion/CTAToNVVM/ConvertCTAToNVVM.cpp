//===- ConvertCTAToNVVM.cpp - the pass --------------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Hazard handled here: accumulators must stay in one chain of registers, or
// ptxas copies and serialises them. Fragments become literal LLVM structs and
// travel through scf.for as such, so that no memory and no packing is between
// two matrix instructions.
//
// Before:  %1 = cta.wgmma %a, %b, %0 : !cta.fragment<64 x 128, wgmma> ...
// After:   fence, four nvvm.wgmma.mma_async on !llvm.struct<(f32 x 64)>, commit
//
// Place: after the kernels are built in cta, before convert-scf-to-cf.
// ISA: PTX "Warp Level" and "Asynchronous Warpgroup Level Matrix" chapters.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "moe/Conversion/CTAToNVVM.h"

namespace mlir::cta {
#define GEN_PASS_DEF_CONVERTCTATONVVMPASS
#include "moe/CTA/CTAPasses.h.inc"
} // namespace mlir::cta

using namespace mlir;
using namespace mlir::cta;

/// A literal struct of `count` times `element`.
static LLVM::LLVMStructType structOf(Type element, int64_t count) {
  SmallVector<Type> body(count, element);
  return LLVM::LLVMStructType::getLiteral(element.getContext(), body);
}

void cta::addCTATypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RingType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), 3);
  });
  converter.addConversion([](FragmentType type) -> Type {
    return structOf(Float32Type::get(type.getContext()), type.getValues());
  });
  converter.addConversion([](RowIdsType type) -> Type {
    return structOf(IntegerType::get(type.getContext(), 32), type.getCount());
  });
  converter.addConversion([](SourceRowsType type) -> Type {
    MLIRContext *context = type.getContext();
    SmallVector<Type> body(type.getCount(),
                           LLVM::LLVMPointerType::get(context, 1));
    body.append(type.getCount(), IntegerType::get(context, 32));
    return LLVM::LLVMStructType::getLiteral(context, body);
  });
}

void cta::populateCTAToNVVMPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns) {
  populateRingPatterns(converter, patterns);
  populateRolePatterns(converter, patterns);
  populateLoadPatterns(converter, patterns);
  populateMmaSyncPatterns(converter, patterns);
  populateWgmmaPatterns(converter, patterns);
  populateEpiloguePatterns(converter, patterns);
  populateStorePatterns(converter, patterns);
}

namespace {
struct ConvertCTAToNVVM
    : public cta::impl::ConvertCTAToNVVMPassBase<ConvertCTAToNVVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    lowerControl(getOperation());
    TypeConverter converter;
    addCTATypeConversions(converter);
    RewritePatternSet patterns(context);
    populateCTAToNVVMPatterns(converter, patterns);
    ConversionTarget target(*context);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    target.addIllegalDialect<CTADialect>();
    target.addLegalDialect<NVVM::NVVMDialect, LLVM::LLVMDialect,
                           arith::ArithDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
