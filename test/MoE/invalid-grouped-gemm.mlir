// RUN: moe-opt %s --verify-diagnostics --split-input-file

// moe.grouped_gemm: rules C6 to C15, epilogue and attributes; #moe.schedule.

func.func @odd_columns(%a: tensor<?x64xbf16>, %b: tensor<8x33x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x16xbf16>) {
  // expected-error @+1 {{requires an even N of b under a gated activation, but got 33 (C6)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x33x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x16xbf16>) {grouping = #moe.grouping<ids>, activation = #moe.activation<swiglu>} -> tensor<?x16xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @half_columns(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of c to be half of N = 16, but got 32 (C6)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, activation = #moe.activation<swiglu>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @bias_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %v: tensor<32xbf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires bias to have rank 2, but got 'tensor<32xbf16>' (C7)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) bias(%v : tensor<32xbf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @bias_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %v: tensor<8x32xf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires bias to be f32 or of the type of b, but got 'f16' (C7)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) bias(%v : tensor<8x32xf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @bias_experts(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %v: tensor<7x32xbf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of bias to be E = 8, but got 7 (C7)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) bias(%v : tensor<7x32xbf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

// Bias comes before the activation: N columns, not half of them.
// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @bias_columns(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %v: tensor<8x16xbf16>, %c: tensor<?x16xbf16>) {
  // expected-error @+1 {{requires dimension 1 of bias to be N of b = 32, but got 16 (C7)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) bias(%v : tensor<8x16xbf16>) outs(%c : tensor<?x16xbf16>) {grouping = #moe.grouping<ids>, activation = #moe.activation<swiglu>} -> tensor<?x16xbf16>
  return
}

// -----

