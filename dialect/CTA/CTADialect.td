//===- CTADialect.td - the cta dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_DIALECT
#define CTA_DIALECT

include "mlir/IR/OpBase.td"

def CTA_Dialect : Dialect {
  let name = "cta";
  let cppNamespace = "::mlir::cta";
  let summary = "What one thread block of a tensor-core kernel does";
  let description = [{
    A kernel is an `llvm.func` in a `gpu.module`. Its body says in cta ops how
    one thread block works: the shared-memory plan, the ring of stages, the
    roles, the loads, the matrix instructions, the epilogue, the store. Every
    op is one instruction sequence, and scalar code around it is `arith`, `scf`
    and `llvm`.

    Tiles in shared memory have rows of 128 bytes; the 16-byte chunk `c` of row
    `r` lies at chunk `c ^ (r % 8)`, which is the 128-byte swizzle of tensor
    maps and of wgmma descriptors. Tiles start at multiples of 1024 bytes.
    A k-block is the 128 bytes of K that one tile row holds.

    Each op numbers its constraints (C1, C2, ...) and its verifier cites them.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // CTA_DIALECT
