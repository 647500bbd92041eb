// Regions between permute and unpermute become GEMMs that gather and scatter.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' | FileCheck %s
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' --remarks-filter='moe-fuse' \
// RUN:   --remark-policy=all 2>&1 >/dev/null | grep '\] permute' | FileCheck %s --check-prefix=REMARK

// REMARK-COUNT-5: [Passed] permute {{.*}}"permute and unpermute became gather and scatter of the GEMMs"
// REMARK-NOT:     [Passed]

// CHECK-LABEL: func @two_gemms(
// CHECK-SAME:      %[[X:.*]]: tensor<4x8xf32>, %[[W1:.*]]: tensor<3x6x8xf32>, %[[W2:.*]]: tensor<3x8x6xf32>,
// CHECK-SAME:      %[[IDS:.*]]: tensor<4x2xi32>, %[[Y0:.*]]: tensor<8x8xf32>)
// CHECK-NOT:     moe.permute
// CHECK:         %[[H:.*]] = moe.grouped_gemm ins(%[[X]], %[[W1]] :
// CHECK-SAME:      rows(%[[IDS]] : tensor<4x2xi32>) outs(%{{.*}} : tensor<8x6xf32>)
// CHECK-SAME:      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
// CHECK:         %[[Y:.*]] = moe.grouped_gemm ins(%[[H]], %[[W2]] :
// CHECK-SAME:      rows(%[[IDS]] : tensor<4x2xi32>) outs(%[[Y0]] :
// CHECK-SAME:      {grouping = #moe.grouping<ids>}
// CHECK-NEXT:    return %[[Y]]
func.func @two_gemms(%x: tensor<4x8xf32>, %w1: tensor<3x6x8xf32>, %w2: tensor<3x8x6xf32>,
                     %ids: tensor<4x2xi32>, %y0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %p0 = tensor.empty() : tensor<8x8xf32>
  %s0 = tensor.empty() : tensor<8xi32>
  %e0 = tensor.empty() : tensor<3xi32>
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %h0 = tensor.empty() : tensor<8x6xf32>
  %h = moe.grouped_gemm ins(%p, %w1 : tensor<8x8xf32>, tensor<3x6x8xf32>)
      rows(%e : tensor<3xi32>) outs(%h0 : tensor<8x6xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x6xf32>
  %q0 = tensor.empty() : tensor<8x8xf32>
  %q = moe.grouped_gemm ins(%h, %w2 : tensor<8x6xf32>, tensor<3x8x6xf32>)
      rows(%e : tensor<3xi32>) outs(%q0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y = moe.unpermute ins(%q, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// The gathered rows feed two GEMMs, and the first GEMM an activation and a
// GEMM: the activation stays an op of its own, over flat rows.
// CHECK-LABEL: func @two_uses(
// CHECK-SAME:      %[[X:.*]]: tensor<4x8xf32>, %[[W1:.*]]: tensor<3x6x8xf32>, %[[W2:.*]]: tensor<3x8x6xf32>,
// CHECK-SAME:      %[[W3:.*]]: tensor<3x5x8xf32>, %[[IDS:.*]]: tensor<4x2xi32>)
// CHECK-NOT:     moe.permute
// CHECK-DAG:     %[[H:.*]] = moe.grouped_gemm ins(%[[X]], %[[W1]] : {{.*}} rows(%[[IDS]] : {{.*}}row_source = #moe.row_source<token>
// CHECK-DAG:     %[[A:.*]] = moe.activation ins(%[[H]] : tensor<8x6xf32>)
// CHECK-DAG:     %[[Y:.*]] = moe.grouped_gemm ins(%[[A]], %[[W2]] : {{.*}} rows(%[[IDS]] :
// CHECK-DAG:     %[[Z:.*]] = moe.grouped_gemm ins(%[[H]], %[[W2]] : {{.*}} rows(%[[IDS]] :
// CHECK-DAG:     %[[G:.*]] = moe.grouped_gemm ins(%[[X]], %[[W3]] : {{.*}} rows(%[[IDS]] : {{.*}}row_source = #moe.row_source<token>
// CHECK-NOT:     moe.unpermute
// CHECK:         return %[[Y]], %[[Z]], %[[G]]
func.func @two_uses(%x: tensor<4x8xf32>, %w1: tensor<3x6x8xf32>, %w2: tensor<3x8x6xf32>,
                    %w3: tensor<3x5x8xf32>, %ids: tensor<4x2xi32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x5xf32>) {
  %p0 = tensor.empty() : tensor<8x8xf32>
  %s0 = tensor.empty() : tensor<8xi32>
  %e0 = tensor.empty() : tensor<3xi32>
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %h0 = tensor.empty() : tensor<8x6xf32>
  %h = moe.grouped_gemm ins(%p, %w1 : tensor<8x8xf32>, tensor<3x6x8xf32>)
      rows(%e : tensor<3xi32>) outs(%h0 : tensor<8x6xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x6xf32>
  %a0 = tensor.empty() : tensor<8x6xf32>
  %a = moe.activation ins(%h : tensor<8x6xf32>) outs(%a0 : tensor<8x6xf32>)
      {activation = #moe.activation<silu>} -> tensor<8x6xf32>
  %q0 = tensor.empty() : tensor<8x8xf32>
  %q = moe.grouped_gemm ins(%a, %w2 : tensor<8x6xf32>, tensor<3x8x6xf32>)
      rows(%e : tensor<3xi32>) outs(%q0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %r0 = tensor.empty() : tensor<8x8xf32>
  %r = moe.grouped_gemm ins(%h, %w2 : tensor<8x6xf32>, tensor<3x8x6xf32>)
      rows(%e : tensor<3xi32>) outs(%r0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %g0 = tensor.empty() : tensor<8x5xf32>
  %g = moe.grouped_gemm ins(%p, %w3 : tensor<8x8xf32>, tensor<3x5x8xf32>)
      rows(%e : tensor<3xi32>) outs(%g0 : tensor<8x5xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x5xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%q, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %z0 = tensor.empty() : tensor<8x8xf32>
  %z = moe.unpermute ins(%r, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%z0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %v0 = tensor.empty() : tensor<8x5xf32>
  %v = moe.unpermute ins(%g, %s : tensor<8x5xf32>, tensor<8xi32>)
      outs(%v0 : tensor<8x5xf32>) -> tensor<8x5xf32>
  return %y, %z, %v : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x5xf32>
}

// Every GEMM takes the map, whose experts the table of the permute counted;
// bias and activation come along, and then the weight of the combine.
// CHECK-LABEL: func @mapped(
// CHECK-SAME:      %[[X:.*]]: tensor<?x8xf32>, %[[W13:.*]]: tensor<3x12x8xf32>, %[[B:.*]]: tensor<3x12xf32>,
// CHECK-SAME:      %[[W2:.*]]: tensor<3x8x6xf32>, %[[IDS:.*]]: tensor<?x2xi32>, %[[MAP:.*]]: tensor<7xi32>,
// CHECK-SAME:      %[[WEIGHTS:.*]]: tensor<?x2xf32>
// CHECK-NOT:     moe.permute
// CHECK:         %[[A:.*]] = moe.grouped_gemm ins(%[[X]], %[[W13]] :
// CHECK-SAME:      rows(%[[IDS]] : tensor<?x2xi32>) expert_map(%[[MAP]] : tensor<7xi32>) bias(%[[B]] :
// CHECK-SAME:      activation = #moe.activation<swiglu>
// CHECK-SAME:      row_source = #moe.row_source<token>
// CHECK:         %[[Y:.*]] = moe.grouped_gemm ins(%[[A]], %[[W2]] :
// CHECK-SAME:      rows(%[[IDS]] : tensor<?x2xi32>) expert_map(%[[MAP]] : tensor<7xi32>)
// CHECK-SAME:      weights(%[[WEIGHTS]] :
// CHECK-NOT:     moe.unpermute
// CHECK:         moe.combine ins(%[[Y]], %[[WEIGHTS]], %[[IDS]] :
// CHECK-SAME:      weighted = false
func.func @mapped(%x: tensor<?x8xf32>, %w13: tensor<3x12x8xf32>, %b: tensor<3x12xf32>,
                  %w2: tensor<3x8x6xf32>, %ids: tensor<?x2xi32>, %map: tensor<7xi32>,
                  %weights: tensor<?x2xf32>, %t: index, %r: index) -> tensor<?x8xf32> {
  %p0 = tensor.empty(%r) : tensor<?x8xf32>
  %s0 = tensor.empty(%r) : tensor<?xi32>
  %e0 = tensor.empty() : tensor<3xi32>
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<?x8xf32>, tensor<?x2xi32>)
      expert_map(%map : tensor<7xi32>)
      outs(%p0, %s0, %e0 : tensor<?x8xf32>, tensor<?xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<?x8xf32>, tensor<?xi32>, tensor<3xi32>
  %h0 = tensor.empty(%r) : tensor<?x12xf32>
  %h = moe.grouped_gemm ins(%p, %w13 : tensor<?x8xf32>, tensor<3x12x8xf32>)
      rows(%e : tensor<3xi32>) bias(%b : tensor<3x12xf32>) outs(%h0 : tensor<?x12xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<?x12xf32>
  %a0 = tensor.empty(%r) : tensor<?x6xf32>
  %a = moe.activation ins(%h : tensor<?x12xf32>) outs(%a0 : tensor<?x6xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<?x6xf32>
  %q0 = tensor.empty(%r) : tensor<?x8xf32>
  %q = moe.grouped_gemm ins(%a, %w2 : tensor<?x6xf32>, tensor<3x8x6xf32>)
      rows(%e : tensor<3xi32>) outs(%q0 : tensor<?x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<?x8xf32>
  %y0 = tensor.empty(%r) : tensor<?x8xf32>
  %y = moe.unpermute ins(%q, %s : tensor<?x8xf32>, tensor<?xi32>)
      outs(%y0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %o0 = tensor.empty(%t) : tensor<?x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x2xi32>)
      expert_map(%map : tensor<7xi32>) outs(%o0 : tensor<?x8xf32>) {experts = 3} -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// Two regions one behind the other.
// CHECK-LABEL: func @two_regions
// CHECK-NOT:     moe.permute
// CHECK:         %[[Y:.*]] = moe.grouped_gemm ins(%arg0, %arg1 :
// CHECK:         moe.grouped_gemm ins(%[[Y]], %arg1 :
// CHECK-NOT:     moe.unpermute
func.func @two_regions(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x1xi32>)
    -> tensor<4x8xf32> {
  %p0 = tensor.empty() : tensor<4x8xf32>
  %s0 = tensor.empty() : tensor<4xi32>
  %e0 = tensor.empty() : tensor<3xi32>
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x1xi32>)
      outs(%p0, %s0, %e0 : tensor<4x8xf32>, tensor<4xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<4x8xf32>, tensor<4xi32>, tensor<3xi32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<4x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%p0 : tensor<4x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<4x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<4x8xf32>, tensor<4xi32>)
      outs(%p0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q, %t, %f = moe.permute ins(%y, %ids : tensor<4x8xf32>, tensor<4x1xi32>)
      outs(%p0, %s0, %e0 : tensor<4x8xf32>, tensor<4xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<4x8xf32>, tensor<4xi32>, tensor<3xi32>
  %d = moe.grouped_gemm ins(%q, %w : tensor<4x8xf32>, tensor<3x8x8xf32>)
      rows(%f : tensor<3xi32>) outs(%p0 : tensor<4x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<4x8xf32>
  %z = moe.unpermute ins(%d, %t : tensor<4x8xf32>, tensor<4xi32>)
      outs(%p0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// An unpermute behind an activation leaves alone the rows that the activation
// would write over flat rows: nothing changes.
// CHECK-LABEL: func @unpermuted_activation
// CHECK:         moe.permute
// CHECK:         moe.grouped_gemm {{.*}}activation = #moe.activation<silu>, grouping = #moe.grouping<offsets>
// CHECK-NOT:     moe.activation ins
// CHECK:         moe.unpermute
func.func @unpermuted_activation(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x2xi32>)
    -> tensor<8x8xf32> {
  %p0 = tensor.empty() : tensor<8x8xf32>
  %s0 = tensor.empty() : tensor<8xi32>
  %e0 = tensor.empty() : tensor<3xi32>
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %h = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%p0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%p0 : tensor<8x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<8x8xf32>
  %y = moe.unpermute ins(%a, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%p0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
