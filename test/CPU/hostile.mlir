// RUN: %python %S/hostile.py %s | FileCheck %s

// Integers that nobody checked: ids, maps, offsets, sizes, counts and row
// tables of any value read and write inside their buffers alone, and mean on
// the CPU what they mean to the reference.

// CHECK: 20 of 20 seeds agree

func.func @layer(%x: tensor<6x8xf32>, %rows: tensor<12x8xf32>, %b: tensor<4x6x8xf32>,
                 %ids: tensor<6x2xi32>, %map: tensor<7xi32>, %ends: tensor<4xi32>,
                 %table: tensor<40xi32>, %tiles: tensor<10xi32>, %padded: tensor<1xi32>,
                 %wide: tensor<5x12xf32>, %wider: tensor<12x3xf32>, %sorted: tensor<40x8xf32>,
                 %stack: tensor<4x3x8xf32>, %w: tensor<6x2xf32>, %source: tensor<12xi32>,
                 %logits: tensor<6x4xf32>, %tokens: tensor<6xi32>, %hash: tensor<3x2xi32>)
    -> (tensor<40xi32>, tensor<10xi32>, tensor<1xi32>, tensor<4xi32>,
        tensor<12x1xi32>, tensor<12x1xi32>, tensor<12x1xi32>,
        tensor<12x6xf32>, tensor<12x6xf32>, tensor<40x6xf32>, tensor<12x6xf32>,
        tensor<12x6xf32>, tensor<12x6xf32>, tensor<4x3x6xf32>, tensor<4x5x3xf32>,
        tensor<12x8xf32>, tensor<12xi32>, tensor<4xi32>, tensor<12x8xf32>,
        tensor<6x8xf32>, tensor<6x2xf32>, tensor<6x2xi32>) {
  %e40i = tensor.empty() : tensor<40xi32>
  %e10i = tensor.empty() : tensor<10xi32>
  %e1i = tensor.empty() : tensor<1xi32>
  %e4i = tensor.empty() : tensor<4xi32>
  %e12x1i = tensor.empty() : tensor<12x1xi32>
  %e12x6 = tensor.empty() : tensor<12x6xf32>
  %e40x6 = tensor.empty() : tensor<40x6xf32>
  %e4x3x6 = tensor.empty() : tensor<4x3x6xf32>
  %e4x5x3 = tensor.empty() : tensor<4x5x3xf32>
  %e12x8 = tensor.empty() : tensor<12x8xf32>
  %e12i = tensor.empty() : tensor<12xi32>
  %e6x8 = tensor.empty() : tensor<6x8xf32>
  %e6x2 = tensor.empty() : tensor<6x2xf32>
  %e6x2i = tensor.empty() : tensor<6x2xi32>

  %a:4 = moe.align ins(%ids : tensor<6x2xi32>) expert_map(%map : tensor<7xi32>)
      outs(%e40i, %e10i, %e1i, %e4i : tensor<40xi32>, tensor<10xi32>, tensor<1xi32>, tensor<4xi32>)
      {experts = 4, block = 4} -> tensor<40xi32>, tensor<10xi32>, tensor<1xi32>, tensor<4xi32>
  %g0 = moe.group_ids ins(%ends : tensor<4xi32>) outs(%e12x1i : tensor<12x1xi32>)
      {grouping = #moe.grouping<offsets>} -> tensor<12x1xi32>
  %g1 = moe.group_ids ins(%ends : tensor<4xi32>) outs(%e12x1i : tensor<12x1xi32>)
      {grouping = #moe.grouping<sizes>} -> tensor<12x1xi32>
  %g2 = moe.group_ids ins(%ends : tensor<4xi32>) outs(%e12x1i : tensor<12x1xi32>)
      {grouping = #moe.grouping<masked>, capacity = 3} -> tensor<12x1xi32>

  %c0 = moe.grouped_gemm ins(%x, %b : tensor<6x8xf32>, tensor<4x6x8xf32>)
      rows(%ids : tensor<6x2xi32>) expert_map(%map : tensor<7xi32>) outs(%e12x6 : tensor<12x6xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<12x6xf32>
  %c1 = moe.grouped_gemm ins(%rows, %b : tensor<12x8xf32>, tensor<4x6x8xf32>)
      rows(%table, %tiles, %padded : tensor<40xi32>, tensor<10xi32>, tensor<1xi32>)
      weights(%w : tensor<6x2xf32>) outs(%e12x6 : tensor<12x6xf32>)
      {grouping = #moe.grouping<aligned>, top_k = 2, block = 4,
       weight = #moe.weight<output>} -> tensor<12x6xf32>
  %c2 = moe.grouped_gemm ins(%x, %b : tensor<6x8xf32>, tensor<4x6x8xf32>)
      rows(%table, %tiles, %padded : tensor<40xi32>, tensor<10xi32>, tensor<1xi32>)
      outs(%e40x6 : tensor<40x6xf32>)
      {grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, top_k = 2,
       block = 4, c_order = #moe.row_order<sorted>} -> tensor<40x6xf32>
  %c3 = moe.grouped_gemm ins(%sorted, %b : tensor<40x8xf32>, tensor<4x6x8xf32>)
      rows(%table, %tiles, %padded : tensor<40xi32>, tensor<10xi32>, tensor<1xi32>)
      outs(%e12x6 : tensor<12x6xf32>)
      {grouping = #moe.grouping<aligned>, top_k = 2, block = 4,
       a_order = #moe.row_order<sorted>} -> tensor<12x6xf32>
  %c4 = moe.grouped_gemm ins(%rows, %b : tensor<12x8xf32>, tensor<4x6x8xf32>)
      rows(%ends : tensor<4xi32>) outs(%e12x6 : tensor<12x6xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<12x6xf32>
  %c5 = moe.grouped_gemm ins(%rows, %b : tensor<12x8xf32>, tensor<4x6x8xf32>)
      rows(%ends : tensor<4xi32>) outs(%e12x6 : tensor<12x6xf32>)
      {grouping = #moe.grouping<sizes>} -> tensor<12x6xf32>
  %c6 = moe.grouped_gemm ins(%stack, %b : tensor<4x3x8xf32>, tensor<4x6x8xf32>)
      rows(%ends : tensor<4xi32>) outs(%e4x3x6 : tensor<4x3x6xf32>)
      {grouping = #moe.grouping<masked>} -> tensor<4x3x6xf32>
  %c7 = moe.grouped_gemm ins(%wide, %wider : tensor<5x12xf32>, tensor<12x3xf32>)
      rows(%ends : tensor<4xi32>) outs(%e4x5x3 : tensor<4x5x3xf32>)
      {grouping = #moe.grouping<k_grouped>, b_layout = #moe.b_layout<kn>} -> tensor<4x5x3xf32>

  %p:3 = moe.permute ins(%x, %ids : tensor<6x8xf32>, tensor<6x2xi32>) expert_map(%map : tensor<7xi32>)
      outs(%e12x8, %e12i, %e4i : tensor<12x8xf32>, tensor<12xi32>, tensor<4xi32>)
      {experts = 4} -> tensor<12x8xf32>, tensor<12xi32>, tensor<4xi32>
  %u = moe.unpermute ins(%rows, %source : tensor<12x8xf32>, tensor<12xi32>)
      outs(%e12x8 : tensor<12x8xf32>) -> tensor<12x8xf32>
  %o = moe.combine ins(%rows, %w, %ids : tensor<12x8xf32>, tensor<6x2xf32>, tensor<6x2xi32>)
      expert_map(%map : tensor<7xi32>) identity(%x : tensor<6x8xf32>) outs(%e6x8 : tensor<6x8xf32>)
      {experts = 4, identity_experts = 2} -> tensor<6x8xf32>
  %r:2 = moe.route ins(%logits : tensor<6x4xf32>)
      table(%tokens, %hash : tensor<6xi32>, tensor<3x2xi32>)
      outs(%e6x2, %e6x2i : tensor<6x2xf32>, tensor<6x2xi32>)
      {score = #moe.score<sigmoid>} -> tensor<6x2xf32>, tensor<6x2xi32>
  return %a#0, %a#1, %a#2, %a#3, %g0, %g1, %g2, %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7,
      %p#0, %p#1, %p#2, %u, %o, %r#0, %r#1
      : tensor<40xi32>, tensor<10xi32>, tensor<1xi32>, tensor<4xi32>,
        tensor<12x1xi32>, tensor<12x1xi32>, tensor<12x1xi32>,
        tensor<12x6xf32>, tensor<12x6xf32>, tensor<40x6xf32>, tensor<12x6xf32>,
        tensor<12x6xf32>, tensor<12x6xf32>, tensor<4x3x6xf32>, tensor<4x5x3xf32>,
        tensor<12x8xf32>, tensor<12xi32>, tensor<4xi32>, tensor<12x8xf32>,
        tensor<6x8xf32>, tensor<6x2xf32>, tensor<6x2xi32>
}
