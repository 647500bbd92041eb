// Every fusion and every reason against one is a remark of category moe-fuse.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' --remarks-filter='moe-fuse' \
// RUN:   --remark-policy=all 2>&1 >/dev/null | FileCheck %s --implicit-check-not='{{\[(Passed|Missed)\]}}'
//
// What a pass leaves is IR that it accepts, and does not change, again.
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' -o %t.once.mlir
// RUN: moe-opt %t.once.mlir --pass-pipeline='builtin.module(moe-fuse)' -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
// RUN: FileCheck %s --check-prefix=IR --input-file=%t.once.mlir

//===----------------------------------------------------------------------===//
// Activation
//===----------------------------------------------------------------------===//

// CHECK:      [Passed] activation
// CHECK-SAME: geglu moved into the epilogue of the GEMM
// IR-LABEL:   func @activation_fused
// IR-NOT:       moe.activation{{ }}
// IR:           moe.grouped_gemm {{.*}}activation = #moe.activation<geglu>
// IR-NOT:       moe.activation{{ }}
func.func @activation_fused(%x: tensor<8x16xf32>, %w: tensor<1x8x16xf32>) -> tensor<8x4xf32> {
  %h0 = tensor.empty() : tensor<8x8xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x16xf32>, tensor<1x8x16xf32>)
      outs(%h0 : tensor<8x8xf32>) {grouping = #moe.grouping<dense>} -> tensor<8x8xf32>
  %a0 = tensor.empty() : tensor<8x4xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x4xf32>)
      {activation = #moe.activation<geglu>} -> tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}

// CHECK:      [Missed] activation
// CHECK-SAME: its rows do not come from a grouped GEMM
// IR-LABEL:   func @activation_of_argument
// IR:           moe.activation ins(
func.func @activation_of_argument(%h: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %a0 = tensor.empty() : tensor<8x4xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x4xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}

// CHECK:      [Missed] activation
// CHECK-SAME: the GEMM's rows have another use
// IR-LABEL:   func @activation_two_uses
// IR:           moe.activation ins(
func.func @activation_two_uses(%x: tensor<8x16xf32>, %w: tensor<1x8x16xf32>)
    -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %h0 = tensor.empty() : tensor<8x8xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x16xf32>, tensor<1x8x16xf32>)
      outs(%h0 : tensor<8x8xf32>) {grouping = #moe.grouping<dense>} -> tensor<8x8xf32>
  %a0 = tensor.empty() : tensor<8x4xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x4xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<8x4xf32>
  return %h, %a : tensor<8x8xf32>, tensor<8x4xf32>
}

