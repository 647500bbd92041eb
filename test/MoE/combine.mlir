// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.combine: every optional operand and attribute, tensors and memrefs.

// CHECK-LABEL: func @plain
func.func @plain(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // CHECK: moe.combine ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%{{.*}} : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: func @everything
func.func @everything(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %m: tensor<16xi32>, %x: tensor<?x64xf16>, %r: tensor<?x64xf32>, %o: tensor<?x64xbf16>) {
  // CHECK: moe.combine ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) expert_map(%{{.*}} : tensor<16xi32>) identity(%{{.*}} : tensor<?x64xf16>) residual(%{{.*}} : tensor<?x64xf32>) outs(%{{.*}} : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64, residual_scale = 5.000000e-01 : f32, routed_scale = 2.500000e+00 : f32, scale = 3.000000e+00 : f32, weighted = false} -> tensor<?x64xbf16>
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
    expert_map(%m : tensor<16xi32>) identity(%x : tensor<?x64xf16>) residual(%r : tensor<?x64xf32>) outs(%o : tensor<?x64xbf16>)
    {experts = 8 : i64, identity_experts = 4 : i64, residual_scale = 5.000000e-01 : f32, routed_scale = 2.500000e+00 : f32, scale = 3.000000e+00 : f32, weighted = false} -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: func @memrefs
func.func @memrefs(%y: memref<8x64xf32>, %w: memref<4x2xf32>, %i: memref<4x2xi32>, %r: memref<4x64xf32>, %o: memref<4x64xf32>) {
  // CHECK: moe.combine ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<8x64xf32>, memref<4x2xf32>, memref<4x2xi32>) residual(%{{.*}} : memref<4x64xf32>) outs(%{{.*}} : memref<4x64xf32>) {experts = 4096 : i64}
  moe.combine ins(%y, %w, %i : memref<8x64xf32>, memref<4x2xf32>, memref<4x2xi32>) residual(%r : memref<4x64xf32>) outs(%o : memref<4x64xf32>) {experts = 4096 : i64}
  return
}

// CHECK-LABEL: func @no_tokens
func.func @no_tokens(%y: memref<0x64xf32>, %w: memref<0x2xf32>, %i: memref<0x2xi32>, %o: memref<0x64xf32>) {
  // CHECK: moe.combine ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<0x64xf32>, memref<0x2xf32>, memref<0x2xi32>) outs(%{{.*}} : memref<0x64xf32>) {experts = 1 : i64}
  moe.combine ins(%y, %w, %i : memref<0x64xf32>, memref<0x2xf32>, memref<0x2xi32>) outs(%o : memref<0x64xf32>) {experts = 1 : i64}
  return
}
