// RUN: moe-opt %s --verify-diagnostics --split-input-file

// An attribute that an op does not have is a misspelt one.

func.func @misspelt(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{'moe.route' op has no attribute 'renormalise'; did you mean 'renormalize'? It has: group_rank, groups, jitter, keep_groups, order, renormalize, scale, score, softcap}}
  %0, %1 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {renormalise} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @shortened(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %i: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{'moe.grouped_gemm' op has no attribute 'row_src'; did you mean 'row_source'? It has: }}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%i : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, row_src = #moe.row_source<token>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @generic_form(%l: memref<?x8xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  // expected-error @+1 {{'moe.route' op has no attribute 'Scale'; did you mean 'scale'?}}
  "moe.route"(%l, %w, %i) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 1, 1>}> {Scale = 2.0 : f32} : (memref<?x8xf32>, memref<?x2xf32>, memref<?x2xi32>) -> ()
  return
}

// -----

// Nothing like it: no guess.
func.func @unlike(%y: tensor<4x8xf32>, %w: tensor<2x2xf32>, %i: tensor<2x2xi32>, %o: tensor<2x8xf32>) {
  // expected-error @+1 {{'moe.combine' op has no attribute 'normalize_weights'; it has: experts, identity_experts, residual_scale, routed_scale, scale, weighted}}
  %0 = moe.combine ins(%y, %w, %i : tensor<4x8xf32>, tensor<2x2xf32>, tensor<2x2xi32>) outs(%o : tensor<2x8xf32>) {experts = 8, normalize_weights} -> tensor<2x8xf32>
  return
}

// -----

func.func @gate(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{'moe.gate' op has no attribute 'score'; it has none}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) {score = #moe.score<sigmoid>} -> tensor<?x8xf32>
  return
}

// -----

func.func @tables(%i: memref<4x2xi32>, %s: memref<36xi32>, %t: memref<9xi32>, %p: memref<1xi32>, %c: memref<8xi32>) {
  // expected-error @+1 {{'moe.align' op has no attribute 'expert'; did you mean 'experts'?}}
  moe.align ins(%i : memref<4x2xi32>) outs(%s, %t, %p, %c : memref<36xi32>, memref<9xi32>, memref<1xi32>, memref<8xi32>) {experts = 8, block = 4, expert = 8}
  return
}

// -----

func.func @groups(%g: memref<8xi32>, %i: memref<16x1xi32>) {
  // expected-error @+1 {{'moe.group_ids' op has no attribute 'experts'; it has: capacity, grouping}}
  moe.group_ids ins(%g : memref<8xi32>) outs(%i : memref<16x1xi32>) {grouping = #moe.grouping<sizes>, experts = 8}
  return
}

// -----

func.func @activation(%h: memref<?x64xf32>, %a: memref<?x32xf32>) {
  // expected-error @+1 {{'moe.activation' op has no attribute 'limit'; it has: activation}}
  moe.activation ins(%h : memref<?x64xf32>) outs(%a : memref<?x32xf32>) {activation = #moe.activation<swiglu>, limit = 7.0 : f32}
  return
}

// -----

func.func @permute(%x: memref<4x8xf32>, %i: memref<4x2xi32>, %r: memref<8x8xf32>, %s: memref<8xi32>, %o: memref<3xi32>) {
  // expected-error @+1 {{'moe.permute' op has no attribute 'expert_count'; it has: experts}}
  moe.permute ins(%x, %i : memref<4x8xf32>, memref<4x2xi32>) outs(%r, %s, %o : memref<8x8xf32>, memref<8xi32>, memref<3xi32>) {experts = 3, expert_count = 3}
  return
}

// -----

func.func @unpermute(%r: memref<8x8xf32>, %s: memref<8xi32>, %y: memref<8x8xf32>) {
  // expected-error @+1 {{'moe.unpermute' op has no attribute 'weighted'; it has none}}
  moe.unpermute ins(%r, %s : memref<8x8xf32>, memref<8xi32>) outs(%y : memref<8x8xf32>) {weighted}
  return
}

// -----

func.func @encode_tensor_map(%m: memref<128x64xbf16>) {
  // expected-error @+1 {{'moe.encode_tensor_map' op has no attribute 'swizzled'; did you mean 'swizzle'? It has: box, swizzle}}
  %0 = moe.encode_tensor_map %m box [64, 64] {swizzled = 128} : memref<128x64xbf16> -> !moe.tensor_map
  return
}

// -----

// The attributes of dialects and of MLIR itself are nobody's mistake.
func.func @others(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) {__inplace = true, my.note = "kept"} -> tensor<?x8xf32>
  return
}
