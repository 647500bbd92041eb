// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' | FileCheck %s

// Nothing to fuse: the function stays as it is.
// CHECK-LABEL: func @untouched
// CHECK-NEXT:    %[[C:.*]] = moe.grouped_gemm
// CHECK-NEXT:    return %[[C]]
func.func @untouched(%a: tensor<?x64xf32>, %b: tensor<4x32x64xf32>,
                     %ids: tensor<?x2xi32>, %c: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xf32>, tensor<4x32x64xf32>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x32xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// CHECK-LABEL: func @layer
// CHECK-NOT:     moe.activation
// CHECK:         %[[A:.*]] = moe.grouped_gemm
// CHECK-SAME:      activation = #moe.activation<swiglu>
// CHECK-SAME:      row_source = #moe.row_source<token>
// CHECK:         %[[Y:.*]] = moe.grouped_gemm ins(%[[A]],
// CHECK-SAME:      weights(%arg4 : tensor<?x2xf32>)
// CHECK-SAME:      weight = #moe.weight<output>
// CHECK:         moe.combine ins(%[[Y]], %arg4, %arg3
// CHECK-SAME:      weighted = false
func.func @layer(%x: tensor<?x64xf32>, %w13: tensor<4x32x64xf32>,
                 %w2: tensor<4x64x16xf32>, %ids: tensor<?x2xi32>,
                 %w: tensor<?x2xf32>, %t: index, %r: index) -> tensor<?x64xf32> {
  %h0 = tensor.empty(%r) : tensor<?x32xf32>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x64xf32>, tensor<4x32x64xf32>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x32xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x32xf32>
  %a0 = tensor.empty(%r) : tensor<?x16xf32>
  %a = moe.activation ins(%h : tensor<?x32xf32>) outs(%a0 : tensor<?x16xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<?x16xf32>
  %y0 = tensor.empty(%r) : tensor<?x64xf32>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x16xf32>, tensor<4x64x16xf32>)
      rows(%ids : tensor<?x2xi32>) outs(%y0 : tensor<?x64xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<?x64xf32>
  %o0 = tensor.empty(%t) : tensor<?x64xf32>
  %o = moe.combine ins(%y, %w, %ids : tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x64xf32>) {experts = 4} -> tensor<?x64xf32>
  return %o : tensor<?x64xf32>
}

// Importers write permute, contiguous GEMMs, unpermute.
// CHECK-LABEL: func @permuted
// CHECK-NOT:     moe.permute
// CHECK:         %[[A:.*]] = moe.grouped_gemm ins(%arg0, %arg1
// CHECK-SAME:      rows(%arg3 : tensor<?x2xi32>)
// CHECK-SAME:      activation = #moe.activation<swiglu>
// CHECK-SAME:      grouping = #moe.grouping<ids>
// CHECK-SAME:      row_source = #moe.row_source<token>
// CHECK:         %[[Y:.*]] = moe.grouped_gemm ins(%[[A]], %arg2
// CHECK-SAME:      outs(%arg4
// CHECK-SAME:      grouping = #moe.grouping<ids>
// CHECK-NOT:     moe.unpermute
// CHECK:         return %[[Y]]
func.func @permuted(%x: tensor<?x64xf32>, %w13: tensor<4x32x64xf32>,
                    %w2: tensor<4x64x16xf32>, %ids: tensor<?x2xi32>,
                    %y0: tensor<?x64xf32>, %r: index) -> tensor<?x64xf32> {
  %p0 = tensor.empty(%r) : tensor<?x64xf32>
  %s0 = tensor.empty(%r) : tensor<?xi32>
  %e0 = tensor.empty() : tensor<4xi32>
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<?x64xf32>, tensor<?x2xi32>)
      outs(%p0, %s0, %e0 : tensor<?x64xf32>, tensor<?xi32>, tensor<4xi32>)
      {experts = 4} -> tensor<?x64xf32>, tensor<?xi32>, tensor<4xi32>
  %h0 = tensor.empty(%r) : tensor<?x32xf32>
  %h = moe.grouped_gemm ins(%p, %w13 : tensor<?x64xf32>, tensor<4x32x64xf32>)
      rows(%e : tensor<4xi32>) outs(%h0 : tensor<?x32xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<?x32xf32>
  %a0 = tensor.empty(%r) : tensor<?x16xf32>
  %a = moe.activation ins(%h : tensor<?x32xf32>) outs(%a0 : tensor<?x16xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<?x16xf32>
  %q0 = tensor.empty(%r) : tensor<?x64xf32>
  %q = moe.grouped_gemm ins(%a, %w2 : tensor<?x16xf32>, tensor<4x64x16xf32>)
      rows(%e : tensor<4xi32>) outs(%q0 : tensor<?x64xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<?x64xf32>
  %y = moe.unpermute ins(%q, %s : tensor<?x64xf32>, tensor<?xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The rows of the GEMM are a result of the function: fusing would lose them.
// CHECK-LABEL: func @two_uses
// CHECK:         moe.grouped_gemm
// CHECK:         moe.activation
func.func @two_uses(%x: tensor<8x64xf32>, %w: tensor<1x32x64xf32>)
    -> (tensor<8x32xf32>, tensor<8x16xf32>) {
  %h0 = tensor.empty() : tensor<8x32xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x64xf32>, tensor<1x32x64xf32>)
      outs(%h0 : tensor<8x32xf32>) {grouping = #moe.grouping<dense>} -> tensor<8x32xf32>
  %a0 = tensor.empty() : tensor<8x16xf32>
  %a = moe.activation ins(%h : tensor<8x32xf32>) outs(%a0 : tensor<8x16xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<8x16xf32>
  return %h, %a : tensor<8x32xf32>, tensor<8x16xf32>
}
