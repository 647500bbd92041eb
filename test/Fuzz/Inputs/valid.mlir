// A valid module with every op; malformed.py breaks it in one place at a time.

func.func @layer(%x: tensor<?x64xbf16>, %wg: tensor<8x64xbf16>,
                 %bg: tensor<8xbf16>, %bias: tensor<8xf32>,
                 %w13: tensor<8x96x64xbf16>, %b13: tensor<8x96xf32>,
                 %w2: tensor<8x64x48xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x8xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x64xbf16>, tensor<8x64xbf16>)
      bias(%bg : tensor<8xbf16>) outs(%l0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %s, %i = moe.route ins(%l : tensor<?x8xf32>) bias(%bias : tensor<8xf32>)
      outs(%s0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
      {score = #moe.score<sigmoid>, groups = 4, keep_groups = 2,
       group_rank = #moe.group_rank<top2_sum>, renormalize, scale = 2.5 : f32}
      -> tensor<?x2xf32>, tensor<?x2xi32>
  %h0 = tensor.empty(%r) : tensor<?x96xbf16>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x64xbf16>, tensor<8x96x64xbf16>)
      rows(%i : tensor<?x2xi32>) bias(%b13 : tensor<8x96xf32>)
      outs(%h0 : tensor<?x96xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #moe.schedule<mma = wgmma, tile = [64, 96, 64], stages = 4>}
      -> tensor<?x96xbf16>
  %a0 = tensor.empty(%r) : tensor<?x48xbf16>
  %a = moe.activation ins(%h : tensor<?x96xbf16>) outs(%a0 : tensor<?x48xbf16>)
      {activation = #moe.activation<swiglu, limit = 10.0>} -> tensor<?x48xbf16>
  %y0 = tensor.empty(%r) : tensor<?x64xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x48xbf16>, tensor<8x64x48xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x64xbf16>)
      {grouping = #moe.grouping<ids>} -> tensor<?x64xbf16>
  %o0 = tensor.empty(%t) : tensor<?x64xbf16>
  %o = moe.combine ins(%y, %s, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
      residual(%x : tensor<?x64xbf16>) outs(%o0 : tensor<?x64xbf16>)
      {experts = 8} -> tensor<?x64xbf16>
  return %o : tensor<?x64xbf16>
}

func.func @aligned(%x: tensor<5x64xf32>, %ids: tensor<5x2xi32>, %map: tensor<16xi32>,
                   %w: tensor<8x32x64xf32>, %s: tensor<5x2xf32>)
    -> (tensor<10x32xf32>, tensor<8xi32>) {
  %rows0 = tensor.empty() : tensor<34xi32>
  %tile0 = tensor.empty() : tensor<9xi32>
  %padded0 = tensor.empty() : tensor<1xi32>
  %counts0 = tensor.empty() : tensor<8xi32>
  %rows, %tile, %padded, %counts = moe.align ins(%ids : tensor<5x2xi32>)
      expert_map(%map : tensor<16xi32>)
      outs(%rows0, %tile0, %padded0, %counts0 :
        tensor<34xi32>, tensor<9xi32>, tensor<1xi32>, tensor<8xi32>)
      {experts = 8, block = 4}
      -> tensor<34xi32>, tensor<9xi32>, tensor<1xi32>, tensor<8xi32>
  %c0 = tensor.empty() : tensor<10x32xf32>
  %c = moe.grouped_gemm ins(%x, %w : tensor<5x64xf32>, tensor<8x32x64xf32>)
      rows(%rows, %tile, %padded : tensor<34xi32>, tensor<9xi32>, tensor<1xi32>)
      weights(%s : tensor<5x2xf32>) outs(%c0 : tensor<10x32xf32>)
      {grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>,
       weight = #moe.weight<output>, top_k = 2, block = 4} -> tensor<10x32xf32>
  return %c, %counts : tensor<10x32xf32>, tensor<8xi32>
}

func.func @contiguous(%x: tensor<5x64xf16>, %ids: tensor<5x2xi32>,
                      %w: tensor<8x64x32xf16>) -> tensor<10x32xf16> {
  %rows0 = tensor.empty() : tensor<10x64xf16>
  %source0 = tensor.empty() : tensor<10xi32>
  %ends0 = tensor.empty() : tensor<8xi32>
  %rows, %source, %ends = moe.permute ins(%x, %ids : tensor<5x64xf16>, tensor<5x2xi32>)
      outs(%rows0, %source0, %ends0 : tensor<10x64xf16>, tensor<10xi32>, tensor<8xi32>)
      {experts = 8} -> tensor<10x64xf16>, tensor<10xi32>, tensor<8xi32>
  %c0 = tensor.empty() : tensor<10x32xf16>
  %c = moe.grouped_gemm ins(%rows, %w : tensor<10x64xf16>, tensor<8x64x32xf16>)
      rows(%ends : tensor<8xi32>) outs(%c0 : tensor<10x32xf16>)
      {grouping = #moe.grouping<offsets>, b_layout = #moe.b_layout<kn>}
      -> tensor<10x32xf16>
  %y0 = tensor.empty() : tensor<10x32xf16>
  %y = moe.unpermute ins(%c, %source : tensor<10x32xf16>, tensor<10xi32>)
      outs(%y0 : tensor<10x32xf16>) -> tensor<10x32xf16>
  return %y : tensor<10x32xf16>
}

func.func @ragged(%a: tensor<64x10xf32>, %b: tensor<32x10xf32>, %ends: tensor<8xi32>,
                  %x: tensor<8x4x64xf32>, %w: tensor<8x32x64xf32>)
    -> (tensor<8x64x32xf32>, tensor<8x4x32xf32>, tensor<32x1xi32>) {
  %c0 = tensor.empty() : tensor<8x64x32xf32>
  %c = moe.grouped_gemm ins(%a, %b : tensor<64x10xf32>, tensor<32x10xf32>)
      rows(%ends : tensor<8xi32>) outs(%c0 : tensor<8x64x32xf32>)
      {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  %m0 = tensor.empty() : tensor<8x4x32xf32>
  %m = moe.grouped_gemm ins(%x, %w : tensor<8x4x64xf32>, tensor<8x32x64xf32>)
      rows(%ends : tensor<8xi32>) outs(%m0 : tensor<8x4x32xf32>)
      {grouping = #moe.grouping<masked>} -> tensor<8x4x32xf32>
  %g0 = tensor.empty() : tensor<32x1xi32>
  %g = moe.group_ids ins(%ends : tensor<8xi32>) outs(%g0 : tensor<32x1xi32>)
      {grouping = #moe.grouping<masked>, capacity = 4} -> tensor<32x1xi32>
  return %c, %m, %g : tensor<8x64x32xf32>, tensor<8x4x32xf32>, tensor<32x1xi32>
}

func.func @map(%w: memref<256x64xbf16>) -> !moe.tensor_map {
  %map = moe.encode_tensor_map %w box [64, 64] {swizzle = 128 : i64}
      : memref<256x64xbf16> -> !moe.tensor_map
  return %map : !moe.tensor_map
}
