// Every reason why rows stay in expert order is a remark of category moe-fuse,
// and the function stays as it was.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' --remarks-filter='moe-fuse' \
// RUN:   --remark-policy=all 2>&1 >/dev/null | FileCheck %s --implicit-check-not='{{\[(Passed|Missed)\] permute}}'
// RUN: moe-opt %s -o %t.before.mlir
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' -o %t.after.mlir
// RUN: diff %t.before.mlir %t.after.mlir

// CHECK:      [Missed] permute
// CHECK-SAME: a GEMM over the permuted rows is not grouped by the permute's own offsets
func.func @other_offsets(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x2xi32>,
                         %other: tensor<3xi32>, %p0: tensor<8x8xf32>, %s0: tensor<8xi32>,
                         %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%other : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// The offsets read as sizes name other experts.
// CHECK:      [Missed] permute
// CHECK-SAME: a GEMM over the permuted rows is not grouped by the permute's own offsets
func.func @offsets_as_sizes(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x2xi32>,
                            %p0: tensor<8x8xf32>, %s0: tensor<8xi32>,
                            %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<sizes>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: permuted rows are used as another operand than a
func.func @as_destination_of_gemm(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>,
                                  %a: tensor<8x8xf32>, %ids: tensor<4x2xi32>,
                                  %p0: tensor<8x8xf32>, %s0: tensor<8xi32>,
                                  %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c = moe.grouped_gemm ins(%a, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%p : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: a GEMM over the permuted rows has weights in expert order
func.func @weights(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %weights: tensor<8xf32>,
                   %ids: tensor<4x2xi32>, %p0: tensor<8x8xf32>, %s0: tensor<8xi32>,
                   %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) weights(%weights : tensor<8xf32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>, weight = #moe.weight<output>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: permuted rows are used in another block
func.func @branch(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %c: i1, %ids: tensor<4x2xi32>,
                  %p0: tensor<8x8xf32>, %s0: tensor<8xi32>, %e0: tensor<3xi32>,
                  %y0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %r = scf.if %c -> tensor<8x8xf32> {
    %c0 = tensor.empty() : tensor<8x8xf32>
    %g = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
        rows(%e : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
        {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
    %y = moe.unpermute ins(%g, %s : tensor<8x8xf32>, tensor<8xi32>)
        outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %y : tensor<8x8xf32>
  } else {
    scf.yield %y0 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: an unpermute does not use the permute's own source
func.func @other_source(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x2xi32>,
                        %other: tensor<8xi32>, %p0: tensor<8x8xf32>, %s0: tensor<8xi32>,
                        %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %other : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: the rows that return to flat rows have another use
func.func @rows_returned_too(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x2xi32>,
                             %p0: tensor<8x8xf32>, %s0: tensor<8xi32>, %e0: tensor<3xi32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y0, %y1 = call @two_buffers() : () -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y, %z : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @two_buffers() -> (tensor<8x8xf32>, tensor<8x8xf32>)

// The activation of a row without an expert is written; the unpermute leaves
// that row alone.
// CHECK:      [Missed] permute
// CHECK-SAME: the rows that return to flat rows do not come from a GEMM
func.func @after_activation(%x: tensor<4x8xf32>, %w: tensor<3x16x8xf32>, %ids: tensor<4x2xi32>,
                            %h0: tensor<8x16xf32>, %p0: tensor<8x8xf32>, %s0: tensor<8xi32>,
                            %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %h = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x16x8xf32>)
      rows(%e : tensor<3xi32>) outs(%h0 : tensor<8x16xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x16xf32>
  %a0 = tensor.empty() : tensor<8x8xf32>
  %a = moe.activation ins(%h : tensor<8x16xf32>) outs(%a0 : tensor<8x8xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%a, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: the rows that return to flat rows do not come from a GEMM
func.func @there_and_back(%x: tensor<4x8xf32>, %ids: tensor<4x2xi32>, %p0: tensor<8x8xf32>,
                          %s0: tensor<8xi32>, %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%p, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: permuted rows are used as a destination
func.func @as_destination(%x: tensor<4x8xf32>, %h: tensor<8x16xf32>, %ids: tensor<4x2xi32>,
                          %p0: tensor<8x8xf32>, %s0: tensor<8xi32>, %e0: tensor<3xi32>)
    -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %a = moe.activation ins(%h : tensor<8x16xf32>) outs(%p : tensor<8x8xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: an activation works on the gathered rows themselves
func.func @activated_rows(%x: tensor<4x8xf32>, %w: tensor<3x8x4xf32>, %ids: tensor<4x2xi32>,
                          %p0: tensor<8x8xf32>, %s0: tensor<8xi32>, %e0: tensor<3xi32>)
    -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %a0 = tensor.empty() : tensor<8x4xf32>
  %a = moe.activation ins(%p : tensor<8x8xf32>) outs(%a0 : tensor<8x4xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<8x4xf32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%a, %w : tensor<8x4xf32>, tensor<3x8x4xf32>)
      rows(%e : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: permuted rows are used by an op that is no GEMM, activation or unpermute
func.func @foreign_op(%x: tensor<4x8xf32>, %ids: tensor<4x2xi32>, %p0: tensor<8x8xf32>,
                      %s0: tensor<8xi32>, %e0: tensor<3xi32>) -> tensor<8x8xf32> {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %n = arith.negf %p : tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: the permuted rows never return to flat rows
func.func @never_back(%x: tensor<4x8xf32>, %ids: tensor<4x2xi32>, %p0: tensor<8x8xf32>,
                      %s0: tensor<8xi32>, %e0: tensor<3xi32>) -> (tensor<8xi32>, tensor<3xi32>) {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  return %s, %e : tensor<8xi32>, tensor<3xi32>
}

// CHECK:      [Missed] permute
// CHECK-SAME: source or offsets are used outside the GEMMs
func.func @offsets_returned(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32>, %ids: tensor<4x2xi32>,
                            %p0: tensor<8x8xf32>, %s0: tensor<8xi32>, %e0: tensor<3xi32>)
    -> (tensor<8x8xf32>, tensor<3xi32>) {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<4x8xf32>, tensor<4x2xi32>)
      outs(%p0, %s0, %e0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>)
      {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  %c0 = tensor.empty() : tensor<8x8xf32>
  %c = moe.grouped_gemm ins(%p, %w : tensor<8x8xf32>, tensor<3x8x8xf32>)
      rows(%e : tensor<3xi32>) outs(%c0 : tensor<8x8xf32>)
      {grouping = #moe.grouping<offsets>} -> tensor<8x8xf32>
  %y0 = tensor.empty() : tensor<8x8xf32>
  %y = moe.unpermute ins(%c, %s : tensor<8x8xf32>, tensor<8xi32>)
      outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y, %e : tensor<8x8xf32>, tensor<3xi32>
}
