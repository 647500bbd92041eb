// Qwen3 235B-A22B, one layer with narrow matrices: E = 128, k = 8, H = 424, I = 104.
// Written by generate.py; change that.

func.func @layer(%x: tensor<?x424xbf16>,
                 %wg: tensor<128x424xbf16>,
                 %w13: tensor<128x208x424xbf16>,
                 %w2: tensor<128x424x104xbf16>)
    -> tensor<?x424xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x424xbf16>
  %c8 = arith.constant 8 : index
  %r = arith.muli %t, %c8 : index

  // Router.
  %init = tensor.empty(%t) : tensor<?x128xf32>
  %logits = moe.gate
      ins(%x, %wg : tensor<?x424xbf16>, tensor<128x424xbf16>)
      outs(%init : tensor<?x128xf32>)
      -> tensor<?x128xf32>
  %init_1 = tensor.empty(%t) : tensor<?x8xf32>
  %init_2 = tensor.empty(%t) : tensor<?x8xi32>
  %weights, %ids = moe.route
      ins(%logits : tensor<?x128xf32>)
      outs(%init_1, %init_2 : tensor<?x8xf32>, tensor<?x8xi32>)
      {renormalize}
      -> tensor<?x8xf32>, tensor<?x8xi32>

  // Routed experts.
  %init_3 = tensor.empty(%r) : tensor<?x208xbf16>
  %h = moe.grouped_gemm
      ins(%x, %w13 : tensor<?x424xbf16>, tensor<128x208x424xbf16>)
      rows(%ids : tensor<?x8xi32>)
      outs(%init_3 : tensor<?x208xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
      -> tensor<?x208xbf16>
  %init_4 = tensor.empty(%r) : tensor<?x104xbf16>
  %act = moe.activation
      ins(%h : tensor<?x208xbf16>)
      outs(%init_4 : tensor<?x104xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x104xbf16>
  %init_5 = tensor.empty(%r) : tensor<?x424xbf16>
  %y = moe.grouped_gemm
      ins(%act, %w2 : tensor<?x104xbf16>, tensor<128x424x104xbf16>)
      rows(%ids : tensor<?x8xi32>)
      outs(%init_5 : tensor<?x424xbf16>)
      {grouping = #moe.grouping<ids>}
      -> tensor<?x424xbf16>

  // Weighted sum of the slots.
  %init_6 = tensor.empty(%t) : tensor<?x424xbf16>
  %out = moe.combine
      ins(%y, %weights, %ids : tensor<?x424xbf16>, tensor<?x8xf32>, tensor<?x8xi32>)
      outs(%init_6 : tensor<?x424xbf16>)
      {experts = 128}
      -> tensor<?x424xbf16>
  return %out : tensor<?x424xbf16>
}
