// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-align-rows)' | FileCheck %s

// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> (((s0 + 126) ceildiv 32) * 64)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> ((s0 + 126) ceildiv 32)>

// The general kernel needs no table.
// CHECK-LABEL: func @simt
// CHECK-NEXT:    moe.grouped_gemm
// CHECK-NEXT:    return
func.func @simt(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %ids: tensor<?x2xi32>,
                %c: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16]>} -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}

// Two GEMMs share one table, and the rows between them stay in its order.
// CHECK-LABEL: func @layer
// CHECK:         %[[P:.*]] = affine.apply #[[ROWS]]()
// CHECK:         affine.apply #[[TILES]]()
// CHECK:         %[[T:.*]]:4 = moe.align
// CHECK-SAME:      block = 64
// CHECK-SAME:      experts = 4
// CHECK-NOT:     moe.align
// CHECK:         moe.grouped_gemm
// CHECK-SAME:      rows(%[[T]]#0, %[[T]]#1, %[[T]]#2
// CHECK-SAME:      c_order = #moe.row_order<sorted>
// CHECK-SAME:      top_k = 2
// CHECK:         moe.grouped_gemm
// CHECK-SAME:      rows(%[[T]]#0, %[[T]]#1, %[[T]]#2
// CHECK-SAME:      weights(%arg4
// CHECK-SAME:      a_order = #moe.row_order<sorted>
// CHECK-SAME:      grouping = #moe.grouping<aligned>
func.func @layer(%x: tensor<?x64xbf16>, %w1: tensor<4x32x64xbf16>, %w2: tensor<4x64x32xbf16>,
                 %ids: tensor<?x2xi32>, %w: tensor<?x2xf32>, %r: index) -> tensor<?x64xbf16> {
  %h0 = tensor.empty(%r) : tensor<?x32xbf16>
  %h = moe.grouped_gemm ins(%x, %w1 : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>} -> tensor<?x32xbf16>
  %y0 = tensor.empty(%r) : tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%h, %w2 : tensor<?x32xbf16>, tensor<4x64x32xbf16>)
      rows(%ids : tensor<?x2xi32>) weights(%w : tensor<?x2xf32>) outs(%y0 : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, weight = #moe.weight<output>,
       schedule = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>} -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// Ragged rows become ids, one for each row.
// CHECK-LABEL: func @offsets
// CHECK:         %[[IDS:.*]] = moe.group_ids ins(%arg2
// CHECK-SAME:      grouping = #moe.grouping<offsets>
// CHECK:         moe.align ins(%[[IDS]]
// CHECK:         moe.grouped_gemm
// CHECK-SAME:      grouping = #moe.grouping<aligned>
// CHECK-SAME:      top_k = 1
func.func @offsets(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %ends: tensor<4xi32>,
                   %c: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ends : tensor<4xi32>) outs(%c : tensor<?x32xbf16>)
      {grouping = #moe.grouping<offsets>, schedule = #moe.schedule<mma = mma_sync, tile = [16, 128, 64], stages = 4>} -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}

// CHECK-LABEL: func @masked
// CHECK:         moe.group_ids
// CHECK-SAME:      capacity = 8
// CHECK:         tensor.collapse_shape %arg0
// CHECK:         moe.align
// CHECK:         %[[C:.*]] = moe.grouped_gemm
// CHECK:         tensor.expand_shape %[[C]]
func.func @masked(%a: tensor<4x8x64xbf16>, %b: tensor<4x32x64xbf16>, %counts: tensor<4xi32>,
                  %c: tensor<4x8x32xbf16>) -> tensor<4x8x32xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<4x8x64xbf16>, tensor<4x32x64xbf16>)
      rows(%counts : tensor<4xi32>) outs(%c : tensor<4x8x32xbf16>)
      {grouping = #moe.grouping<masked>, schedule = #moe.schedule<mma = mma_sync, tile = [16, 128, 64], stages = 4>} -> tensor<4x8x32xbf16>
  return %0 : tensor<4x8x32xbf16>
}
