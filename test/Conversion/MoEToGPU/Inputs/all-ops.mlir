func.func @gate(%x: memref<?x2048xbf16>, %w: memref<128x2048xbf16>, %l: memref<?x128xf32>) {
  moe.gate ins(%x, %w : memref<?x2048xbf16>, memref<128x2048xbf16>) outs(%l : memref<?x128xf32>)
  return
}
func.func @route(%l: memref<?x128xf32>, %w: memref<?x8xf32>, %i: memref<?x8xi32>) {
  moe.route ins(%l : memref<?x128xf32>) outs(%w, %i : memref<?x8xf32>, memref<?x8xi32>) {renormalize}
  return
}
func.func @act(%h: memref<?x1536xbf16>, %a: memref<?x768xbf16>) {
  moe.activation ins(%h : memref<?x1536xbf16>) outs(%a : memref<?x768xbf16>) {activation = #moe.activation<swiglu>}
  return
}
func.func @combine(%y: memref<?x2048xbf16>, %w: memref<?x8xf32>, %i: memref<?x8xi32>, %o: memref<?x2048xbf16>) {
  moe.combine ins(%y, %w, %i : memref<?x2048xbf16>, memref<?x8xf32>, memref<?x8xi32>) outs(%o : memref<?x2048xbf16>) {experts = 128}
  return
}
func.func @align(%i: memref<?x8xi32>, %s: memref<?xi32>, %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<128xi32>) {
  moe.align ins(%i : memref<?x8xi32>) outs(%s, %t, %p, %c : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<128xi32>) {experts = 128, block = 16}
  return
}
func.func @ids(%i: memref<?x8xi32>, %x: memref<?x2048xbf16>, %w: memref<128x1536x2048xbf16>, %c: memref<?x768xbf16>) {
  moe.grouped_gemm ins(%x, %w : memref<?x2048xbf16>, memref<128x1536x2048xbf16>) rows(%i : memref<?x8xi32>) outs(%c : memref<?x768xbf16>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>, activation = #moe.activation<swiglu>}
  return
}
func.func @kg(%o: memref<16xi32>, %a: memref<64x?xbf16>, %b: memref<?x96xbf16>, %c: memref<16x64x96xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<64x?xbf16>, memref<?x96xbf16>) rows(%o : memref<16xi32>) outs(%c : memref<16x64x96xf32>) {grouping = #moe.grouping<k_grouped>, b_layout = #moe.b_layout<kn>}
  return
}
func.func @permute(%x: memref<?x2048xbf16>, %i: memref<?x8xi32>, %r: memref<?x2048xbf16>, %s: memref<?xi32>, %o: memref<128xi32>, %y: memref<?x2048xbf16>) {
  moe.permute ins(%x, %i : memref<?x2048xbf16>, memref<?x8xi32>) outs(%r, %s, %o : memref<?x2048xbf16>, memref<?xi32>, memref<128xi32>) {experts = 128}
  moe.unpermute ins(%r, %s : memref<?x2048xbf16>, memref<?xi32>) outs(%y : memref<?x2048xbf16>)
  return
}
func.func @groupids(%o: memref<16xi32>, %i: memref<?x1xi32>) {
  moe.group_ids ins(%o : memref<16xi32>) outs(%i : memref<?x1xi32>) {grouping = #moe.grouping<sizes>}
  return
}
func.func @combine_all(%y: memref<?x40xbf16>, %w: memref<?x11xf32>, %i: memref<?x11xi32>, %m: memref<20xi32>, %x: memref<?x40xf32>, %r: memref<?x40xf16>, %o: memref<?x40xbf16>) {
  moe.combine ins(%y, %w, %i : memref<?x40xbf16>, memref<?x11xf32>, memref<?x11xi32>) expert_map(%m : memref<20xi32>) identity(%x : memref<?x40xf32>) residual(%r : memref<?x40xf16>) outs(%o : memref<?x40xbf16>) {experts = 8, identity_experts = 2, scale = 2.5 : f32}
  return
}
func.func @route_groups(%l: memref<?x256xbf16>, %b: memref<256xf32>, %e: memref<256xf32>, %w: memref<?x8xf32>, %i: memref<?x8xi32>) {
  moe.route ins(%l : memref<?x256xbf16>) bias(%b : memref<256xf32>) expert_scale(%e : memref<256xf32>) outs(%w, %i : memref<?x8xf32>, memref<?x8xi32>) {score = #moe.score<sigmoid>, groups = 8, keep_groups = 4, group_rank = #moe.group_rank<top2_sum>, renormalize, scale = 2.5 : f32, softcap = 30.0 : f32}
  return
}
func.func @route_table(%l: memref<?x64xf32>, %t: memref<?xi32>, %v: memref<1000x4xi32>, %w: memref<?x4xf32>, %i: memref<?x4xi32>) {
  moe.route ins(%l : memref<?x64xf32>) table(%t, %v : memref<?xi32>, memref<1000x4xi32>) outs(%w, %i : memref<?x4xf32>, memref<?x4xi32>) {score = #moe.score<sqrt_softplus>}
  return
}
func.func @route_mixer(%l: memref<?x16xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  moe.route ins(%l : memref<?x16xf32>) outs(%w, %i : memref<?x2xf32>, memref<?x2xi32>) {score = #moe.score<sparsemixer>}
  return
}
func.func @route_large(%l: memref<?x4096xf32>, %w: memref<?x4096xf32>, %i: memref<?x4096xi32>) {
  moe.route ins(%l : memref<?x4096xf32>) outs(%w, %i : memref<?x4096xf32>, memref<?x4096xi32>) {order = #moe.order<topk_then_score>}
  return
}
func.func @align_large(%i: memref<?x8xi32>, %m: memref<4096xi32>, %s: memref<?xi32>, %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<4096xi32>) {
  moe.align ins(%i : memref<?x8xi32>) expert_map(%m : memref<4096xi32>) outs(%s, %t, %p, %c : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<4096xi32>) {experts = 4096, block = 256}
  return
}
func.func @activations(%h: memref<?x96xf16>, %a: memref<?x48xf16>, %g: memref<?x48xbf16>, %o: memref<?x48xf32>) {
  moe.activation ins(%h : memref<?x96xf16>) outs(%a : memref<?x48xf16>) {activation = #moe.activation<swigluoai, layout = interleaved, limit = 7.0>}
  moe.activation ins(%h : memref<?x96xf16>) outs(%a : memref<?x48xf16>) {activation = #moe.activation<situ>}
  moe.activation ins(%g : memref<?x48xbf16>) outs(%o : memref<?x48xf32>) {activation = #moe.activation<gelu>}
  moe.activation ins(%g : memref<?x48xbf16>) outs(%o : memref<?x48xf32>) {activation = #moe.activation<relu2>}
  return
}
func.func @gemms(%a: memref<?x40xf16>, %b: memref<1x66x40xf16>, %o: memref<6xi32>, %e: memref<6x40x66xf16>, %bias: memref<6x66xf32>, %w: memref<?xf32>, %c: memref<?x66xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<?x40xf16>, memref<1x66x40xf16>) outs(%c : memref<?x66xf32>) {grouping = #moe.grouping<dense>}
  moe.grouped_gemm ins(%a, %e : memref<?x40xf16>, memref<6x40x66xf16>) rows(%o : memref<6xi32>) bias(%bias : memref<6x66xf32>) weights(%w : memref<?xf32>) outs(%c : memref<?x66xf32>) {grouping = #moe.grouping<offsets>, b_layout = #moe.b_layout<kn>, weight = #moe.weight<output>}
  return
}
func.func @align_few(%i: memref<?x8xi32>, %s: memref<?xi32>, %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<128xi32>) attributes {moe.token_range = [1, 365]} {
  moe.align ins(%i : memref<?x8xi32>) outs(%s, %t, %p, %c : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<128xi32>) {experts = 128, block = 16}
  return
}
func.func @align_few_large(%i: memref<?x8xi32>, %m: memref<4096xi32>, %s: memref<?xi32>, %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<4096xi32>) attributes {moe.token_range = [1, 32]} {
  moe.align ins(%i : memref<?x8xi32>) expert_map(%m : memref<4096xi32>) outs(%s, %t, %p, %c : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<4096xi32>) {experts = 4096, block = 16}
  return
}
func.func @permute_few(%x: memref<16x2048xbf16>, %i: memref<16x3xi32>, %r: memref<48x2048xbf16>, %s: memref<48xi32>, %o: memref<397xi32>) {
  moe.permute ins(%x, %i : memref<16x2048xbf16>, memref<16x3xi32>) outs(%r, %s, %o : memref<48x2048xbf16>, memref<48xi32>, memref<397xi32>) {experts = 397}
  return
}
