// DeepSeek-V2-Lite, one layer with narrow matrices: E = 64, k = 6, H = 424, I = 104.
// Written by generate.py; change that.

func.func @layer(%x: tensor<?x424xbf16>,
                 %wg: tensor<64x424xbf16>,
                 %w13: tensor<64x208x424xbf16>,
                 %w2: tensor<64x424x104xbf16>,
                 %shared_w13: tensor<1x416x424xbf16>,
                 %shared_w2: tensor<1x424x208xbf16>)
    -> tensor<?x424xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x424xbf16>
  %c6 = arith.constant 6 : index
  %r = arith.muli %t, %c6 : index

  // Router.
  %init = tensor.empty(%t) : tensor<?x64xf32>
  %logits = moe.gate
      ins(%x, %wg : tensor<?x424xbf16>, tensor<64x424xbf16>)
      outs(%init : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  %init_1 = tensor.empty(%t) : tensor<?x6xf32>
  %init_2 = tensor.empty(%t) : tensor<?x6xi32>
  %weights, %ids = moe.route
      ins(%logits : tensor<?x64xf32>)
      outs(%init_1, %init_2 : tensor<?x6xf32>, tensor<?x6xi32>)
      -> tensor<?x6xf32>, tensor<?x6xi32>

  // Routed experts.
  %init_3 = tensor.empty(%r) : tensor<?x208xbf16>
  %h = moe.grouped_gemm
      ins(%x, %w13 : tensor<?x424xbf16>, tensor<64x208x424xbf16>)
      rows(%ids : tensor<?x6xi32>)
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
      ins(%act, %w2 : tensor<?x104xbf16>, tensor<64x424x104xbf16>)
      rows(%ids : tensor<?x6xi32>)
      outs(%init_5 : tensor<?x424xbf16>)
      {grouping = #moe.grouping<ids>}
      -> tensor<?x424xbf16>

  // Shared experts, one of their joint width.
  %init_6 = tensor.empty(%t) : tensor<?x416xbf16>
  %shared_h = moe.grouped_gemm
      ins(%x, %shared_w13 : tensor<?x424xbf16>, tensor<1x416x424xbf16>)
      outs(%init_6 : tensor<?x416xbf16>)
      {grouping = #moe.grouping<dense>}
      -> tensor<?x416xbf16>
  %init_7 = tensor.empty(%t) : tensor<?x208xbf16>
  %act_1 = moe.activation
      ins(%shared_h : tensor<?x416xbf16>)
      outs(%init_7 : tensor<?x208xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x208xbf16>
  %init_8 = tensor.empty(%t) : tensor<?x424xbf16>
  %shared_y = moe.grouped_gemm
      ins(%act_1, %shared_w2 : tensor<?x208xbf16>, tensor<1x424x208xbf16>)
      outs(%init_8 : tensor<?x424xbf16>)
      {grouping = #moe.grouping<dense>}
      -> tensor<?x424xbf16>

  // Weighted sum of the slots.
  %init_9 = tensor.empty(%t) : tensor<?x424xbf16>
  %out = moe.combine
      ins(%y, %weights, %ids : tensor<?x424xbf16>, tensor<?x6xf32>, tensor<?x6xi32>)
      residual(%shared_y : tensor<?x424xbf16>)
      outs(%init_9 : tensor<?x424xbf16>)
      {experts = 64}
      -> tensor<?x424xbf16>
  return %out : tensor<?x424xbf16>
}
