// RUN: moe-opt %s --verify-roundtrip | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s
// RUN: moe-opt %s --emit-bytecode | moe-opt | FileCheck %s

// moe.align and moe.group_ids: static and dynamic row tables, all groupings.

// CHECK-LABEL: func @align
func.func @align(%i: tensor<?x8xi32>, %s: tensor<?xi32>, %e: tensor<?xi32>, %p: tensor<1xi32>, %c: tensor<128xi32>) {
  // CHECK: moe.align ins(%{{.*}} : tensor<?x8xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<128xi32>) {block = 64 : i64, experts = 128 : i64} -> tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<128xi32>
  %0:4 = moe.align ins(%i : tensor<?x8xi32>)
    outs(%s, %e, %p, %c : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<128xi32>)
    {block = 64 : i64, experts = 128 : i64} -> tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<128xi32>
  return
}

// 4 * 2 flat rows, 3 experts, block 4: 8 + 3 * 3 rows at the worst.
// CHECK-LABEL: func @expert_map
func.func @expert_map(%i: memref<4x2xi32>, %m: memref<16xi32>, %s: memref<17xi32>, %e: memref<5xi32>, %p: memref<1xi32>, %c: memref<3xi32>) {
  // CHECK: moe.align ins(%{{.*}} : memref<4x2xi32>) expert_map(%{{.*}} : memref<16xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<17xi32>, memref<5xi32>, memref<1xi32>, memref<3xi32>) {block = 4 : i64, experts = 3 : i64}
  moe.align ins(%i : memref<4x2xi32>) expert_map(%m : memref<16xi32>)
    outs(%s, %e, %p, %c : memref<17xi32>, memref<5xi32>, memref<1xi32>, memref<3xi32>)
    {block = 4 : i64, experts = 3 : i64}
  return
}

// Fewer flat rows than experts: at most one block for each row.
// CHECK-LABEL: func @few_rows
func.func @few_rows(%i: memref<1x2xi32>, %s: memref<512xi32>, %e: memref<2xi32>, %p: memref<1xi32>, %c: memref<4096xi32>) {
  // CHECK: moe.align ins(%{{.*}} : memref<1x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<512xi32>, memref<2xi32>, memref<1xi32>, memref<4096xi32>) {block = 256 : i64, experts = 4096 : i64}
  moe.align ins(%i : memref<1x2xi32>)
    outs(%s, %e, %p, %c : memref<512xi32>, memref<2xi32>, memref<1xi32>, memref<4096xi32>)
    {block = 256 : i64, experts = 4096 : i64}
  return
}

// A row table of fixed size for any number of tokens cannot be judged here.
// CHECK-LABEL: func @fixed_table
func.func @fixed_table(%i: memref<?x2xi32>, %s: memref<16xi32>, %e: memref<4xi32>, %p: memref<1xi32>, %c: memref<8xi32>) {
  // CHECK: moe.align ins(%{{.*}} : memref<?x2xi32>)
  moe.align ins(%i : memref<?x2xi32>)
    outs(%s, %e, %p, %c : memref<16xi32>, memref<4xi32>, memref<1xi32>, memref<8xi32>)
    {block = 4 : i64, experts = 8 : i64}
  return
}

// CHECK-LABEL: func @no_tokens
func.func @no_tokens(%i: memref<0x2xi32>, %s: memref<0xi32>, %e: memref<0xi32>, %p: memref<1xi32>, %c: memref<1xi32>) {
  // CHECK: moe.align ins(%{{.*}} : memref<0x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<0xi32>, memref<0xi32>, memref<1xi32>, memref<1xi32>) {block = 1 : i64, experts = 1 : i64}
  moe.align ins(%i : memref<0x2xi32>)
    outs(%s, %e, %p, %c : memref<0xi32>, memref<0xi32>, memref<1xi32>, memref<1xi32>)
    {block = 1 : i64, experts = 1 : i64}
  return
}

// CHECK-LABEL: func @group_ids
func.func @group_ids(%t: tensor<8xi32>, %i: tensor<?x1xi32>, %m: tensor<128x1xi32>) {
  // CHECK: moe.group_ids ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  // CHECK: moe.group_ids ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<?x1xi32>) {grouping = #moe.grouping<sizes>} -> tensor<?x1xi32>
  %1 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<sizes>} -> tensor<?x1xi32>
  // CHECK: moe.group_ids ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<128x1xi32>) {capacity = 16 : i64, grouping = #moe.grouping<masked>} -> tensor<128x1xi32>
  %2 = moe.group_ids ins(%t : tensor<8xi32>) outs(%m : tensor<128x1xi32>) {capacity = 16 : i64, grouping = #moe.grouping<masked>} -> tensor<128x1xi32>
  return
}

// CHECK-LABEL: func @group_ids_memrefs
func.func @group_ids_memrefs(%t: memref<8xi32>, %i: memref<0x1xi32>) {
  // CHECK: moe.group_ids ins(%{{.*}} : memref<8xi32>) outs(%{{.*}} : memref<0x1xi32>) {capacity = 0 : i64, grouping = #moe.grouping<masked>}
  moe.group_ids ins(%t : memref<8xi32>) outs(%i : memref<0x1xi32>) {capacity = 0 : i64, grouping = #moe.grouping<masked>}
  return
}
