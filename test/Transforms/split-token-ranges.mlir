// A variant for each range of tokens.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-split-token-ranges)' | FileCheck %s
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-split-token-ranges,moe-select-schedule{tokens=300})' | FileCheck %s --check-prefix=SELECT
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-split-token-ranges)' --remarks-filter='moe-token-ranges' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Does nothing without the attribute.
// CHECK:      func.func @whole(
// CHECK-NOT:  moe.token_range
// CHECK:      func.func private @declared(
func.func @whole(%a: tensor<?x64xbf16>, %b: tensor<4x64x64xbf16>, %ids: tensor<?x2xi32>, %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4x64x64xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}
func.func private @declared(tensor<?x64xbf16>) attributes {moe.token_ranges = [[1, 2]]}

// The variants stand where the function was, in the order of the ranges, and a
// name that is taken gets a number.
// CHECK:      func.func private @layer_t1_16()
// CHECK-NOT:  @layer(
// CHECK:      func.func @layer_t1_16_0(
// CHECK-SAME: attributes {moe.token_range = [1, 16], moe.variant_of = "layer"}
// CHECK:      func.func @layer_t17_128(
// CHECK-SAME: attributes {moe.token_range = [17, 128], moe.variant_of = "layer"}
// CHECK:        moe.grouped_gemm
// CHECK:      func.func @layer_t8000_up(
// CHECK-SAME: attributes {moe.token_range = [8000, -1], moe.variant_of = "layer"}

// Schedules are for 4, 47 and 32000 tokens with two rows each; without a range
// for what the option says.
// SELECT:       func.func @whole(
// SELECT:         schedule = #moe.schedule<mma = mma_sync, tile = [32,
// SELECT:       func.func @layer_t1_16_0(
// SELECT:         schedule = #moe.schedule<mma = mma_sync, tile = [16,
// SELECT:       func.func @layer_t17_128(
// SELECT:         schedule = #moe.schedule<mma = mma_sync, tile = [16,
// SELECT:       func.func @layer_t8000_up(
// SELECT:         schedule = #moe.schedule<mma = wgmma, tile = [128,

// REMARK: [Passed] split | Category:moe-token-ranges | Remark="@layer has 3 variants, for 1 to 16, 17 to 128, 8000 and more tokens, as written"
func.func private @layer_t1_16()
func.func @layer(%a: tensor<?x4096xbf16>, %b: tensor<8x4096x4096xbf16>, %ids: tensor<?x2xi32>, %c: tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
    attributes {moe.token_ranges = [[1, 16], [17, 128], [8000, -1]]} {
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x4096xbf16>, tensor<8x4096x4096xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x4096xbf16>
  return %r : tensor<?x4096xbf16>
}
