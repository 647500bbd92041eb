// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.activation: every kind and parameter of #moe.activation.

// CHECK-LABEL: func @gated
func.func @gated(%h: tensor<?x64xbf16>, %a: tensor<?x32xf32>) {
  // CHECK: moe.activation ins(%{{.*}} : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {activation = #moe.activation<swiglu>} -> tensor<?x32xf32>
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xf32>) {activation = #moe.activation<swiglu>} -> tensor<?x32xf32>
  // CHECK: moe.activation ins(%{{.*}} : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {activation = #moe.activation<swiglu, limit = 1.000000e+01 : f32>} -> tensor<?x32xf32>
  %1 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xf32>) {activation = #moe.activation<swiglu, limit = 1.000000e+01 : f32>} -> tensor<?x32xf32>
  // CHECK: moe.activation ins(%{{.*}} : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {activation = #moe.activation<swigluoai, layout = interleaved, limit = 7.000000e+00 : f32, alpha = 1.500000e+00 : f32>} -> tensor<?x32xf32>
  %2 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xf32>) {activation = #moe.activation<swigluoai, layout = interleaved, limit = 7.000000e+00 : f32, alpha = 1.500000e+00 : f32>} -> tensor<?x32xf32>
  // CHECK: moe.activation ins(%{{.*}} : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {activation = #moe.activation<swiglustep, limit = 7.000000e+00 : f16>} -> tensor<?x32xf32>
  %3 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xf32>) {activation = #moe.activation<swiglustep, limit = 7.000000e+00 : f16>} -> tensor<?x32xf32>
  // CHECK: moe.activation ins(%{{.*}} : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {activation = #moe.activation<geglu, layout = interleaved>} -> tensor<?x32xf32>
  %4 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xf32>) {activation = #moe.activation<geglu, layout = interleaved>} -> tensor<?x32xf32>
  // CHECK: moe.activation ins(%{{.*}} : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {activation = #moe.activation<situ, beta = 3.000000e+00 : f32, linear_beta = 2.000000e+01 : f32>} -> tensor<?x32xf32>
  %5 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xf32>) {activation = #moe.activation<situ, beta = 3.000000e+00 : f32, linear_beta = 2.000000e+01 : f32>} -> tensor<?x32xf32>
  return
}

// CHECK-LABEL: func @plain
func.func @plain(%h: memref<?x64xf16>, %a: memref<?x64xf16>) {
  // CHECK: moe.activation ins(%{{.*}} : memref<?x64xf16>) outs(%{{.*}} : memref<?x64xf16>) {activation = #moe.activation<gelu>}
  moe.activation ins(%h : memref<?x64xf16>) outs(%a : memref<?x64xf16>) {activation = #moe.activation<gelu>}
  // CHECK: moe.activation ins(%{{.*}} : memref<?x64xf16>) outs(%{{.*}} : memref<?x64xf16>) {activation = #moe.activation<relu2>}
  moe.activation ins(%h : memref<?x64xf16>) outs(%a : memref<?x64xf16>) {activation = #moe.activation<relu2>}
  // CHECK: moe.activation ins(%{{.*}} : memref<?x64xf16>) outs(%{{.*}} : memref<?x64xf16>) {activation = #moe.activation<silu>}
  moe.activation ins(%h : memref<?x64xf16>) outs(%a : memref<?x64xf16>) {activation = #moe.activation<silu>}
  return
}

// CHECK-LABEL: func @empty
func.func @empty(%h: memref<0x0xf32>, %a: memref<0x0xf32>) {
  // CHECK: moe.activation ins(%{{.*}} : memref<0x0xf32>) outs(%{{.*}} : memref<0x0xf32>) {activation = #moe.activation<swiglu>}
  moe.activation ins(%h : memref<0x0xf32>) outs(%a : memref<0x0xf32>) {activation = #moe.activation<swiglu>}
  return
}
