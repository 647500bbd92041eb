// The experts of a layer as importers write it, for fuse_bitwise.py, which
// replaces ELEMENT. Rows without an expert keep the values of y0; the rows
// before the sum are a result as well.
func.func @layer(%x: tensor<?x24xELEMENT>, %w13: tensor<4x20x24xELEMENT>, %b13: tensor<4x20xf32>,
                 %w2: tensor<4x24x10xELEMENT>, %i: tensor<?x3xi32>, %s: tensor<?x3xf32>,
                 %map: tensor<6xi32>, %y0: tensor<?x24xELEMENT>)
    -> (tensor<?x24xELEMENT>, tensor<?x24xELEMENT>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = tensor.dim %x, %c0 : tensor<?x24xELEMENT>
  %r = arith.muli %t, %c3 : index
  %p0 = tensor.empty(%r) : tensor<?x24xELEMENT>
  %s0 = tensor.empty(%r) : tensor<?xi32>
  %e0 = tensor.empty() : tensor<4xi32>
  %p, %source, %e = moe.permute ins(%x, %i : tensor<?x24xELEMENT>, tensor<?x3xi32>)
      expert_map(%map : tensor<6xi32>)
      outs(%p0, %s0, %e0 : tensor<?x24xELEMENT>, tensor<?xi32>, tensor<4xi32>)
      {experts = 4} -> tensor<?x24xELEMENT>, tensor<?xi32>, tensor<4xi32>
  %h0 = tensor.empty(%r) : tensor<?x20xELEMENT>
  %h = moe.grouped_gemm ins(%p, %w13 : tensor<?x24xELEMENT>, tensor<4x20x24xELEMENT>)
      rows(%e : tensor<4xi32>) bias(%b13 : tensor<4x20xf32>) outs(%h0 : tensor<?x20xELEMENT>)
      {grouping = #moe.grouping<offsets>} -> tensor<?x20xELEMENT>
  %a0 = tensor.empty(%r) : tensor<?x10xELEMENT>
  %a = moe.activation ins(%h : tensor<?x20xELEMENT>) outs(%a0 : tensor<?x10xELEMENT>)
      {activation = #moe.activation<swiglu>} -> tensor<?x10xELEMENT>
  %q0 = tensor.empty(%r) : tensor<?x24xELEMENT>
  %q = moe.grouped_gemm ins(%a, %w2 : tensor<?x10xELEMENT>, tensor<4x24x10xELEMENT>)
      rows(%e : tensor<4xi32>) outs(%q0 : tensor<?x24xELEMENT>)
      {grouping = #moe.grouping<offsets>} -> tensor<?x24xELEMENT>
  %y = moe.unpermute ins(%q, %source : tensor<?x24xELEMENT>, tensor<?xi32>)
      outs(%y0 : tensor<?x24xELEMENT>) -> tensor<?x24xELEMENT>
  %o0 = tensor.empty(%t) : tensor<?x24xELEMENT>
  %o = moe.combine ins(%y, %s, %i : tensor<?x24xELEMENT>, tensor<?x3xf32>, tensor<?x3xi32>)
      expert_map(%map : tensor<6xi32>) outs(%o0 : tensor<?x24xELEMENT>)
      {experts = 4} -> tensor<?x24xELEMENT>
  return %y, %o : tensor<?x24xELEMENT>, tensor<?x24xELEMENT>
}
