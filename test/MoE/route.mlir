// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.route: every optional operand and attribute, tensors and memrefs.

// CHECK-LABEL: func @plain
func.func @plain(%l: tensor<?x8xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
  // CHECK: moe.route ins(%{{.*}} : tensor<?x8xbf16>) outs(%{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  %0:2 = moe.route ins(%l : tensor<?x8xbf16>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32>
}

// CHECK-LABEL: func @grouped
func.func @grouped(%l: tensor<?x8xf32>, %b: tensor<8xf32>, %s: tensor<8xf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // CHECK: moe.route ins(%{{.*}} : tensor<?x8xf32>) bias(%{{.*}} : tensor<8xf32>) expert_scale(%{{.*}} : tensor<8xf16>) outs(%{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<?x2xi32>) {group_rank = #moe.group_rank<top2_sum>, groups = 4 : i64, keep_groups = 2 : i64, renormalize, scale = 2.500000e+00 : f32, score = #moe.score<sigmoid>} -> tensor<?x2xf32>, tensor<?x2xi32>
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : tensor<8xf32>) expert_scale(%s : tensor<8xf16>)
    outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>)
    {group_rank = #moe.group_rank<top2_sum>, groups = 4 : i64, keep_groups = 2 : i64, renormalize, scale = 2.500000e+00 : f32, score = #moe.score<sigmoid>} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// CHECK-LABEL: func @softcap
func.func @softcap(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // CHECK: moe.route ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<?x2xi32>) {order = #moe.order<topk_then_score>, score = #moe.score<identity>, softcap = 3.000000e+01 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>)
    {order = #moe.order<topk_then_score>, score = #moe.score<identity>, softcap = 3.000000e+01 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// CHECK-LABEL: func @table
func.func @table(%l: memref<?x8xf32>, %t: memref<?xi32>, %m: memref<100x2xi32>, %s: memref<8xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  // CHECK: moe.route ins(%{{.*}} : memref<?x8xf32>) table(%{{.*}}, %{{.*}} : memref<?xi32>, memref<100x2xi32>) expert_scale(%{{.*}} : memref<8xf32>) outs(%{{.*}}, %{{.*}} : memref<?x2xf32>, memref<?x2xi32>) {score = #moe.score<sqrt_softplus>}
  moe.route ins(%l : memref<?x8xf32>) table(%t, %m : memref<?xi32>, memref<100x2xi32>) expert_scale(%s : memref<8xf32>)
    outs(%w, %i : memref<?x2xf32>, memref<?x2xi32>) {score = #moe.score<sqrt_softplus>}
  return
}

// CHECK-LABEL: func @sparsemixer
func.func @sparsemixer(%l: memref<4x8xf16>, %w: memref<4x2xf32>, %i: memref<4x2xi32>) {
  // CHECK: moe.route ins(%{{.*}} : memref<4x8xf16>) outs(%{{.*}}, %{{.*}} : memref<4x2xf32>, memref<4x2xi32>) {jitter = 2.000000e-02 : f32, score = #moe.score<sparsemixer>}
  moe.route ins(%l : memref<4x8xf16>) outs(%w, %i : memref<4x2xf32>, memref<4x2xi32>) {jitter = 2.000000e-02 : f32, score = #moe.score<sparsemixer>}
  return
}

// The extremes of E and k.
// CHECK-LABEL: func @largest
func.func @largest(%l: memref<0x4096xf32>, %b: memref<4096xf32>, %w: memref<0x4096xf32>, %i: memref<0x4096xi32>) {
  // CHECK: moe.route ins(%{{.*}} : memref<0x4096xf32>) bias(%{{.*}} : memref<4096xf32>) outs(%{{.*}}, %{{.*}} : memref<0x4096xf32>, memref<0x4096xi32>) {groups = 4096 : i64, keep_groups = 4096 : i64}
  moe.route ins(%l : memref<0x4096xf32>) bias(%b : memref<4096xf32>) outs(%w, %i : memref<0x4096xf32>, memref<0x4096xi32>) {groups = 4096 : i64, keep_groups = 4096 : i64}
  return
}
// CHECK-LABEL: func @smallest
func.func @smallest(%l: memref<1x1xf32>, %w: memref<1x1xf32>, %i: memref<1x1xi32>) {
  // CHECK: moe.route ins(%{{.*}} : memref<1x1xf32>) outs(%{{.*}}, %{{.*}} : memref<1x1xf32>, memref<1x1xi32>)
  moe.route ins(%l : memref<1x1xf32>) outs(%w, %i : memref<1x1xf32>, memref<1x1xi32>)
  return
}
