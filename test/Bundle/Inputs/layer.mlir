// A layer of eight experts beside another public function; @layer calls a
// helper.
func.func private @logits(%x: tensor<?x256xbf16>, %wg: tensor<8x256xbf16>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %l0 = tensor.empty(%t) : tensor<?x8xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x256xbf16>, tensor<8x256xbf16>)
      outs(%l0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %l : tensor<?x8xf32>
}
func.func @layer(%x: tensor<?x256xbf16>, %wg: tensor<8x256xbf16>,
                 %w13: tensor<8x256x256xbf16>, %w2: tensor<8x256x128xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %r = arith.muli %t, %c2 : index
  %l = call @logits(%x, %wg) : (tensor<?x256xbf16>, tensor<8x256xbf16>) -> tensor<?x8xf32>
  %s0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %s, %i = moe.route ins(%l : tensor<?x8xf32>) outs(%s0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
      -> tensor<?x2xf32>, tensor<?x2xi32>
  %h0 = tensor.empty(%r) : tensor<?x256xbf16>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x256xbf16>, tensor<8x256x256xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%h0 : tensor<?x256xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x256xbf16>
  %a0 = tensor.empty(%r) : tensor<?x128xbf16>
  %a = moe.activation ins(%h : tensor<?x256xbf16>) outs(%a0 : tensor<?x128xbf16>)
      {activation = #moe.activation<swiglu>} -> tensor<?x128xbf16>
  %y0 = tensor.empty(%r) : tensor<?x256xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x128xbf16>, tensor<8x256x128xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x256xbf16>)
      {grouping = #moe.grouping<ids>} -> tensor<?x256xbf16>
  %o0 = tensor.empty(%t) : tensor<?x256xbf16>
  %o = moe.combine ins(%y, %s, %i : tensor<?x256xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x256xbf16>) {experts = 8} -> tensor<?x256xbf16>
  return %o : tensor<?x256xbf16>
}
func.func @static(%h: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a0 = tensor.empty() : tensor<4x8xf32>
  %a = moe.activation ins(%h : tensor<4x8xf32>) outs(%a0 : tensor<4x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}
