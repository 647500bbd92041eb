// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-check-schedule{arch=sm_80})' --verify-diagnostics

// A schedule tuned for another chip is checked against the one compiled for.
func.func @wgmma(%a: tensor<?x128xbf16>, %b: tensor<1x64x128xbf16>,
                 %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{'moe.grouped_gemm' op has a schedule with mma = wgmma, which sm_80 does not have; use mma = mma_sync or compile for sm_90a}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x128xbf16>, tensor<1x64x128xbf16>)
      outs(%c : tensor<?x64xbf16>) {grouping = #moe.grouping<dense>,
      schedule = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>} -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}
