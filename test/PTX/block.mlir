// The block that a user writes decides the instruction.
//
// RUN: moe-opt %s --moe-to-ptx --emit=ptx | FileCheck %s
// RUN: moe-opt %s --moe-to-ptx=arch=sm_80 --emit=ptx | FileCheck %s --check-prefix=SM80
// RUN: moe-opt %s --moe-to-ptx=arch=sm_90 --emit=ptx | FileCheck %s --check-prefix=SM90
// RUN: not moe-opt %s --moe-to-ptx=arch=sm_100 --emit=ptx 2>&1 | FileCheck %s --check-prefix=SM100

// Nothing but PTX is printed.
// CHECK:       {{^//$}}
// CHECK:       .version 8.0
// CHECK:       .target sm_90a

// CHECK-LABEL: .visible .entry block16_
// CHECK-NOT:     wgmma.mma_async
// CHECK:         mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT:     wgmma.mma_async
// CHECK-LABEL: .visible .entry block64_
// CHECK-NOT:     mma.sync.aligned
// CHECK:         wgmma.mma_async.sync.aligned.m64n
// CHECK-NOT:     mma.sync.aligned

// SM80:        .target sm_80
// SM80-NOT:    wgmma.
// SM80:        mma.sync
// SM80-NOT:    wgmma.

// wgmma needs the "a" of sm_90a.
// SM90:        .target sm_90
// SM90-NOT:    wgmma.
// SM90:        mma.sync
// SM90-NOT:    wgmma.

// SM100: error: no target 'sm_100'; supported are sm_80, sm_89, sm_90, sm_90a

func.func @block16(%a: tensor<?x512xbf16>, %b: tensor<4x256x512xbf16>, %rows: tensor<?xi32>,
                   %tiles: tensor<?xi32>, %padded: tensor<1xi32>,
                   %c: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x512xbf16>, tensor<4x256x512xbf16>)
      rows(%rows, %tiles, %padded : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>)
      outs(%c : tensor<?x256xbf16>)
      {grouping = #moe.grouping<aligned>, block = 16, top_k = 2} -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}

func.func @block64(%a: tensor<?x512xbf16>, %b: tensor<4x256x512xbf16>, %rows: tensor<?xi32>,
                   %tiles: tensor<?xi32>, %padded: tensor<1xi32>,
                   %c: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x512xbf16>, tensor<4x256x512xbf16>)
      rows(%rows, %tiles, %padded : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>)
      outs(%c : tensor<?x256xbf16>)
      {grouping = #moe.grouping<aligned>, block = 64, top_k = 2} -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}
