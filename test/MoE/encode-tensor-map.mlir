// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.encode_tensor_map and its type.

// CHECK-LABEL: func @default_swizzle
func.func @default_swizzle(%s: memref<?x64xbf16>) -> !moe.tensor_map {
  // CHECK: moe.encode_tensor_map %{{.*}} box [64, 64] : memref<?x64xbf16> -> !moe.tensor_map
  %0 = moe.encode_tensor_map %s box [64, 64] : memref<?x64xbf16> -> !moe.tensor_map
  return %0 : !moe.tensor_map
}

// CHECK-LABEL: func @swizzles
func.func @swizzles(%s: memref<8x32x64xbf16>, %b: memref<2x2x2x2x16xi8>, %d: memref<8x2xf64>) {
  // CHECK: moe.encode_tensor_map %{{.*}} box [1, 32, 16] {swizzle = 32 : i64} : memref<8x32x64xbf16> -> !moe.tensor_map
  %0 = moe.encode_tensor_map %s box [1, 32, 16] {swizzle = 32 : i64} : memref<8x32x64xbf16> -> !moe.tensor_map
  // CHECK: moe.encode_tensor_map %{{.*}} box [1, 256, 32] {swizzle = 64 : i64} : memref<8x32x64xbf16> -> !moe.tensor_map
  %1 = moe.encode_tensor_map %s box [1, 256, 32] {swizzle = 64 : i64} : memref<8x32x64xbf16> -> !moe.tensor_map
  // CHECK: moe.encode_tensor_map %{{.*}} box [1, 1, 1, 1, 256] {swizzle = 0 : i64} : memref<2x2x2x2x16xi8> -> !moe.tensor_map
  %2 = moe.encode_tensor_map %b box [1, 1, 1, 1, 256] {swizzle = 0 : i64} : memref<2x2x2x2x16xi8> -> !moe.tensor_map
  // CHECK: moe.encode_tensor_map %{{.*}} box [8, 2] : memref<8x2xf64> -> !moe.tensor_map
  %3 = moe.encode_tensor_map %d box [8, 2] : memref<8x2xf64> -> !moe.tensor_map
  return
}
