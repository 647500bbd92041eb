// Rows into expert order and back: what the layer does inside of its GEMMs.
func.func @rows(%x: tensor<?x72xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x72xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x72xbf16>
  %r = arith.muli %t, %c2 : index
  %r0 = tensor.empty(%r) : tensor<?x72xbf16>
  %s0 = tensor.empty(%r) : tensor<?xi32>
  %f0 = tensor.empty() : tensor<5xi32>
  %rows, %source, %ends = moe.permute ins(%x, %ids : tensor<?x72xbf16>, tensor<?x2xi32>)
      outs(%r0, %s0, %f0 : tensor<?x72xbf16>, tensor<?xi32>, tensor<5xi32>) {experts = 5}
      -> tensor<?x72xbf16>, tensor<?xi32>, tensor<5xi32>
  %y0 = tensor.empty(%r) : tensor<?x72xbf16>
  %y = moe.unpermute ins(%rows, %source : tensor<?x72xbf16>, tensor<?xi32>)
                     outs(%y0 : tensor<?x72xbf16>) -> tensor<?x72xbf16>
  return %y : tensor<?x72xbf16>
}
