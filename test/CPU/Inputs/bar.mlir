// The layer of the performance bar: 1024 columns, 512 inside an expert, 16
// experts, 4 of them for each token, f32.
func.func @layer(%x: tensor<?x1024xf32>, %wg: tensor<16x1024xf32>,
                 %w13: tensor<16x1024x1024xf32>, %w2: tensor<16x1024x512xf32>)
    -> tensor<?x1024xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %r = arith.muli %t, %c4 : index
  %l0 = tensor.empty(%t) : tensor<?x16xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x1024xf32>, tensor<16x1024xf32>)
      outs(%l0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %w0 = tensor.empty(%t) : tensor<?x4xf32>
  %i0 = tensor.empty(%t) : tensor<?x4xi32>
  %w, %i = moe.route ins(%l : tensor<?x16xf32>)
      outs(%w0, %i0 : tensor<?x4xf32>, tensor<?x4xi32>)
      {renormalize} -> tensor<?x4xf32>, tensor<?x4xi32>
  %h0 = tensor.empty(%r) : tensor<?x1024xf32>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x1024xf32>, tensor<16x1024x1024xf32>)
      rows(%i : tensor<?x4xi32>) outs(%h0 : tensor<?x1024xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
      -> tensor<?x1024xf32>
  %a0 = tensor.empty(%r) : tensor<?x512xf32>
  %a = moe.activation ins(%h : tensor<?x1024xf32>) outs(%a0 : tensor<?x512xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<?x512xf32>
  %y0 = tensor.empty(%r) : tensor<?x1024xf32>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x512xf32>, tensor<16x1024x512xf32>)
      rows(%i : tensor<?x4xi32>) outs(%y0 : tensor<?x1024xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<?x1024xf32>
  %o0 = tensor.empty(%t) : tensor<?x1024xf32>
  %o = moe.combine ins(%y, %w, %i : tensor<?x1024xf32>, tensor<?x4xf32>, tensor<?x4xi32>)
      outs(%o0 : tensor<?x1024xf32>) {experts = 16} -> tensor<?x1024xf32>
  return %o : tensor<?x1024xf32>
}
