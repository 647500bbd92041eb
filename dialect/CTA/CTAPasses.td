//===- CTAPasses.td - the pass that removes the cta dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_PASSES
#define CTA_PASSES

include "mlir/Pass/PassBase.td"

def ConvertCTAToNVVMPass
    : Pass<"convert-cta-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Replace every cta op by its instruction sequence";
  let description = [{
    Each op of the cta dialect becomes one sequence of nvvm, llvm, arith and
    scf ops; fragments and row lists become LLVM structs. Shared memory becomes
    one external symbol of 1024-byte alignment, which the launch sizes.

    Requires `llvm.func` kernels. Leaves ops of other dialects alone. No cta op
    or type is left behind; an op that has no sequence is an error at the op.
    Numerics do not change.
  }];
  let dependentDialects = [
    "::mlir::NVVM::NVVMDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def BuildGemmKernelPass
    : Pass<"cta-build-gemm-kernel", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Append one GEMM kernel, described by options";
  let description = [{
    Writes the kernel that a description of plain data asks for, as the
    lowering of `moe.grouped_gemm` does, so that a kernel can be read, tested
    and tuned on its own. The chip is the module's `#nvvm.target`, sm_80
    without one. A remark states the launch facts.

    Changes nothing else in the module. An illegal description is an error.
  }];
  let options = [
    Option<"name", "name", "std::string", "\"gemm\"", "symbol of the kernel">,
    Option<"family", "family", "std::string", "\"mma_sync\"",
           "mma_sync or wgmma">,
    Option<"element", "element", "std::string", "\"bf16\"",
           "element of a and b: bf16 or f16">,
    Option<"output", "output", "std::string", "\"bf16\"",
           "element of c: bf16, f16 or f32">,
    Option<"experts", "experts", "int64_t", "1", "number of experts">,
    Option<"n", "n", "int64_t", "0", "rows of b of one expert">,
    Option<"k", "k", "int64_t", "0", "length of the dot products">,
    Option<"block", "block", "int64_t", "16", "rows of a tile">,
    Option<"tileCols", "tile-cols", "int64_t", "0",
           "columns of c of a tile, 0 for the default">,
    Option<"stages", "stages", "int64_t", "0", "ring stages, 0 for as many as fit">,
    Option<"sharedLimit", "shared-limit", "int64_t", "101376",
           "bytes of shared memory of one block">,
    Option<"sharedPerSM", "shared-per-sm", "int64_t", "102400",
           "bytes of shared memory of one multiprocessor">,
    Option<"tokenRows", "token-rows", "bool", "false",
           "row r of c reads row r / top_k of a">,
    Option<"topK", "top-k", "int64_t", "1", "slots of a token">,
    Option<"sortedA", "sorted-a", "bool", "false", "a is in sorted order">,
    Option<"sortedC", "sorted-c", "bool", "false", "c is in sorted order">,
    Option<"dense", "dense", "bool", "false", "one expert, no row table">,
    Option<"bias", "bias", "std::string", "\"\"",
           "element of the bias: f32 or bf16, empty for none">,
    Option<"activation", "activation", "std::string", "\"\"",
           "silu, gelu, relu2, swiglu, swigluoai, swiglustep, geglu or situ, "
           "empty for none">,
    Option<"interleaved", "interleaved", "bool", "false",
           "gate in even rows of b, up in odd ones">,
    Option<"limit", "limit", "double", "0", "clamp limit, 0 for none">,
    Option<"weight", "weight", "std::string", "\"\"",
           "router weight on the input or the output, empty for none">];
  let dependentDialects = [
    "::mlir::cta::CTADialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // CTA_PASSES