func.func @weight_without_weights(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires weights exactly if weight is not none, but got weight = output without weights (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @weights_without_weight(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %w: tensor<?x2xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires weights exactly if weight is not none, but got weight = none with weights (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) weights(%w : tensor<?x2xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @weights_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %w: tensor<?x2xbf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires weights to be f32, but got 'bf16' (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) weights(%w : tensor<?x2xbf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @weights_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %w: tensor<?xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires weights to have rank 2, but got 'tensor<?xf32>' (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) weights(%w : tensor<?xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @masked_weights_rank(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %w: tensor<128xf32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires weights to have rank 2, but got 'tensor<128xf32>' (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) weights(%w : tensor<128xf32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>, weight = #moe.weight<output>} -> tensor<8x16x32xbf16>
  return
}

// -----

func.func @offsets_weights_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %w: tensor<?x1xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires weights to have rank 1, but got 'tensor<?x1xf32>' (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) weights(%w : tensor<?x1xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @weights_dynamic(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %w: tensor<?x?xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires k, dimension 1 of weights, to be static, but got 'tensor<?x?xf32>' (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) weights(%w : tensor<?x?xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<?x2xi32>'}}
func.func @weights_slots(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %w: tensor<?x3xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of weights to be k = 2, but got 3 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) weights(%w : tensor<?x3xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{sorted_rows has type 'tensor<17xi32>'}}
func.func @weights_slots_aligned(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %w: tensor<?x3xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of weights to be k = 2, but got 3 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) weights(%w : tensor<?x3xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<?x64xbf16>'}}
func.func @weights_tokens(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<4x2xi32>, %w: tensor<5x2xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of weights to be T = 4, but got 5 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<4x2xi32>) weights(%w : tensor<5x2xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<17x64xbf16>'}}
func.func @weights_tokens_sorted(%a: tensor<17x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %w: tensor<5x2xf32>, %c: tensor<8x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of weights to be T = 4, but got 5 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<17x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) weights(%w : tensor<5x2xf32>) outs(%c : tensor<8x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, a_order = #moe.row_order<sorted>, weight = #moe.weight<output>} -> tensor<8x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @masked_weights_experts(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %w: tensor<7x16xf32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of weights to be E = 8, but got 7 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) weights(%w : tensor<7x16xf32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>, weight = #moe.weight<output>} -> tensor<8x16x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<8x16x64xbf16>'}}
func.func @masked_weights_capacity(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %w: tensor<8x17xf32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of weights to be C = 16, but got 17 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) weights(%w : tensor<8x17xf32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>, weight = #moe.weight<output>} -> tensor<8x16x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<8x64xbf16>'}}
func.func @offsets_weights_rows(%a: tensor<8x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %w: tensor<7xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of weights to be R = 8, but got 7 (C8)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) weights(%w : tensor<7xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>, weight = #moe.weight<output>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @input_weight_flat(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x1xi32>, %w: tensor<?x1xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires row_source = token, k = 1 and no bias for weight = input, but got row_source = flat, k = 1 (C9)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x1xi32>) weights(%w : tensor<?x1xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<input>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @input_weight_slots(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %w: tensor<?x2xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires row_source = token, k = 1 and no bias for weight = input, but got row_source = token, k = 2 (C9)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) weights(%w : tensor<?x2xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<input>, row_source = #moe.row_source<token>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @input_weight_bias(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x1xi32>, %v: tensor<8x32xbf16>, %w: tensor<?x1xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires row_source = token, k = 1 and no bias for weight = input, but got row_source = token, k = 1 and a bias (C9)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x1xi32>) bias(%v : tensor<8x32xbf16>) weights(%w : tensor<?x1xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, weight = #moe.weight<input>, row_source = #moe.row_source<token>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_grouped_bias(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %v: tensor<8x32xbf16>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires k_grouped to come without bias, weights, activation and row_source = token, but got bias (C10)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) bias(%v : tensor<8x32xbf16>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_weights(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %w: tensor<?xf32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires k_grouped to come without bias, weights, activation and row_source = token, but got weights (C10)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) weights(%w : tensor<?xf32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>, weight = #moe.weight<output>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_activation(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires k_grouped to come without bias, weights, activation and row_source = token, but got an activation (C10)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>, activation = #moe.activation<swiglu>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_token(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires k_grouped to come without bias, weights, activation and row_source = token, but got row_source = token (C10)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>, row_source = #moe.row_source<token>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @dense_token(%a: tensor<?x64xbf16>, %b: tensor<1x32x64xbf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires grouping ids or aligned for row_source = token, but got dense (C11)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<1x32x64xbf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<dense>, row_source = #moe.row_source<token>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @masked_token(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires grouping ids or aligned for row_source = token, but got masked (C11)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>, row_source = #moe.row_source<token>} -> tensor<8x16x32xbf16>
  return
}

// -----

func.func @aligned_without_top_k(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires top_k and block exactly for grouping aligned, but got no top_k and block for aligned (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @aligned_without_block(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires top_k and block exactly for grouping aligned, but got top_k and no block for aligned (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_with_block(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires top_k and block exactly for grouping aligned, but got no top_k and block for ids (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, block = 4 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_with_top_k(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires top_k and block exactly for grouping aligned, but got top_k and no block for ids (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @no_top_k(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires top_k to be in [1, 4096], but got 0 (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 0 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @top_k_past_i32(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires top_k to be in [1, 4096], but got 4294967298 (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 4294967298 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @block_no_power_of_two(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got 6 (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 6 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @block_lowest(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got -9223372036854775808 (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = -9223372036854775808 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{sorted_rows has type 'tensor<17xi32>'}}
func.func @tile_expert_extent(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<4xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of tile_expert to be ceil(P / block) = 5, but got 4 (C12)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<4xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_sorted(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires grouping aligned for sorted rows, but got ids (C13)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, c_order = #moe.row_order<sorted>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @offsets_sorted(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires grouping aligned for sorted rows, but got offsets (C13)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>, a_order = #moe.row_order<sorted>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @sorted_tokens(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires row_source = flat for a_order = sorted, but got token (C13)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, a_order = #moe.row_order<sorted>, row_source = #moe.row_source<token>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @map_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %m: tensor<1x16xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires expert_map to have rank 1, but got 'tensor<1x16xi32>' (C14)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) expert_map(%m : tensor<1x16xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @map_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %m: tensor<16xi64>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires expert_map to be i32, but got 'i64' (C14)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) expert_map(%m : tensor<16xi64>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @map_dynamic(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %m: tensor<?xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires E, dimension 0 of expert_map, to be static, but got 'tensor<?xi32>' (C14)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) expert_map(%m : tensor<?xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @map_too_long(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %m: tensor<4097xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 4097 (C14)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) expert_map(%m : tensor<4097xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @map_with_offsets(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %m: tensor<16xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires expert_map to come with grouping ids, but got offsets (C14)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) expert_map(%m : tensor<16xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @scales(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %s: tensor<8xf32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires scales to be absent for element type 'bf16', but got 1 (C15)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) scales(%s : tensor<8xf32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @tile_entries(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires tile to be [token rows, columns, k], all above 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = wgmma, tile = [64, 128]>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @tile_empty(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires tile to be [token rows, columns, k], all above 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = wgmma, tile = []>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @tile_zero(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires tile to be [token rows, columns, k], all above 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = wgmma, tile = [64, 0, 64]>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @tile_negative(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires tile to be [token rows, columns, k], all above 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = wgmma, tile = [-9223372036854775808, 128, 64]>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @tile_too_wide(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{integer value too large}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = wgmma, tile = [9223372036854775808, 128, 64]>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @stages(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires stages to be at least 1, but got 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16], stages = 0>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @warps(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires warps to be at least 1, but got -4}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16], warps = -4>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @cluster(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires cluster to be at least 1, but got 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16], cluster = 0>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @split_k(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires split_k to be at least 1, but got 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = simt, tile = [16, 64, 16], split_k = 0>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @no_mma(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{struct is missing required parameter: mma}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<tile = [16, 64, 16]>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @no_tile(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{schedule requires tile to be [token rows, columns, k], all above 0}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = wgmma, stages = 4>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @masked_open(%a: tensor<?x?x4xf32>, %b: tensor<4x6x4xf32>, %n: tensor<4xi32>, %c: tensor<4x?x6xf32>) {
  // expected-error @+1 {{requires dimension 0 of a to be static, E = 4, but got 'tensor<?x?x4xf32>' (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x?x4xf32>, tensor<4x6x4xf32>) rows(%n : tensor<4xi32>) outs(%c : tensor<4x?x6xf32>) {grouping = #moe.grouping<masked>} -> tensor<4x?x6xf32>
  return
}

// -----

func.func @offsets_open(%a: tensor<?x4xf32>, %b: tensor<4x6x4xf32>, %n: tensor<?xi32>, %c: tensor<?x6xf32>) {
  // expected-error @+1 {{requires dimension 0 of offsets to be static, E = 4, but got 'tensor<?xi32>' (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x4xf32>, tensor<4x6x4xf32>) rows(%n : tensor<?xi32>) outs(%c : tensor<?x6xf32>) {grouping = #moe.grouping<offsets>} -> tensor<?x6xf32>
  return
}
