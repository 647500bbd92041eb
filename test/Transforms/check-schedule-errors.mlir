// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-check-schedule{arch=sm_90a})' --verify-diagnostics --split-input-file

// Schedules that fit pass in silence.
func.func @fits(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @shared_memory(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                         %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op needs 410752 bytes of shared memory: 8 stages of a tile of a (16384 bytes) and a tile of b (32768 bytes), barriers (128 bytes) and staging (17408 bytes); sm_90a has 232448 per block; 4 stages fit}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [128, 256, 64], stages = 8, warps = 12>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @rows(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires tiles of 64 or 128 rows for mma = wgmma, but got 32}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [32, 128, 64], stages = 4>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @columns(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                   %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires tiles of 8 to 256 columns in steps of 8 for mma = wgmma, but got 100}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [64, 100, 64], stages = 4>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @tile_k(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                  %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires tiles of 64 elements of K, but got 32}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [64, 128, 32], stages = 4>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

// A tile and a cluster that no kernel runs.
func.func @cluster(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                   %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op has a schedule with cluster = 2 and split_k = 1, but no kernel computes tiles in clusters or splits K; use 1}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [64, 64, 64], stages = 4, cluster = 2>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @orientation(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                       %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op has a schedule with orientation = weights_m, which no kernel computes; use tokens_m}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, orientation = weights_m, tile = [64, 64, 64], stages = 4, warps = 8>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @f32(%a: tensor<?x128xf32>, %b: tensor<1x64x128xf32>,
               %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{'moe.grouped_gemm' op has a schedule with mma = mma_sync, but f32 rows are multiplied exactly, without tensor cores; use mma = simt}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xf32>, tensor<1x64x128xf32>)
      outs(%c : tensor<?x64xf32>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], stages = 4>} -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

func.func @block(%a: tensor<?x128xbf16>, %b: tensor<4x64x128xbf16>,
                 %rows: tensor<?xi32>, %tiles: tensor<?xi32>, %padded: tensor<1xi32>,
                 %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires its blocks of 16 rows to be made of whole tiles, but got tiles of 64 rows; write mma = mma_sync and a tile of 16 rows}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<4x64x128xbf16>)
      rows(%rows, %tiles, %padded : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>)
      outs(%c : tensor<?x64xbf16>)
      {grouping = #moe.grouping<aligned>, block = 16, top_k = 2,
       schedule = #moe.schedule<mma = wgmma, tile = [64, 64, 64], stages = 4, warps = 8>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @stages(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                  %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires 2 to 16 stages, but got 9223372036854775807}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], stages = 9223372036854775807>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @warps(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                 %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires 12 warps for mma = wgmma and tiles of 128 rows, but got 4}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [128, 128, 64], stages = 4>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

// A gated activation pairs columns: the step doubles.
func.func @gated(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                 %c: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op requires tiles of 128 to 256 columns in steps of 128 for mma = mma_sync with a gated activation, but got 64}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<dense>,
      activation = #moe.activation<swiglu>,
      schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], stages = 4>} -> tensor<?x32xbf16>
  return %0 : tensor<?x32xbf16>
}
