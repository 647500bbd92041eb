// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule{tokens=16})' | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule{tokens=8192})' | FileCheck %s --check-prefixes=CHECK,MANY
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule{arch=sm_80 tokens=8192})' | FileCheck %s --check-prefix=SM80
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule{tokens=16})' \
// RUN:   --remarks-filter='moe.*' --remark-policy=all 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: not moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule{arch=sm_100})' 2>&1 | FileCheck %s --check-prefix=ARCH

// RUN: not moe-opt %s --pass-pipeline='builtin.module(moe-select-schedule{tokens=-5})' 2>&1 | FileCheck %s --check-prefix=TOKENS

// TOKENS: error: moe-select-schedule requires tokens to be in [1, 2147483647], but got -5
// ARCH: error: no target 'sm_100'; supported are sm_80, sm_89, sm_90, sm_90a

// A schedule that is there stays.
// CHECK-LABEL: func @written
// CHECK:         schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], stages = 3>
func.func @written(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                   %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], stages = 3>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// Few rows for each expert take short blocks, many take wgmma; sm_80 has none.
// CHECK-LABEL: func @bf16
// FEW:           mma = mma_sync, tile = [16,
// MANY:          mma = wgmma, tile = [128,
// SM80-LABEL:  func @bf16
// SM80-NOT:      wgmma
// SM80:          mma = mma_sync
// SM80-NOT:      wgmma
// REMARK:      [Passed] schedule
// REMARK-SAME: mma_sync, tile [16, 128, 64], 5 stages for 32 rows, 8 experts
// REMARK:      [Missed] schedule
// REMARK-SAME: best rejected: mma_sync, tile [32, 128, 64], 5 stages
func.func @bf16(%a: tensor<?x2048xbf16>, %b: tensor<8x1024x2048xbf16>,
                %ids: tensor<?x2xi32>, %c: tensor<?x1024xbf16>) -> tensor<?x1024xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x2048xbf16>, tensor<8x1024x2048xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x1024xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x1024xbf16>
  return %0 : tensor<?x1024xbf16>
}

// CHECK-LABEL: func @f32
// CHECK:         mma = simt
// REMARK:      [Passed] schedule
// REMARK-SAME: simt
// REMARK-SAME: f32 rows are multiplied exactly, without tensor cores
func.func @f32(%a: tensor<?x128xf32>, %b: tensor<1x64x128xf32>,
               %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xf32>, tensor<1x64x128xf32>)
      outs(%c : tensor<?x64xf32>) {grouping = #moe.grouping<dense>} -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: func @odd_k
// CHECK:         mma = simt
// REMARK:      rows of b (K = 511) start at multiples of 2 bytes, but have to at multiples of 4
func.func @odd_k(%a: tensor<?x511xbf16>, %b: tensor<1x64x511xbf16>,
                 %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x511xbf16>, tensor<1x64x511xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// CHECK-LABEL: func @kn
// CHECK:         mma = simt
// REMARK:      b is laid out as [K, N]
func.func @kn(%a: tensor<?x128xbf16>, %b: tensor<1x128x64xbf16>,
              %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x128x64xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      b_layout = #moe.b_layout<kn>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// The block that the user wrote decides the family.
// CHECK-LABEL: func @block16
// CHECK:         mma = mma_sync, tile = [16,
// REMARK:      block written by the user
func.func @block16(%a: tensor<?x128xbf16>, %b: tensor<4x64x128xbf16>,
                   %rows: tensor<?xi32>, %tiles: tensor<?xi32>, %padded: tensor<1xi32>,
                   %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<4x64x128xbf16>)
      rows(%rows, %tiles, %padded : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>)
      outs(%c : tensor<?x64xbf16>)
      {grouping = #moe.grouping<aligned>, block = 16, top_k = 2} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// CHECK-LABEL: func @block64
// CHECK:         mma = wgmma, tile = [64,
// SM80-LABEL:  func @block64
// SM80:          mma = mma_sync, tile = [32,
func.func @block64(%a: tensor<?x128xbf16>, %b: tensor<4x64x128xbf16>,
                   %rows: tensor<?xi32>, %tiles: tensor<?xi32>, %padded: tensor<1xi32>,
                   %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<4x64x128xbf16>)
      rows(%rows, %tiles, %padded : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>)
      outs(%c : tensor<?x64xbf16>)
      {grouping = #moe.grouping<aligned>, block = 64, top_k = 2} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}
