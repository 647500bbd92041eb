// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.permute and moe.unpermute, tensors and memrefs.

// CHECK-LABEL: func @permute
func.func @permute(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %m: tensor<16xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // CHECK: moe.permute ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>)
    outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  // CHECK: moe.permute ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x2xi32>) expert_map(%{{.*}} : tensor<16xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  %1:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) expert_map(%m : tensor<16xi32>)
    outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// CHECK-LABEL: func @permute_memrefs
func.func @permute_memrefs(%x: memref<4x64xf32>, %i: memref<4x2xi32>, %r: memref<8x64xf32>, %s: memref<8xi32>, %o: memref<8xi32>) {
  // CHECK: moe.permute ins(%{{.*}}, %{{.*}} : memref<4x64xf32>, memref<4x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<8x64xf32>, memref<8xi32>, memref<8xi32>) {experts = 8 : i64}
  moe.permute ins(%x, %i : memref<4x64xf32>, memref<4x2xi32>) outs(%r, %s, %o : memref<8x64xf32>, memref<8xi32>, memref<8xi32>) {experts = 8 : i64}
  return
}

// CHECK-LABEL: func @unpermute
func.func @unpermute(%r: tensor<?x64xf16>, %s: tensor<?xi32>, %y: tensor<?x64xf16>) {
  // CHECK: moe.unpermute ins(%{{.*}}, %{{.*}} : tensor<?x64xf16>, tensor<?xi32>) outs(%{{.*}} : tensor<?x64xf16>) -> tensor<?x64xf16>
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xf16>, tensor<?xi32>) outs(%y : tensor<?x64xf16>) -> tensor<?x64xf16>
  return
}

// CHECK-LABEL: func @unpermute_memrefs
func.func @unpermute_memrefs(%r: memref<0x64xf16>, %s: memref<0xi32>, %y: memref<0x64xf16>) {
  // CHECK: moe.unpermute ins(%{{.*}}, %{{.*}} : memref<0x64xf16>, memref<0xi32>) outs(%{{.*}} : memref<0x64xf16>)
  moe.unpermute ins(%r, %s : memref<0x64xf16>, memref<0xi32>) outs(%y : memref<0x64xf16>)
  return
}
