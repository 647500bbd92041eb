
func.func @layer(%x: tensor<?x256xbf16>, %wg: tensor<4x256xbf16>, %w13: tensor<4x256x256xbf16>,
                 %w2: tensor<4x256x128xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x4xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x256xbf16>, tensor<4x256xbf16>)
      outs(%l0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %s, %i = moe.route ins(%l : tensor<?x4xf32>) outs(%s0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
      -> tensor<?x2xf32>, tensor<?x2xi32>
  %h0 = tensor.empty(%r) : tensor<?x256xbf16>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x256xbf16>, tensor<4x256x256xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%h0 : tensor<?x256xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x256xbf16>
  %a0 = tensor.empty(%r) : tensor<?x128xbf16>
  %a = moe.activation ins(%h : tensor<?x256xbf16>) outs(%a0 : tensor<?x128xbf16>)
      {activation = #moe.activation<swiglu>} -> tensor<?x128xbf16>
  %y0 = tensor.empty(%r) : tensor<?x256xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x128xbf16>, tensor<4x256x128xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x256xbf16>)
      {grouping = #moe.grouping<ids>} -> tensor<?x256xbf16>
  %o0 = tensor.empty(%t) : tensor<?x256xbf16>
  %o = moe.combine ins(%y, %s, %i : tensor<?x256xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x256xbf16>) {experts = 4} -> tensor<?x256xbf16>
  return %o : tensor<?x256xbf16>
}