// CHECK:      [Missed] activation
// CHECK-SAME: the GEMM has an activation already
// IR-LABEL:   func @activation_twice
// IR:           moe.grouped_gemm {{.*}}activation = #moe.activation<silu>
// IR:           moe.activation ins(
func.func @activation_twice(%x: tensor<8x16xf32>, %w: tensor<1x8x16xf32>) -> tensor<8x8xf32> {
  %h0 = tensor.empty() : tensor<8x8xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x16xf32>, tensor<1x8x16xf32>)
      outs(%h0 : tensor<8x8xf32>) {grouping = #moe.grouping<dense>,
      activation = #moe.activation<silu>} -> tensor<8x8xf32>
  %a0 = tensor.empty() : tensor<8x8xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x8xf32>)
      {activation = #moe.activation<relu2>} -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// CHECK:      [Missed] activation
// CHECK-SAME: the GEMM applies the router weight, which comes after the activation
// IR-LABEL:   func @activation_after_weight
// IR:           moe.activation ins(
func.func @activation_after_weight(%x: tensor<8x16xf32>, %w: tensor<1x8x16xf32>,
                                   %weights: tensor<8xf32>) -> tensor<8x8xf32> {
  %h0 = tensor.empty() : tensor<8x8xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x16xf32>, tensor<1x8x16xf32>)
      weights(%weights : tensor<8xf32>) outs(%h0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<dense>, weight = #moe.weight<output>} -> tensor<8x8xf32>
  %a0 = tensor.empty() : tensor<8x8xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// CHECK:      [Missed] activation
// CHECK-SAME: GEMM and activation are in different blocks
// IR-LABEL:   func @activation_in_branch
// IR:           moe.grouped_gemm
// IR:           scf.if
// IR:             moe.activation ins(
func.func @activation_in_branch(%x: tensor<8x16xf32>, %w: tensor<1x8x16xf32>, %c: i1,
                                %a0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %h0 = tensor.empty() : tensor<8x8xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x16xf32>, tensor<1x8x16xf32>)
      outs(%h0 : tensor<8x8xf32>) {grouping = #moe.grouping<dense>} -> tensor<8x8xf32>
  %r = scf.if %c -> tensor<8x8xf32> {
    %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x8xf32>)
        {activation = #moe.activation<silu>} -> tensor<8x8xf32>
    scf.yield %a : tensor<8x8xf32>
  } else {
    scf.yield %a0 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// A row without an expert would hold silu of what h0 held; fused, what a0 held.
// CHECK:      [Missed] activation
// CHECK-SAME: rows without an expert hold defined values: start GEMM and activation from tensor.empty
// IR-LABEL:   func @activation_defined_rows
// IR:           moe.activation ins(
func.func @activation_defined_rows(%x: tensor<4x16xf32>, %w: tensor<4x8x16xf32>,
                                   %ids: tensor<4x2xi32>, %h0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %h = moe.grouped_gemm ins(%x, %w : tensor<4x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) outs(%h0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<8x8xf32>
  %a0 = tensor.empty() : tensor<8x8xf32>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// CHECK:      [Missed] activation
// CHECK-SAME: the activation's type is none that the GEMM can write
// IR-LABEL:   func @activation_other_type
// IR:           moe.activation ins(
func.func @activation_other_type(%x: tensor<8x16xbf16>, %w: tensor<1x8x16xbf16>) -> tensor<8x8xf16> {
  %h0 = tensor.empty() : tensor<8x8xf32>
  %h = moe.grouped_gemm ins(%x, %w : tensor<8x16xbf16>, tensor<1x8x16xbf16>)
      outs(%h0 : tensor<8x8xf32>) {grouping = #moe.grouping<dense>} -> tensor<8x8xf32>
  %a0 = tensor.empty() : tensor<8x8xf16>
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x8xf16>)
      {activation = #moe.activation<silu>} -> tensor<8x8xf16>
  return %a : tensor<8x8xf16>
}

//===----------------------------------------------------------------------===//
// Router weight
//===----------------------------------------------------------------------===//

// CHECK:      [Passed] router-weight
// CHECK-SAME: router weight moved into the epilogue of the GEMM
// IR-LABEL:   func @weight_fused
// IR:           moe.grouped_gemm {{.*}}weights(%{{.*}}weight = #moe.weight<output>
// IR:           moe.combine {{.*}}weighted = false
func.func @weight_fused(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %ids: tensor<4x2xi32>,
                        %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: its rows do not come from a grouped GEMM
// IR-LABEL:   func @weight_of_argument
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_of_argument(%y: tensor<8x8xf32>, %ids: tensor<4x2xi32>,
                              %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: the GEMM's rows have another use
// IR-LABEL:   func @weight_two_uses
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_two_uses(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %ids: tensor<4x2xi32>,
                           %weights: tensor<4x2xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %y, %o : tensor<8x8xf32>, tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: the GEMM applies a router weight already
// IR-LABEL:   func @weight_twice
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_twice(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %ids: tensor<4x2xi32>,
                        %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) weights(%weights : tensor<4x2xf32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: the GEMM is not grouped by ids
// IR-LABEL:   func @weight_by_sizes
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_by_sizes(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %sizes: tensor<4xi32>,
                           %ids: tensor<4x2xi32>, %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%sizes : tensor<4xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<sizes>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: GEMM and combine use different ids or expert maps
// IR-LABEL:   func @weight_other_ids
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_other_ids(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %ids: tensor<4x2xi32>,
                            %other: tensor<4x2xi32>, %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%other : tensor<4x2xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: GEMM and combine use different ids or expert maps
// IR-LABEL:   func @weight_map_on_one_side
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_map_on_one_side(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>,
                                  %ids: tensor<4x2xi32>, %map: tensor<6xi32>,
                                  %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      expert_map(%map : tensor<6xi32>) outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: GEMM and combine have different numbers of experts
// IR-LABEL:   func @weight_other_experts
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_other_experts(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %ids: tensor<4x2xi32>,
                                %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<8x8xf32>
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 5} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// CHECK:      [Missed] router-weight
// CHECK-SAME: GEMM and combine are in different blocks
// IR-LABEL:   func @weight_in_branch
// IR:           moe.combine
// IR-NOT:       weighted
func.func @weight_in_branch(%a: tensor<8x16xf32>, %w: tensor<4x8x16xf32>, %ids: tensor<4x2xi32>,
                            %weights: tensor<4x2xf32>, %c: i1,
                            %o0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.grouped_gemm ins(%a, %w : tensor<8x16xf32>, tensor<4x8x16xf32>)
      rows(%ids : tensor<4x2xi32>) outs(%y0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<8x8xf32>
  %r = scf.if %c -> tensor<4x8xf32> {
    %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
        outs(%o0 : tensor<4x8xf32>) {experts = 4} -> tensor<4x8xf32>
    scf.yield %o : tensor<4x8xf32>
  } else {
    scf.yield %o0 : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Nothing is left to say about a sum without weights.
// IR-LABEL:   func @unweighted
func.func @unweighted(%y: tensor<8x8xf32>, %ids: tensor<4x2xi32>,
                      %weights: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %o0 = tensor.empty() : tensor<4x8xf32>
  %o = moe.combine ins(%y, %weights, %ids : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>)
      outs(%o0 : tensor<4x8xf32>) {experts = 4, weighted = false} -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}
