// Row tables and sorted intermediates are remarks of category moe-align.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-align-rows)' --remarks-filter='moe-align' \
// RUN:   --remark-policy=all 2>&1 >/dev/null | FileCheck %s --implicit-check-not='{{\[(Passed|Missed)\]}}'
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-align-rows)' --remarks-filter='moe-align' \
// RUN:   --remark-policy=all 2>&1 >/dev/null | grep 'rows between' | FileCheck %s --check-prefix=SORTED
//
// What the pass leaves is IR that it accepts, and does not change, again.
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-align-rows)' -o %t.once.mlir
// RUN: moe-opt %t.once.mlir --pass-pipeline='builtin.module(moe-align-rows)' -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir

#tensor_cores = #moe.schedule<mma = mma_sync, tile = [16, 128, 64], stages = 4>
#warpgroups = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>
#general = #moe.schedule<mma = simt, tile = [16, 64, 16]>

// One table for two GEMMs; the rows between them stay sorted, which is decided
// once all tables are there.
// CHECK:      remark: [Passed] row-table
// CHECK-SAME: row table of blocks of 64 rows for 4 experts, 2 slots per token
func.func @shared(%x: tensor<?x64xbf16>, %w1: tensor<4x32x64xbf16>, %w2: tensor<4x64x32xbf16>,
                  %ids: tensor<?x2xi32>, %r: index) -> tensor<?x64xbf16> {
  %h0 = tensor.empty(%r) : tensor<?x32xbf16>
  // SORTED: :[[#@LINE+1]]:8: remark: [Passed] row-table
  %h = moe.grouped_gemm ins(%x, %w1 : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #warpgroups} -> tensor<?x32xbf16>
  %y0 = tensor.empty(%r) : tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%h, %w2 : tensor<?x32xbf16>, tensor<4x64x32xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%y0 : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, schedule = #warpgroups} -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// Blocks of different heights cannot share a table, nor can rows stay sorted.
// CHECK:      remark: [Passed] row-table
// CHECK-SAME: row table of blocks of 64 rows for 4 experts, 2 slots per token
// CHECK:      remark: [Passed] row-table
// CHECK-SAME: row table of blocks of 16 rows for 4 experts, 2 slots per token
func.func @two_heights(%x: tensor<?x64xbf16>, %w1: tensor<4x32x64xbf16>, %w2: tensor<4x64x32xbf16>,
                       %ids: tensor<?x2xi32>, %r: index) -> tensor<?x64xbf16> {
  %h0 = tensor.empty(%r) : tensor<?x32xbf16>
  %h = moe.grouped_gemm ins(%x, %w1 : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #warpgroups} -> tensor<?x32xbf16>
  %y0 = tensor.empty(%r) : tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%h, %w2 : tensor<?x32xbf16>, tensor<4x64x32xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%y0 : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, schedule = #tensor_cores} -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// A GEMM whose rows the caller sees as well keeps them flat: a table, no more.
// CHECK:      remark: [Passed] row-table
// CHECK-SAME: row table of blocks of 64 rows for 4 experts, 2 slots per token
func.func @intermediate_returned(%x: tensor<?x64xbf16>, %w1: tensor<4x32x64xbf16>,
                                 %w2: tensor<4x64x32xbf16>, %ids: tensor<?x2xi32>, %r: index)
    -> (tensor<?x32xbf16>, tensor<?x64xbf16>) {
  %h0 = tensor.empty(%r) : tensor<?x32xbf16>
  %h = moe.grouped_gemm ins(%x, %w1 : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #warpgroups} -> tensor<?x32xbf16>
  %y0 = tensor.empty(%r) : tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%h, %w2 : tensor<?x32xbf16>, tensor<4x64x32xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%y0 : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, schedule = #warpgroups} -> tensor<?x64xbf16>
  return %h, %y : tensor<?x32xbf16>, tensor<?x64xbf16>
}

// CHECK:      remark: [Passed] row-table
// CHECK-SAME: row table of blocks of 16 rows for 4 experts, 1 slots per token
func.func @offsets(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %ends: tensor<4xi32>,
                   %c: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ends : tensor<4xi32>) outs(%c : tensor<?x32xbf16>)
      {grouping = #moe.grouping<offsets>, schedule = #tensor_cores} -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}

// CHECK:      remark: [Passed] row-table
// CHECK-SAME: the rows between two GEMMs stay in the order of the table

// The general kernel and the dense form have no table and no remark.
func.func @general(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %ids: tensor<?x2xi32>,
                   %c: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4x32x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>, schedule = #general} -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}
func.func @dense(%a: tensor<?x64xbf16>, %b: tensor<1x32x64xbf16>,
                 %c: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<1x32x64xbf16>)
      outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #tensor_cores} -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}
