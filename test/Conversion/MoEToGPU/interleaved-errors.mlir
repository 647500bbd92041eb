// RUN: moe-opt %s --verify-diagnostics --pass-pipeline='builtin.module(moe-outline-kernels)'

func.func @interleaved(%a: memref<?x64xbf16>, %b: memref<1x64x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule of wgmma, which loads gate and up rows as halves; schedule mma_sync or store b as halves}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x64x64xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>, activation = #moe.activation<swiglu, layout = interleaved>,
     schedule = #moe.schedule<mma = wgmma, tile = [64, 64, 64]>}
  return
}
