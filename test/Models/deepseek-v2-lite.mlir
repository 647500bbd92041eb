// DeepSeek-V2-Lite, one layer at full size: E = 64, k = 6, H = 2048, I = 1408.
// Written by generate.py; change that.

func.func @layer(%x: tensor<?x2048xbf16>,
                 %wg: tensor<64x2048xbf16>,
                 %w13: tensor<64x2816x2048xbf16>,
                 %w2: tensor<64x2048x1408xbf16>,
                 %shared_w13: tensor<1x5632x2048xbf16>,
                 %shared_w2: tensor<1x2048x2816xbf16>)
    -> tensor<?x2048xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %c6 = arith.constant 6 : index
  %r = arith.muli %t, %c6 : index

  // Router.
  %init = tensor.empty(%t) : tensor<?x64xf32>
  %logits = moe.gate
      ins(%x, %wg : tensor<?x2048xbf16>, tensor<64x2048xbf16>)
      outs(%init : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  %init_1 = tensor.empty(%t) : tensor<?x6xf32>
  %init_2 = tensor.empty(%t) : tensor<?x6xi32>
  %weights, %ids = moe.route
      ins(%logits : tensor<?x64xf32>)
      outs(%init_1, %init_2 : tensor<?x6xf32>, tensor<?x6xi32>)
      -> tensor<?x6xf32>, tensor<?x6xi32>

  // Routed experts.
  %init_3 = tensor.empty(%r) : tensor<?x2816xbf16>
  %h = moe.grouped_gemm
      ins(%x, %w13 : tensor<?x2048xbf16>, tensor<64x2816x2048xbf16>)
      rows(%ids : tensor<?x6xi32>)
      outs(%init_3 : tensor<?x2816xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
      -> tensor<?x2816xbf16>
  %init_4 = tensor.empty(%r) : tensor<?x1408xbf16>
  %act = moe.activation
      ins(%h : tensor<?x2816xbf16>)
      outs(%init_4 : tensor<?x1408xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x1408xbf16>
  %init_5 = tensor.empty(%r) : tensor<?x2048xbf16>
  %y = moe.grouped_gemm
      ins(%act, %w2 : tensor<?x1408xbf16>, tensor<64x2048x1408xbf16>)
      rows(%ids : tensor<?x6xi32>)
      outs(%init_5 : tensor<?x2048xbf16>)
      {grouping = #moe.grouping<ids>}
      -> tensor<?x2048xbf16>

  // Shared experts, one of their joint width.
  %init_6 = tensor.empty(%t) : tensor<?x5632xbf16>
  %shared_h = moe.grouped_gemm
      ins(%x, %shared_w13 : tensor<?x2048xbf16>, tensor<1x5632x2048xbf16>)
      outs(%init_6 : tensor<?x5632xbf16>)
      {grouping = #moe.grouping<dense>}
      -> tensor<?x5632xbf16>
  %init_7 = tensor.empty(%t) : tensor<?x2816xbf16>
  %act_1 = moe.activation
      ins(%shared_h : tensor<?x5632xbf16>)
      outs(%init_7 : tensor<?x2816xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x2816xbf16>
  %init_8 = tensor.empty(%t) : tensor<?x2048xbf16>
  %shared_y = moe.grouped_gemm
      ins(%act_1, %shared_w2 : tensor<?x2816xbf16>, tensor<1x2048x2816xbf16>)
      outs(%init_8 : tensor<?x2048xbf16>)
      {grouping = #moe.grouping<dense>}
      -> tensor<?x2048xbf16>

  // Weighted sum of the slots.
  %init_9 = tensor.empty(%t) : tensor<?x2048xbf16>
  %out = moe.combine
      ins(%y, %weights, %ids : tensor<?x2048xbf16>, tensor<?x6xf32>, tensor<?x6xi32>)
      residual(%shared_y : tensor<?x2048xbf16>)
      outs(%init_9 : tensor<?x2048xbf16>)
      {experts = 64}
      -> tensor<?x2048xbf16>
  return %out : tensor<?x2048xbf16>
}
