// A layer of small kernels of every kind: H = 448 are seven steps of K, more
// than a ring has stages; I = 64 is one; E = 5.
func.func @layer(%x: tensor<?x448xbf16>, %wg: tensor<5x448xbf16>,
                 %w13: tensor<5x128x448xbf16>, %w2: tensor<5x448x64xbf16>)
    -> tensor<?x448xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x448xbf16>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x5xf32>
  %logits = moe.gate ins(%x, %wg : tensor<?x448xbf16>, tensor<5x448xbf16>)
                     outs(%l0 : tensor<?x5xf32>) -> tensor<?x5xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %weights, %ids = moe.route ins(%logits : tensor<?x5xf32>)
                             outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
                             {renormalize} -> tensor<?x2xf32>, tensor<?x2xi32>
  %h0 = tensor.empty(%r) : tensor<?x128xbf16>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x448xbf16>, tensor<5x128x448xbf16>)
                        rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x128xbf16>)
                        {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
                        -> tensor<?x128xbf16>
  %a0 = tensor.empty(%r) : tensor<?x64xbf16>
  %a = moe.activation ins(%h : tensor<?x128xbf16>) outs(%a0 : tensor<?x64xbf16>)
                      {activation = #moe.activation<swiglu>} -> tensor<?x64xbf16>
  %y0 = tensor.empty(%r) : tensor<?x448xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x64xbf16>, tensor<5x448x64xbf16>)
                        rows(%ids : tensor<?x2xi32>) outs(%y0 : tensor<?x448xbf16>)
                        {grouping = #moe.grouping<ids>} -> tensor<?x448xbf16>
  %o0 = tensor.empty(%t) : tensor<?x448xbf16>
  %out = moe.combine ins(%y, %weights, %ids : tensor<?x448xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
                     outs(%o0 : tensor<?x448xbf16>) {experts = 5} -> tensor<?x448xbf16>
  return %out : tensor<?x448xbf16>
}
