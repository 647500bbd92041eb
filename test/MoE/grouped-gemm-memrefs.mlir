// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.grouped_gemm on memrefs, and its degenerate extents.

// CHECK-LABEL: func @ids
func.func @ids(%a: memref<?x64xbf16>, %b: memref<8x32x64xbf16>, %i: memref<?x2xi32>, %m: memref<16xi32>, %v: memref<8x32xbf16>, %w: memref<?x2xf32>, %c: memref<?x32xbf16>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : memref<?x64xbf16>, memref<8x32x64xbf16>) rows(%{{.*}} : memref<?x2xi32>) expert_map(%{{.*}} : memref<16xi32>) bias(%{{.*}} : memref<8x32xbf16>) weights(%{{.*}} : memref<?x2xf32>) outs(%{{.*}} : memref<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<8x32x64xbf16>)
    rows(%i : memref<?x2xi32>) expert_map(%m : memref<16xi32>) bias(%v : memref<8x32xbf16>) weights(%w : memref<?x2xf32>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<ids>, weight = #moe.weight<output>}
  return
}

// CHECK-LABEL: func @aligned
func.func @aligned(%a: memref<4x64xf32, strided<[80, 1]>>, %b: memref<3x32x64xf32>, %s: memref<17xi32>, %e: memref<5xi32>, %p: memref<1xi32>, %c: memref<17x32xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : memref<4x64xf32, strided<[80, 1]>>, memref<3x32x64xf32>) rows(%{{.*}}, %{{.*}}, %{{.*}} : memref<17xi32>, memref<5xi32>, memref<1xi32>) outs(%{{.*}} : memref<17x32xf32>) {block = 4 : i64, c_order = #moe.row_order<sorted>, grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16]>, top_k = 2 : i64}
  moe.grouped_gemm ins(%a, %b : memref<4x64xf32, strided<[80, 1]>>, memref<3x32x64xf32>)
    rows(%s, %e, %p : memref<17xi32>, memref<5xi32>, memref<1xi32>) outs(%c : memref<17x32xf32>)
    {block = 4 : i64, c_order = #moe.row_order<sorted>, grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16]>, top_k = 2 : i64}
  return
}

// No tokens, nothing to contract, no columns: all legal.
// CHECK-LABEL: func @no_rows
func.func @no_rows(%a: memref<0x64xf32>, %b: memref<3x32x64xf32>, %i: memref<0x2xi32>, %c: memref<0x32xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : memref<0x64xf32>, memref<3x32x64xf32>) rows(%{{.*}} : memref<0x2xi32>) outs(%{{.*}} : memref<0x32xf32>) {grouping = #moe.grouping<ids>}
  moe.grouped_gemm ins(%a, %b : memref<0x64xf32>, memref<3x32x64xf32>) rows(%i : memref<0x2xi32>) outs(%c : memref<0x32xf32>) {grouping = #moe.grouping<ids>}
  return
}
// CHECK-LABEL: func @no_k
func.func @no_k(%a: memref<4x0xf32>, %b: memref<3x32x0xf32>, %i: memref<4x1xi32>, %c: memref<4x32xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : memref<4x0xf32>, memref<3x32x0xf32>) rows(%{{.*}} : memref<4x1xi32>) outs(%{{.*}} : memref<4x32xf32>) {grouping = #moe.grouping<ids>}
  moe.grouped_gemm ins(%a, %b : memref<4x0xf32>, memref<3x32x0xf32>) rows(%i : memref<4x1xi32>) outs(%c : memref<4x32xf32>) {grouping = #moe.grouping<ids>}
  return
}
// CHECK-LABEL: func @no_columns
func.func @no_columns(%a: memref<4x8xf32>, %b: memref<3x0x8xf32>, %i: memref<4x1xi32>, %c: memref<4x0xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<3x0x8xf32>) rows(%{{.*}} : memref<4x1xi32>) outs(%{{.*}} : memref<4x0xf32>) {activation = #moe.activation<swiglu>, grouping = #moe.grouping<ids>}
  moe.grouped_gemm ins(%a, %b : memref<4x8xf32>, memref<3x0x8xf32>) rows(%i : memref<4x1xi32>) outs(%c : memref<4x0xf32>) {activation = #moe.activation<swiglu>, grouping = #moe.grouping<ids>}
  return
}
