// RUN: moe-run %s --function=align --print | FileCheck %s --check-prefix=ALIGN
// RUN: moe-run %s --function=align_map --print | FileCheck %s --check-prefix=MAP
// RUN: moe-run %s --function=permute --print | FileCheck %s --check-prefix=PERMUTE
// RUN: moe-run %s --function=group_ids --print | FileCheck %s --check-prefix=GROUPS
// RUN: moe-run %s --function=combine --print | FileCheck %s --check-prefix=COMBINE
// RUN: moe-run %s --function=identity --print | FileCheck %s --check-prefix=IDENTITY

// Experts 0, 1 and 3 have 2, 2 and 1 rows, expert 2 has none and no block; the
// ids -1, 4 and 9 have no row. Sentinel 8, past `padded` too.
// ALIGN: 0 12xi32 = [2, 6, 0, 3, 5, 8, 8, 8, 8, 8, 8, 8]
// ALIGN: 1 6xi32 = [0, 1, 3, -1, -1, -1]
// ALIGN: 2 1xi32 = [6]
// ALIGN: 3 4xi32 = [2, 2, 0, 1]
func.func @align() -> (tensor<12xi32>, tensor<6xi32>, tensor<1xi32>, tensor<4xi32>) {
  %ids = arith.constant dense<[[1, -1], [0, 1], [4, 3], [0, 9]]> : tensor<4x2xi32>
  %0 = tensor.empty() : tensor<12xi32>
  %1 = tensor.empty() : tensor<6xi32>
  %2 = tensor.empty() : tensor<1xi32>
  %3 = tensor.empty() : tensor<4xi32>
  %r:4 = moe.align ins(%ids : tensor<4x2xi32>) outs(%0, %1, %2, %3 : tensor<12xi32>, tensor<6xi32>, tensor<1xi32>, tensor<4xi32>) {experts = 4, block = 2} -> tensor<12xi32>, tensor<6xi32>, tensor<1xi32>, tensor<4xi32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<12xi32>, tensor<6xi32>, tensor<1xi32>, tensor<4xi32>
}

// Two global experts share local expert 1; -1 and 2 are no local expert here,
// and the id 4 is outside the map.
// MAP: 0 7xi32 = [1, 0, 3, 5, 5, 5, 5]
// MAP: 2 1xi32 = [3]
// MAP: 3 2xi32 = [1, 2]
func.func @align_map() -> (tensor<7xi32>, tensor<7xi32>, tensor<1xi32>, tensor<2xi32>) {
  %ids = arith.constant dense<[[0], [3], [1], [0], [4]]> : tensor<5x1xi32>
  %map = arith.constant dense<[1, 2, -1, 0]> : tensor<4xi32>
  %0 = tensor.empty() : tensor<7xi32>
  %2 = tensor.empty() : tensor<1xi32>
  %3 = tensor.empty() : tensor<2xi32>
  %r:4 = moe.align ins(%ids : tensor<5x1xi32>) expert_map(%map : tensor<4xi32>) outs(%0, %0, %2, %3 : tensor<7xi32>, tensor<7xi32>, tensor<1xi32>, tensor<2xi32>) {experts = 2, block = 1} -> tensor<7xi32>, tensor<7xi32>, tensor<1xi32>, tensor<2xi32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<7xi32>, tensor<7xi32>, tensor<1xi32>, tensor<2xi32>
}

