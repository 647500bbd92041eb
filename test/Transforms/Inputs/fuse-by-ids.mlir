// The experts of a layer with given ids and an expert map, for fuse_bitwise.py,
// which replaces ELEMENT.
func.func @layer(%x: tensor<?x24xELEMENT>, %w13: tensor<4x20x24xELEMENT>, %b13: tensor<4x20xf32>,
                 %w2: tensor<4x24x10xELEMENT>, %i: tensor<?x3xi32>, %s: tensor<?x3xf32>,
                 %map: tensor<6xi32>) -> tensor<?x24xELEMENT> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = tensor.dim %x, %c0 : tensor<?x24xELEMENT>
  %r = arith.muli %t, %c3 : index
  %h0 = tensor.empty(%r) : tensor<?x20xELEMENT>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x24xELEMENT>, tensor<4x20x24xELEMENT>)
      rows(%i : tensor<?x3xi32>) expert_map(%map : tensor<6xi32>) bias(%b13 : tensor<4x20xf32>)
      outs(%h0 : tensor<?x20xELEMENT>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x20xELEMENT>
  %a0 = tensor.empty(%r) : tensor<?x10xELEMENT>
  %a = moe.activation ins(%h : tensor<?x20xELEMENT>) outs(%a0 : tensor<?x10xELEMENT>)
      {activation = #moe.activation<geglu>} -> tensor<?x10xELEMENT>
  %y0 = tensor.empty(%r) : tensor<?x24xELEMENT>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x10xELEMENT>, tensor<4x24x10xELEMENT>)
      rows(%i : tensor<?x3xi32>) expert_map(%map : tensor<6xi32>)
      outs(%y0 : tensor<?x24xELEMENT>) {grouping = #moe.grouping<ids>} -> tensor<?x24xELEMENT>
  %o0 = tensor.empty(%t) : tensor<?x24xELEMENT>
  %o = moe.combine ins(%y, %s, %i : tensor<?x24xELEMENT>, tensor<?x3xf32>, tensor<?x3xi32>)
      expert_map(%map : tensor<6xi32>) outs(%o0 : tensor<?x24xELEMENT>)
      {experts = 4} -> tensor<?x24xELEMENT>
  return %o : tensor<?x24xELEMENT>
}
