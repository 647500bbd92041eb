//===- BuildGemmKernel.cpp - a GEMM kernel from pass options ----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Before:  gpu.module @m [#nvvm.target<chip = "sm_80">] {}
// After:   the same module with one llvm.func kernel whose body is in cta.
//
// Place: the start of a pipeline over gpu.module that ends in
// convert-cta-to-nvvm.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "moe/CTA/CTADialect.h"
#include "moe/Conversion/CTAToNVVM.h"
#include "moe/Conversion/MoEToCTA.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::cta {
#define GEN_PASS_DEF_BUILDGEMMKERNELPASS
#include "moe/CTA/CTAPasses.h.inc"
} // namespace mlir::cta

using namespace mlir;
using namespace mlir::cta;

static std::optional<GemmElement> parseElement(StringRef text) {
  return llvm::StringSwitch<std::optional<GemmElement>>(text)
      .Case("bf16", GemmElement::BF16)
      .Case("f16", GemmElement::F16)
      .Case("f32", GemmElement::F32)
      .Default(std::nullopt);
}

static std::optional<GemmActivation> parseActivation(StringRef text) {
  return llvm::StringSwitch<std::optional<GemmActivation>>(text)
      .Case("", GemmActivation::None)
      .Case("silu", GemmActivation::Silu)
      .Case("gelu", GemmActivation::Gelu)
      .Case("relu2", GemmActivation::Relu2)
      .Case("swiglu", GemmActivation::SwiGLU)
      .Case("swigluoai", GemmActivation::SwiGLUOAI)
      .Case("swiglustep", GemmActivation::SwiGLUStep)
      .Case("geglu", GemmActivation::GeGLU)
      .Case("situ", GemmActivation::SiTU)
      .Default(std::nullopt);
}

static std::optional<GemmWeight> parseWeight(StringRef text) {
  return llvm::StringSwitch<std::optional<GemmWeight>>(text)
      .Case("", GemmWeight::None)
      .Case("input", GemmWeight::Input)
      .Case("output", GemmWeight::Output)
      .Default(std::nullopt);
}

static std::string chipOf(gpu::GPUModuleOp module) {
  if (ArrayAttr targets = module.getTargetsAttr())
    for (auto target : targets.getAsRange<NVVM::NVVMTargetAttr>())
      return target.getChip().str();
  return "sm_80";
}

namespace {
struct BuildGemmKernel
    : public cta::impl::BuildGemmKernelPassBase<BuildGemmKernel> {
  using BuildGemmKernelPassBase::BuildGemmKernelPassBase;

  /// The description, or nothing when an option has an unknown word.
  std::optional<GemmKernelSpec> readOptions(std::string arch) {
    auto elementKind = parseElement(element), outputKind = parseElement(output);
    auto biasKind = parseElement(bias);
    auto activationKind = parseActivation(activation);
    auto weightKind = parseWeight(weight);
    if (!elementKind || !outputKind || !activationKind || !weightKind ||
        (!biasKind && !bias.empty()) ||
        (family != "mma_sync" && family != "wgmma"))
      return std::nullopt;
    GemmKernelSpec spec;
    spec.name = name;
    spec.arch = std::move(arch);
    spec.family = family == "wgmma" ? GemmFamily::Wgmma : GemmFamily::MmaSync;
    spec.element = *elementKind;
    spec.output = *outputKind;
    spec.experts = experts;
    spec.n = n;
    spec.k = k;
    spec.block = block;
    spec.tileCols = tileCols;
    spec.stages = stages;
    spec.sharedLimit = sharedLimit;
    spec.sharedPerSM = sharedPerSM;
    spec.source = tokenRows ? GemmRowSource::Token : GemmRowSource::Flat;
    spec.topK = topK;
    spec.aOrder = sortedA ? GemmRowOrder::Sorted : GemmRowOrder::Flat;
    spec.cOrder = sortedC ? GemmRowOrder::Sorted : GemmRowOrder::Flat;
    spec.dense = dense;
    spec.bias = biasKind;
    spec.activation.kind = *activationKind;
    if (interleaved)
      spec.activation.layout = GemmGateLayout::Interleaved;
    if (limit != 0)
      spec.activation.limit = limit;
    spec.weight = *weightKind;
    return spec;
  }

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    std::optional<GemmKernelSpec> spec = readOptions(chipOf(module));
    if (!spec) {
      module.emitError("an option names an unknown family, element, "
                       "activation or weight place");
      return signalPassFailure();
    }
    FailureOr<GemmKernel> kernel =
        buildGemmKernel(module.getLoc(), module, *spec);
    if (failed(kernel))
      return signalPassFailure();
    remark::analysis(module.getLoc(), remark::RemarkOpts::name("gemm-kernel")
                                          .category("moe-kernel")
                                          .function(spec->name))
        << remark::metric("threads", kernel->threads)
        << remark::metric("shared", kernel->sharedBytes)
        << remark::metric("stages", kernel->stages)
        << remark::metric("ctasPerSM", kernel->ctasPerSM)
        << remark::metric("tileCols", kernel->tileCols)
        << remark::metric("colTiles", kernel->colTiles);
  }
};
} // namespace
