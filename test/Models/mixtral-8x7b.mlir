// Mixtral 8x7B, one layer at full size: E = 8, k = 2, H = 4096, I = 14336.
// Written by generate.py; change that.

func.func @layer(%x: tensor<?x4096xbf16>,
                 %wg: tensor<8x4096xbf16>,
                 %w13: tensor<8x28672x4096xbf16>,
                 %w2: tensor<8x4096x14336xbf16>)
    -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %c2 = arith.constant 2 : index
  %r = arith.muli %t, %c2 : index

  // Router.
  %init = tensor.empty(%t) : tensor<?x8xf32>
  %logits = moe.gate
      ins(%x, %wg : tensor<?x4096xbf16>, tensor<8x4096xbf16>)
      outs(%init : tensor<?x8xf32>)
      -> tensor<?x8xf32>
  %init_1 = tensor.empty(%t) : tensor<?x2xf32>
  %init_2 = tensor.empty(%t) : tensor<?x2xi32>
  %weights, %ids = moe.route
      ins(%logits : tensor<?x8xf32>)
      outs(%init_1, %init_2 : tensor<?x2xf32>, tensor<?x2xi32>)
      {order = #moe.order<topk_then_score>}
      -> tensor<?x2xf32>, tensor<?x2xi32>

  // Routed experts.
  %init_3 = tensor.empty(%r) : tensor<?x28672xbf16>
  %h = moe.grouped_gemm
      ins(%x, %w13 : tensor<?x4096xbf16>, tensor<8x28672x4096xbf16>)
      rows(%ids : tensor<?x2xi32>)
      outs(%init_3 : tensor<?x28672xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
      -> tensor<?x28672xbf16>
  %init_4 = tensor.empty(%r) : tensor<?x14336xbf16>
  %act = moe.activation
      ins(%h : tensor<?x28672xbf16>)
      outs(%init_4 : tensor<?x14336xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x14336xbf16>
  %init_5 = tensor.empty(%r) : tensor<?x4096xbf16>
  %y = moe.grouped_gemm
      ins(%act, %w2 : tensor<?x14336xbf16>, tensor<8x4096x14336xbf16>)
      rows(%ids : tensor<?x2xi32>)
      outs(%init_5 : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>}
      -> tensor<?x4096xbf16>

  // Weighted sum of the slots.
  %init_6 = tensor.empty(%t) : tensor<?x4096xbf16>
  %out = moe.combine
      ins(%y, %weights, %ids : tensor<?x4096xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%init_6 : tensor<?x4096xbf16>)
      {experts = 8}
      -> tensor<?x4096xbf16>
  return %out : tensor<?x4096xbf16>
}
