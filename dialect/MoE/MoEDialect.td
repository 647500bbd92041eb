//===- MoEDialect.td - the moe dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DIALECT
#define MOE_DIALECT

include "mlir/IR/OpBase.td"

def MoE_Dialect : Dialect {
  let name = "moe";
  let cppNamespace = "::mlir::moe";
  let summary = "Mixture-of-Experts layers: routing, ragged GEMMs, combination";
  let description = [{
    The ops say what a Mixture-of-Experts layer means, on tensors or on
    memrefs. One number addresses everything that is routed: the **flat row**
    `r = t * k + j` of token `t` and slot `j`.

    One rule decides which slots exist. `localExpert(id)` is
    `expert_map ? expert_map[id] : id` for `0 <= id < E`. Every other id (-1,
    out of range, mapped to -1, or mapped outside `[0, experts)`) is no expert:
    it has no row and no count, no weight is read for it, the GEMM does not
    write its row and combine skips its slot.

    All ops are destination-passing. An element that an op does not write keeps
    the value of the destination operand. On memrefs, the buffer of a destination
    overlaps no other operand: no op promises an order of its reads and writes.
    Where an op says that it works in place, an input may be the destination
    itself, the same value. The verifier refuses one value in two places; other
    overlaps are not seen, and what is then computed is not defined.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::memref::MemRefDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // MOE_DIALECT
