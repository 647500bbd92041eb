// Ranges that the cost model finds.
//
// RUN: moe-opt %s --moe-split-token-ranges=automatic | FileCheck %s
// RUN: moe-opt %s --moe-split-token-ranges=automatic --remarks-filter='moe-token-ranges' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-split-token-ranges{automatic arch=sm_80})' | FileCheck %s --check-prefix=SM80
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-split-token-ranges{automatic},moe-split-token-ranges{automatic})' | FileCheck %s

// Few tokens: short blocks; many: 128 rows of a warpgroup MMA. No gap, and no
// upper end.
// CHECK:      func.func @layer_t1_[[A:[0-9]+]](
// CHECK-SAME:   moe.token_range = [1, [[A]]]
// CHECK:      func.func @layer_t{{[0-9]+}}_up(
// CHECK-SAME:   moe.token_range = [{{[0-9]+}}, -1]
// REMARK: [Passed] split | Category:moe-token-ranges | Remark="@layer has {{[2-5]}} variants, for 1 to {{.*}} and more tokens, where the cost model changes"
// SM80:       func.func @layer_t1_
func.func @layer(%a: tensor<?x2048xbf16>, %b: tensor<128x1536x2048xbf16>, %ids: tensor<?x8xi32>, %c: tensor<?x1536xbf16>) -> tensor<?x1536xbf16> {
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x2048xbf16>, tensor<128x1536x2048xbf16>)
      rows(%ids : tensor<?x8xi32>) outs(%c : tensor<?x1536xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x1536xbf16>
  return %r : tensor<?x1536xbf16>
}

// What is written stays: ranges, schedules.
// CHECK:      func.func @written_t1_7(
// CHECK-NEXT: return
// CHECK:      func.func @decided(
func.func @written(%x: tensor<?x8xf32>) attributes {moe.token_ranges = [[1, 7]]} {
  return
}
func.func @decided(%a: tensor<?x64xbf16>, %b: tensor<4x64x64xbf16>, %ids: tensor<?x2xi32>, %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #moe.schedule<mma = wgmma, tile = [64, 64, 64], stages = 4>} -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

// One kernel takes f32, whatever T is.
// CHECK:      func.func @general(
// REMARK: [Analysis] split | Category:moe-token-ranges | Remark="@general stays whole: one choice of schedules serves any number of tokens"
func.func @general(%a: tensor<?x64xf32>, %b: tensor<4x64x64xf32>, %ids: tensor<?x2xi32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x64xf32>, tensor<4x64x64xf32>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x64xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
