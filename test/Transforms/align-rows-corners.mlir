// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule,moe-align-rows)' | FileCheck %s

// With one slot per token the second GEMM may read its rows by token: they are
// flat rows, and can stay sorted.
// CHECK-LABEL: func @by_token
// CHECK:         moe.grouped_gemm
// CHECK-SAME:      c_order = #moe.row_order<sorted>
// CHECK:         moe.grouped_gemm
// CHECK-SAME:      a_order = #moe.row_order<sorted>
// CHECK-NOT:       row_source = #moe.row_source<token>
// CHECK:         return
func.func @by_token(%x: tensor<?x64xbf16>, %w1: tensor<4x64x64xbf16>, %w2: tensor<4x64x64xbf16>,
                    %ids: tensor<?x1xi32>, %o: tensor<?x64xbf16>, %t: index) -> tensor<?x64xbf16> {
  %e = tensor.empty(%t) : tensor<?x64xbf16>
  %h = moe.grouped_gemm ins(%x, %w1 : tensor<?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%ids : tensor<?x1xi32>) outs(%e : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%h, %w2 : tensor<?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%ids : tensor<?x1xi32>) outs(%o : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// Weights on the input belong to tokens: the rows stay flat.
// CHECK-LABEL: func @weight_on_input
// CHECK-NOT:     row_order<sorted>
// CHECK:         return
func.func @weight_on_input(%x: tensor<?x64xbf16>, %w1: tensor<4x64x64xbf16>, %w2: tensor<4x64x64xbf16>,
                           %ids: tensor<?x1xi32>, %w: tensor<?x1xf32>, %o: tensor<?x64xbf16>,
                           %t: index) -> tensor<?x64xbf16> {
  %e = tensor.empty(%t) : tensor<?x64xbf16>
  %h = moe.grouped_gemm ins(%x, %w1 : tensor<?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%ids : tensor<?x1xi32>) outs(%e : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%h, %w2 : tensor<?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%ids : tensor<?x1xi32>) weights(%w : tensor<?x1xf32>) outs(%o : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       weight = #moe.weight<input>} -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// Groups of unknown extent and GEMMs on memrefs keep the general kernel.
// CHECK-LABEL: func @dynamic_groups
// CHECK-NOT:     moe.align
// CHECK:         grouping = #moe.grouping<masked>, schedule = #moe.schedule<mma = simt
func.func @dynamic_groups(%x: tensor<4x?x64xbf16>, %w: tensor<4x64x64xbf16>, %counts: tensor<4xi32>,
                          %o: tensor<4x?x64xbf16>) -> tensor<4x?x64xbf16> {
  %y = moe.grouped_gemm ins(%x, %w : tensor<4x?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%counts : tensor<4xi32>) outs(%o : tensor<4x?x64xbf16>)
      {grouping = #moe.grouping<masked>} -> tensor<4x?x64xbf16>
  return %y : tensor<4x?x64xbf16>
}

// CHECK-LABEL: func @memrefs
// CHECK-NOT:     moe.align
// CHECK:         schedule = #moe.schedule<mma = simt
func.func @memrefs(%x: memref<?x64xbf16>, %w: memref<4x64x64xbf16>, %ids: memref<?x2xi32>,
                   %o: memref<?x64xbf16>) {
  moe.grouped_gemm ins(%x, %w : memref<?x64xbf16>, memref<4x64x64xbf16>)
      rows(%ids : memref<?x2xi32>) outs(%o : memref<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
  return
}