// Rows 1 (expert 0), 0 and 3 (expert 2), then nothing: 4 in source, not written
// in rows. Scattering back leaves row 2 as it was.
// PERMUTE: 0 4x1xf32 = {{\[\[}}10], [10], [20], [nan]]
// PERMUTE: 1 4xi32 = [1, 0, 3, 4]
// PERMUTE: 2 3xi32 = [1, 1, 3]
// PERMUTE: 3 4x1xf32 = {{\[\[}}10], [10], [7], [20]]
func.func @permute() -> (tensor<4x1xf32>, tensor<4xi32>, tensor<3xi32>, tensor<4x1xf32>) {
  %x = arith.constant dense<[[10.0], [20.0]]> : tensor<2x1xf32>
  %ids = arith.constant dense<[[2, 0], [-1, 2]]> : tensor<2x2xi32>
  %y = arith.constant dense<7.0> : tensor<4x1xf32>
  %0 = tensor.empty() : tensor<4x1xf32>
  %1 = tensor.empty() : tensor<4xi32>
  %2 = tensor.empty() : tensor<3xi32>
  %r:3 = moe.permute ins(%x, %ids : tensor<2x1xf32>, tensor<2x2xi32>) outs(%0, %1, %2 : tensor<4x1xf32>, tensor<4xi32>, tensor<3xi32>) {experts = 3} -> tensor<4x1xf32>, tensor<4xi32>, tensor<3xi32>
  %u = moe.unpermute ins(%r#0, %r#1 : tensor<4x1xf32>, tensor<4xi32>) outs(%y : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %r#0, %r#1, %r#2, %u : tensor<4x1xf32>, tensor<4xi32>, tensor<3xi32>, tensor<4x1xf32>
}

// End offsets that fall and run over; sizes below 0; counts above the capacity.
// GROUPS: 0 4x1xi32 = {{\[\[}}0], [0], [2], [2]]
// GROUPS: 1 4x1xi32 = {{\[\[}}0], [2], [2], [2]]
// GROUPS: 2 4x1xi32 = {{\[\[}}0], [0], [-1], [-1]]
func.func @group_ids() -> (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) {
  %offsets = arith.constant dense<[2, 1, 9]> : tensor<3xi32>
  %sizes = arith.constant dense<[1, -5, 2147483647]> : tensor<3xi32>
  %counts = arith.constant dense<[3, -1]> : tensor<2xi32>
  %e = tensor.empty() : tensor<4x1xi32>
  %0 = moe.group_ids ins(%offsets : tensor<3xi32>) outs(%e : tensor<4x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<4x1xi32>
  %1 = moe.group_ids ins(%sizes : tensor<3xi32>) outs(%e : tensor<4x1xi32>) {grouping = #moe.grouping<sizes>} -> tensor<4x1xi32>
  %2 = moe.group_ids ins(%counts : tensor<2xi32>) outs(%e : tensor<4x1xi32>) {grouping = #moe.grouping<masked>, capacity = 2} -> tensor<4x1xi32>
  return %0, %1, %2 : tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>
}

// 2 * (0.5 * residual + 3 * sum). The row of a slot without expert is NaN and
// not read; `weighted = false` counts weights as 1.
// COMBINE: 0 2x1xf32 = {{\[\[}}124], [8]]
// COMBINE: 1 2x1xf32 = {{\[\[}}3], [0]]
func.func @combine() -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %y = arith.constant dense<[[1.0], [2.0], [0x7FC00000], [0x7FC00000]]> : tensor<4x1xf32>
  %w = arith.constant dense<[[4.0, 8.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %ids = arith.constant dense<[[0, 1], [-1, 2]]> : tensor<2x2xi32>
  %residual = arith.constant dense<[[4.0], [8.0]]> : tensor<2x1xf32>
  %e = tensor.empty() : tensor<2x1xf32>
  %0 = moe.combine ins(%y, %w, %ids : tensor<4x1xf32>, tensor<2x2xf32>, tensor<2x2xi32>) residual(%residual : tensor<2x1xf32>) outs(%e : tensor<2x1xf32>) {experts = 2, scale = 2.0 : f32, routed_scale = 3.0 : f32, residual_scale = 0.5 : f32} -> tensor<2x1xf32>
  %1 = moe.combine ins(%y, %w, %ids : tensor<4x1xf32>, tensor<2x2xf32>, tensor<2x2xi32>) outs(%e : tensor<2x1xf32>) {experts = 2, weighted = false} -> tensor<2x1xf32>
  return %0, %1 : tensor<2x1xf32>, tensor<2x1xf32>
}

// Ids 2 and 3 are identity experts, which add w * x even where the other rows
// carry their weight already; 4 is no expert.
// IDENTITY: 0 1x1xf32 = {{\[\[}}57]]
// IDENTITY: 1 1x1xf32 = {{\[\[}}51]]
func.func @identity() -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %y = arith.constant dense<[[1.0], [0x7FC00000], [0x7FC00000], [0x7FC00000]]> : tensor<4x1xf32>
  %w = arith.constant dense<[[7.0, 2.0, 3.0, 5.0]]> : tensor<1x4xf32>
  %ids = arith.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi32>
  %x = arith.constant dense<[[10.0]]> : tensor<1x1xf32>
  %e = tensor.empty() : tensor<1x1xf32>
  %0 = moe.combine ins(%y, %w, %ids : tensor<4x1xf32>, tensor<1x4xf32>, tensor<1x4xi32>) identity(%x : tensor<1x1xf32>) outs(%e : tensor<1x1xf32>) {experts = 2, identity_experts = 2} -> tensor<1x1xf32>
  %1 = moe.combine ins(%y, %w, %ids : tensor<4x1xf32>, tensor<1x4xf32>, tensor<1x4xi32>) identity(%x : tensor<1x1xf32>) outs(%e : tensor<1x1xf32>) {experts = 2, identity_experts = 2, weighted = false} -> tensor<1x1xf32>
  return %0, %1 : tensor<1x1xf32>, tensor<1x1xf32>
}
