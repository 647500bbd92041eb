// A layer from its router on, for fuse_bitwise.py, which replaces ELEMENT.
func.func @layer(%x: tensor<?x24xELEMENT>, %wg: tensor<6x24xELEMENT>, %w13: tensor<6x20x24xELEMENT>,
                 %w2: tensor<6x24x10xELEMENT>, %shared: tensor<?x24xELEMENT>) -> tensor<?x24xELEMENT> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = tensor.dim %x, %c0 : tensor<?x24xELEMENT>
  %r = arith.muli %t, %c3 : index
  %l0 = tensor.empty(%t) : tensor<?x6xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x24xELEMENT>, tensor<6x24xELEMENT>)
      outs(%l0 : tensor<?x6xf32>) -> tensor<?x6xf32>
  %s0 = tensor.empty(%t) : tensor<?x3xf32>
  %i0 = tensor.empty(%t) : tensor<?x3xi32>
  %s, %i = moe.route ins(%l : tensor<?x6xf32>) outs(%s0, %i0 : tensor<?x3xf32>, tensor<?x3xi32>)
      {renormalize} -> tensor<?x3xf32>, tensor<?x3xi32>
  %h0 = tensor.empty(%r) : tensor<?x20xELEMENT>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x24xELEMENT>, tensor<6x20x24xELEMENT>)
      rows(%i : tensor<?x3xi32>) outs(%h0 : tensor<?x20xELEMENT>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x20xELEMENT>
  %a0 = tensor.empty(%r) : tensor<?x10xELEMENT>
  %a = moe.activation ins(%h : tensor<?x20xELEMENT>) outs(%a0 : tensor<?x10xELEMENT>)
      {activation = #moe.activation<swiglu>} -> tensor<?x10xELEMENT>
  %y0 = tensor.empty(%r) : tensor<?x24xELEMENT>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x10xELEMENT>, tensor<6x24x10xELEMENT>)
      rows(%i : tensor<?x3xi32>) outs(%y0 : tensor<?x24xELEMENT>)
      {grouping = #moe.grouping<ids>} -> tensor<?x24xELEMENT>
  %o0 = tensor.empty(%t) : tensor<?x24xELEMENT>
  %o = moe.combine ins(%y, %s, %i : tensor<?x24xELEMENT>, tensor<?x3xf32>, tensor<?x3xi32>)
      residual(%shared : tensor<?x24xELEMENT>) outs(%o0 : tensor<?x24xELEMENT>)
      {experts = 6, routed_scale = 2.5 : f32} -> tensor<?x24xELEMENT>
  return %o : tensor<?x24xELEMENT>
}
