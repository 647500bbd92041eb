// The launch list of a layer as JSON: for mma.sync, and for wgmma with tensor maps.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{arch=sm_80 tokens=64})' --emit=manifest > %t.sm_80.json
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{arch=sm_80 tokens=64})' --emit=ptx > %t.sm_80.ptx
// RUN: %python %S/Inputs/check_manifest.py %t.sm_80.json %t.sm_80.ptx | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{tokens=8192})' --emit=manifest > %t.sm_90a.json
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{tokens=8192})' --emit=ptx > %t.sm_90a.ptx
// RUN: %python %S/Inputs/check_manifest.py %t.sm_90a.json %t.sm_90a.ptx | FileCheck %s --check-prefixes=CHECK,SM90A

// CHECK:      version 2 @layer for {{sm_80|sm_90a}}: 5 arguments, 8 kernels
// SM80-NEXT:  [0, None]: 11 workspace, 0 maps, 8 launches
// SM90A-NEXT: [0, None]: 11 workspace, 2 maps, 8 launches
// CHECK-NEXT: layer_0_gate
// CHECK-NEXT: layer_1_route
// CHECK-NEXT: layer_2_align_rank
// CHECK-NEXT: layer_3_align_scan
// CHECK-NEXT: layer_4_align_scatter
// CHECK-NEXT: layer_5_grouped_gemm
// CHECK-NEXT: layer_6_grouped_gemm
// CHECK-NEXT: layer_7_combine
func.func @layer(%x: tensor<?x2048xbf16>, %wg: tensor<4x2048xbf16>, %w13: tensor<4x2048x2048xbf16>,
                 %w2: tensor<4x2048x1024xbf16>) -> tensor<?x2048xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x4xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x2048xbf16>, tensor<4x2048xbf16>)
      outs(%l0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %s, %i = moe.route ins(%l : tensor<?x4xf32>) outs(%s0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
      -> tensor<?x2xf32>, tensor<?x2xi32>
  %h0 = tensor.empty(%r) : tensor<?x2048xbf16>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x2048xbf16>, tensor<4x2048x2048xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%h0 : tensor<?x2048xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x2048xbf16>
  %a0 = tensor.empty(%r) : tensor<?x1024xbf16>
  %a = moe.activation ins(%h : tensor<?x2048xbf16>) outs(%a0 : tensor<?x1024xbf16>)
      {activation = #moe.activation<swiglu>} -> tensor<?x1024xbf16>
  %y0 = tensor.empty(%r) : tensor<?x2048xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x1024xbf16>, tensor<4x2048x1024xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x2048xbf16>)
      {grouping = #moe.grouping<ids>} -> tensor<?x2048xbf16>
  %o0 = tensor.empty(%t) : tensor<?x2048xbf16>
  %o = moe.combine ins(%y, %s, %i : tensor<?x2048xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x2048xbf16>) {experts = 4} -> tensor<?x2048xbf16>
  return %o : tensor<?x2048xbf16>
}
