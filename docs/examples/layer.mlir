// One Mixture-of-Experts layer: E = 8 experts, k = 2, H = 256, I = 128.
func.func @layer(%x: tensor<?x256xbf16>, %wg: tensor<8x256xbf16>,
                 %w13: tensor<8x256x256xbf16>, %w2: tensor<8x256x128xbf16>)
    -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %r = arith.muli %t, %c2 : index

  // Which experts, with which weight.
  %l0 = tensor.empty(%t) : tensor<?x8xf32>
  %logits = moe.gate ins(%x, %wg : tensor<?x256xbf16>, tensor<8x256xbf16>)
                     outs(%l0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %weights, %ids = moe.route ins(%logits : tensor<?x8xf32>)
                             outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
                             {renormalize} -> tensor<?x2xf32>, tensor<?x2xi32>

  // Row t*2+j of h is token t times the gate and up rows of its expert j.
  %h0 = tensor.empty(%r) : tensor<?x256xbf16>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x256xbf16>, tensor<8x256x256xbf16>)
                        rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x256xbf16>)
                        {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
                        -> tensor<?x256xbf16>
  %a0 = tensor.empty(%r) : tensor<?x128xbf16>
  %a = moe.activation ins(%h : tensor<?x256xbf16>) outs(%a0 : tensor<?x128xbf16>)
                      {activation = #moe.activation<swiglu>} -> tensor<?x128xbf16>
  %y0 = tensor.empty(%r) : tensor<?x256xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x128xbf16>, tensor<8x256x128xbf16>)
                        rows(%ids : tensor<?x2xi32>) outs(%y0 : tensor<?x256xbf16>)
                        {grouping = #moe.grouping<ids>} -> tensor<?x256xbf16>

  // out[t] = weights[t, 0] * y[2t] + weights[t, 1] * y[2t + 1]
  %o0 = tensor.empty(%t) : tensor<?x256xbf16>
  %out = moe.combine ins(%y, %weights, %ids : tensor<?x256xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
                     outs(%o0 : tensor<?x256xbf16>) {experts = 8} -> tensor<?x256xbf16>
  return %out : tensor<?x256xbf16>
}
