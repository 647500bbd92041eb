// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.gate: tensors and memrefs, with and without bias, every float type.

// CHECK-LABEL: func @tensors
func.func @tensors(%x: tensor<?x64xbf16>, %w: tensor<8x64xf16>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: moe.gate ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<8x64xf16>) outs(%{{.*}} : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func @bias
func.func @bias(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>, %b: tensor<8xbf16>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: moe.gate ins(%{{.*}}, %{{.*}} : tensor<4x64xf32>, tensor<8x64xf32>) bias(%{{.*}} : tensor<8xbf16>) outs(%{{.*}} : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = moe.gate ins(%x, %w : tensor<4x64xf32>, tensor<8x64xf32>) bias(%b : tensor<8xbf16>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @memrefs
func.func @memrefs(%x: memref<?x64xbf16>, %w: memref<8x64xbf16>, %b: memref<8xf32>, %o: memref<?x8xf32>) {
  // CHECK: moe.gate ins(%{{.*}}, %{{.*}} : memref<?x64xbf16>, memref<8x64xbf16>) bias(%{{.*}} : memref<8xf32>) outs(%{{.*}} : memref<?x8xf32>)
  moe.gate ins(%x, %w : memref<?x64xbf16>, memref<8x64xbf16>) bias(%b : memref<8xf32>) outs(%o : memref<?x8xf32>)
  return
}

// Strided rows and no tokens are legal.
// CHECK-LABEL: func @strided
func.func @strided(%x: memref<0x64xbf16, strided<[128, 1], offset: ?>>, %w: memref<8x64xbf16>, %o: memref<0x8xf32>) {
  // CHECK: moe.gate ins(%{{.*}}, %{{.*}} : memref<0x64xbf16, strided<[128, 1], offset: ?>>, memref<8x64xbf16>) outs(%{{.*}} : memref<0x8xf32>)
  moe.gate ins(%x, %w : memref<0x64xbf16, strided<[128, 1], offset: ?>>, memref<8x64xbf16>) outs(%o : memref<0x8xf32>)
  return
}
