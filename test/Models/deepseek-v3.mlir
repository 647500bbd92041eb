// DeepSeek-V3, one layer at full size: E = 256, k = 8, H = 7168, I = 2048.
// Written by generate.py; change that.

func.func @layer(%x: tensor<?x7168xbf16>,
                 %wg: tensor<256x7168xbf16>,
                 %correction: tensor<256xf32>,
                 %w13: tensor<256x4096x7168xbf16>,
                 %w2: tensor<256x7168x2048xbf16>,
                 %shared_w13: tensor<1x4096x7168xbf16>,
                 %shared_w2: tensor<1x7168x2048xbf16>)
    -> tensor<?x7168xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x7168xbf16>
  %c8 = arith.constant 8 : index
  %r = arith.muli %t, %c8 : index

  // Router.
  %init = tensor.empty(%t) : tensor<?x256xf32>
  %logits = moe.gate
      ins(%x, %wg : tensor<?x7168xbf16>, tensor<256x7168xbf16>)
      outs(%init : tensor<?x256xf32>)
      -> tensor<?x256xf32>
  %init_1 = tensor.empty(%t) : tensor<?x8xf32>
  %init_2 = tensor.empty(%t) : tensor<?x8xi32>
  %weights, %ids = moe.route
      ins(%logits : tensor<?x256xf32>)
      bias(%correction : tensor<256xf32>)
      outs(%init_1, %init_2 : tensor<?x8xf32>, tensor<?x8xi32>)
      {score = #moe.score<sigmoid>, groups = 8, keep_groups = 4, group_rank = #moe.group_rank<top2_sum>, renormalize, scale = 2.5 : f32}
      -> tensor<?x8xf32>, tensor<?x8xi32>

  // Routed experts.
  %init_3 = tensor.empty(%r) : tensor<?x4096xbf16>
  %h = moe.grouped_gemm
      ins(%x, %w13 : tensor<?x7168xbf16>, tensor<256x4096x7168xbf16>)
      rows(%ids : tensor<?x8xi32>)
      outs(%init_3 : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
      -> tensor<?x4096xbf16>
  %init_4 = tensor.empty(%r) : tensor<?x2048xbf16>
  %act = moe.activation
      ins(%h : tensor<?x4096xbf16>)
      outs(%init_4 : tensor<?x2048xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x2048xbf16>
  %init_5 = tensor.empty(%r) : tensor<?x7168xbf16>
  %y = moe.grouped_gemm
      ins(%act, %w2 : tensor<?x2048xbf16>, tensor<256x7168x2048xbf16>)
      rows(%ids : tensor<?x8xi32>)
      outs(%init_5 : tensor<?x7168xbf16>)
      {grouping = #moe.grouping<ids>}
      -> tensor<?x7168xbf16>

  // Shared experts, one of their joint width.
  %init_6 = tensor.empty(%t) : tensor<?x4096xbf16>
  %shared_h = moe.grouped_gemm
      ins(%x, %shared_w13 : tensor<?x7168xbf16>, tensor<1x4096x7168xbf16>)
      outs(%init_6 : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<dense>}
      -> tensor<?x4096xbf16>
  %init_7 = tensor.empty(%t) : tensor<?x2048xbf16>
  %act_1 = moe.activation
      ins(%shared_h : tensor<?x4096xbf16>)
      outs(%init_7 : tensor<?x2048xbf16>)
      {activation = #moe.activation<swiglu>}
      -> tensor<?x2048xbf16>
  %init_8 = tensor.empty(%t) : tensor<?x7168xbf16>
  %shared_y = moe.grouped_gemm
      ins(%act_1, %shared_w2 : tensor<?x2048xbf16>, tensor<1x7168x2048xbf16>)
      outs(%init_8 : tensor<?x7168xbf16>)
      {grouping = #moe.grouping<dense>}
      -> tensor<?x7168xbf16>

  // Weighted sum of the slots.
  %init_9 = tensor.empty(%t) : tensor<?x7168xbf16>
  %out = moe.combine
      ins(%y, %weights, %ids : tensor<?x7168xbf16>, tensor<?x8xf32>, tensor<?x8xi32>)
      residual(%shared_y : tensor<?x7168xbf16>)
      outs(%init_9 : tensor<?x7168xbf16>)
      {experts = 256}
      -> tensor<?x7168xbf16>
  return %out : tensor<?x7168xbf16>
}
