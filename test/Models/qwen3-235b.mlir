// Qwen3 235B-A22B, one layer at full size: E = 128, k = 8, H = 4096, I = 1536.
// Written by generate.py; change that.

func.func @layer(%x: tensor<?x4096xbf16>,
                 %wg: tensor<128x4096xbf16>,
                 %w13: tensor<128x3072x4096xbf16>,
                 %w2: tensor<128x4096x1536xbf16>)
    -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %c8 = arith.constant 8 : index
  %r = arith.muli %t, %c8 : index

  // Router.
  %init = tensor.empty(%t) : tensor<?x128xf32>
  %logits = moe.gate
      ins(%x, %wg : tensor<?x4096xbf16>, tensor<128x4096xbf16>)
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
  %init_3 = tensor.empty(%r) : tensor<?x3072xbf16>
  %h = moe.grouped_gemm
      ins(%x, %w13 : tensor<?x4096xbf16>, tensor<128x3072x4096xbf16>)
      rows(%ids : tensor<?x8xi32>)
      outs(%init_3 : tensor<?x3072xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
      -> tensor<?x3072xbf16>
  %init_4 = tensor.empty(%r) : tensor<?x1536xbf16>
  %act = moe.activation
      ins(%h : tensor<?x3072xbf16>)
      outs(%init_4 : tensor<?x1536xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x1536xbf16>
  %init_5 = tensor.empty(%r) : tensor<?x4096xbf16>
  %y = moe.grouped_gemm
      ins(%act, %w2 : tensor<?x1536xbf16>, tensor<128x4096x1536xbf16>)
      rows(%ids : tensor<?x8xi32>)
      outs(%init_5 : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>}
      -> tensor<?x4096xbf16>

  // Weighted sum of the slots.
  %init_6 = tensor.empty(%t) : tensor<?x4096xbf16>
  %out = moe.combine
      ins(%y, %weights, %ids : tensor<?x4096xbf16>, tensor<?x8xf32>, tensor<?x8xi32>)
      outs(%init_6 : tensor<?x4096xbf16>)
      {experts = 128}
      -> tensor<?x4096xbf16>
  return %out : tensor<?x4096xbf16>
}
