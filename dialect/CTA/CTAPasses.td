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

#endif // CTA_PASSES
