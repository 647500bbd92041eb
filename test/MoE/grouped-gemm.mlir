// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.grouped_gemm: every grouping, epilogue and layout on tensors.

// CHECK-LABEL: func @dense
func.func @dense(%a: tensor<?x64xf32>, %b: tensor<1x32x64xbf16>, %v: tensor<1x32xf32>, %w: tensor<?xf32>, %c: tensor<?x32xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<1x32x64xbf16>) bias(%{{.*}} : tensor<1x32xf32>) weights(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?x32xf32>) {grouping = #moe.grouping<dense>, weight = #moe.weight<output>} -> tensor<?x32xf32>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xf32>, tensor<1x32x64xbf16>)
    bias(%v : tensor<1x32xf32>) weights(%w : tensor<?xf32>) outs(%c : tensor<?x32xf32>)
    {grouping = #moe.grouping<dense>, weight = #moe.weight<output>} -> tensor<?x32xf32>
  return
}

// CHECK-LABEL: func @ids
func.func @ids(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %i: tensor<?x1xi32>, %m: tensor<16xi32>, %w: tensor<?x1xf32>, %c: tensor<?x16xbf16>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%{{.*}} : tensor<?x1xi32>) expert_map(%{{.*}} : tensor<16xi32>) weights(%{{.*}} : tensor<?x1xf32>) outs(%{{.*}} : tensor<?x16xbf16>) {activation = #moe.activation<swiglu>, grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>, weight = #moe.weight<input>} -> tensor<?x16xbf16>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>)
    rows(%i : tensor<?x1xi32>) expert_map(%m : tensor<16xi32>) weights(%w : tensor<?x1xf32>) outs(%c : tensor<?x16xbf16>)
    {activation = #moe.activation<swiglu>, grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>, weight = #moe.weight<input>} -> tensor<?x16xbf16>
  return
}

// CHECK-LABEL: func @aligned
func.func @aligned(%a: tensor<?x64xbf16>, %b: tensor<8x64x32xbf16>, %s: tensor<?xi32>, %e: tensor<?xi32>, %p: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<8x64x32xbf16>) rows(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>) outs(%{{.*}} : tensor<?x32xbf16>) {b_layout = #moe.b_layout<kn>, block = 64 : i64, c_order = #moe.row_order<sorted>, grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, top_k = 8 : i64} -> tensor<?x32xbf16>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x64x32xbf16>)
    rows(%s, %e, %p : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>)
    {b_layout = #moe.b_layout<kn>, block = 64 : i64, c_order = #moe.row_order<sorted>, grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, top_k = 8 : i64} -> tensor<?x32xbf16>
  return
}

// CHECK-LABEL: func @aligned_sorted
func.func @aligned_sorted(%a: tensor<17x64xf16>, %b: tensor<3x32x64xf16>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %w: tensor<4x2xf32>, %c: tensor<8x32xf16>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<17x64xf16>, tensor<3x32x64xf16>) rows(%{{.*}}, %{{.*}}, %{{.*}} : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) weights(%{{.*}} : tensor<4x2xf32>) outs(%{{.*}} : tensor<8x32xf16>) {a_order = #moe.row_order<sorted>, block = 4 : i64, grouping = #moe.grouping<aligned>, schedule = #moe.schedule<mma = wgmma, orientation = weights_m, tile = [64, 128, 64], stages = 4, warps = 8, cluster = 2, split_k = 2>, top_k = 2 : i64, weight = #moe.weight<output>} -> tensor<8x32xf16>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<17x64xf16>, tensor<3x32x64xf16>)
    rows(%s, %e, %p : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) weights(%w : tensor<4x2xf32>) outs(%c : tensor<8x32xf16>)
    {a_order = #moe.row_order<sorted>, block = 4 : i64, grouping = #moe.grouping<aligned>, schedule = #moe.schedule<mma = wgmma, orientation = weights_m, tile = [64, 128, 64], stages = 4, warps = 8, cluster = 2, split_k = 2>, top_k = 2 : i64, weight = #moe.weight<output>} -> tensor<8x32xf16>
  return
}

// CHECK-LABEL: func @ragged
func.func @ragged(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %t: tensor<8xi32>, %v: tensor<8x32xbf16>, %c: tensor<?x32xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<?x32xf32>) {grouping = #moe.grouping<offsets>} -> tensor<?x32xf32>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%t : tensor<8xi32>) outs(%c : tensor<?x32xf32>) {grouping = #moe.grouping<offsets>} -> tensor<?x32xf32>
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%{{.*}} : tensor<8xi32>) bias(%{{.*}} : tensor<8x32xbf16>) outs(%{{.*}} : tensor<?x32xf32>) {grouping = #moe.grouping<sizes>} -> tensor<?x32xf32>
  %1 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%t : tensor<8xi32>) bias(%v : tensor<8x32xbf16>) outs(%c : tensor<?x32xf32>) {grouping = #moe.grouping<sizes>} -> tensor<?x32xf32>
  return
}

// CHECK-LABEL: func @masked
func.func @masked(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %t: tensor<8xi32>, %w: tensor<8x16xf32>, %c: tensor<8x16x32xbf16>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%{{.*}} : tensor<8xi32>) weights(%{{.*}} : tensor<8x16xf32>) outs(%{{.*}} : tensor<8x16x32xbf16>) {activation = #moe.activation<relu2>, grouping = #moe.grouping<masked>, weight = #moe.weight<output>} -> tensor<8x16x32xbf16>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>)
    rows(%t : tensor<8xi32>) weights(%w : tensor<8x16xf32>) outs(%c : tensor<8x16x32xbf16>)
    {activation = #moe.activation<relu2>, grouping = #moe.grouping<masked>, weight = #moe.weight<output>} -> tensor<8x16x32xbf16>
  return
}

// CHECK-LABEL: func @k_grouped
func.func @k_grouped(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %kn: tensor<?x32xbf16>, %t: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%t : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  // CHECK: moe.grouped_gemm ins(%{{.*}}, %{{.*}} : tensor<64x?xbf16>, tensor<?x32xbf16>) rows(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<8x64x32xf32>) {b_layout = #moe.b_layout<kn>, grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  %1 = moe.grouped_gemm ins(%a, %kn : tensor<64x?xbf16>, tensor<?x32xbf16>) rows(%t : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {b_layout = #moe.b_layout<kn>, grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}
