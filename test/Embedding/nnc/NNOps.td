//===- NNOps.td - a dialect of somebody else -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "MoEAttributes.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::nn";
  let dependentDialects = ["::mlir::moe::MoEDialect"];
}

def NN_MoEBlockOp : Op<NN_Dialect, "moe_block", [Pure]> {
  let summary = "apply a Mixture-of-Experts block";
  let description = [{
    x is [T, H], router [E, H], up [E, N, H] and down [E, H, I]; the result is as
    x. Each token goes to the `top_k` experts of the largest softmax.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$router,
      AnyRankedTensor:$up, AnyRankedTensor:$down, I64Attr:$top_k,
      MoE_ActivationAttr:$activation);
  let results = (outs AnyRankedTensor:$out);
  let assemblyFormat = [{
    $activation `top` $top_k `(` $x `,` $router `,` $up `,` $down `)` attr-dict `:`
    type($x) `,` type($router) `,` type($up) `,` type($down) `->` type($out)
  }];
}
