// RUN: moe-opt %s --verify-diagnostics --split-input-file

// moe.grouped_gemm: rule C5, the extents agree.

func.func @dense_experts(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires E of a dense GEMM to be in [1, 1], but got 8 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<dense>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @k(%a: tensor<?x32xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of a to be K = 64, but got 32 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x32xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @k_kn(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of a to be K = 32, but got 64 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, b_layout = #moe.b_layout<kn>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @flat_rows_of_a(%a: tensor<4x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<4x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of a to be T*k = 8, but got 4 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<4x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<4x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @tokens_of_a(%a: tensor<8x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<4x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of a to be T = 4, but got 8 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<4x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4611686018427387905x2xi32>'}}
func.func @flat_rows_past_i64(%a: tensor<2x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<4611686018427387905x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of a to be T*k = 9223372036854775807, but got 2 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<2x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<4611686018427387905x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

// E end offsets, not E + 1.
// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @offsets_extent(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<9xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of offsets to be E = 8, but got 9 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<9xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @sizes_extent(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<7xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of sizes to be E = 8, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<7xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<sizes>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @masked_counts(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<7xi32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of counts to be E = 8, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<7xi32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<8x16x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @masked_e_of_a(%a: tensor<7x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of a to be E = 8, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<7x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<8x16x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @masked_e_of_c(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<7x16x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of c to be E = 8, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<7x16x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<7x16x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<8x16x64xbf16>'}}
func.func @masked_capacity(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<8x32x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of c to be C = 16, but got 32 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x32x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<8x32x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<?x64xbf16>'}}
func.func @rows_of_c(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<4x2xi32>, %c: tensor<4x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of c to be the flat rows = 8, but got 4 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<4x2xi32>) outs(%c : tensor<4x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<4x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<4x64xbf16>'}}
func.func @rows_of_c_aligned_token(%a: tensor<4x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<4x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of c to be the flat rows = 8, but got 4 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<4x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<4x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, row_source = #moe.row_source<token>} -> tensor<4x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<8x64xbf16>'}}
func.func @rows_of_c_offsets(%a: tensor<8x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<4x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of c to be the flat rows = 8, but got 4 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<4x32xbf16>) {grouping = #moe.grouping<offsets>} -> tensor<4x32xbf16>
  return
}

// -----

// expected-note @+1 {{sorted_rows has type 'tensor<17xi32>'}}
func.func @rows_of_sorted_c(%a: tensor<4x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<8x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of c to be P = 17, but got 8 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<4x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<8x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, row_source = #moe.row_source<token>, c_order = #moe.row_order<sorted>} -> tensor<8x32xbf16>
  return
}

// -----

// expected-note @+1 {{sorted_rows has type 'tensor<17xi32>'}}
func.func @rows_of_sorted_a(%a: tensor<8x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<8x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of a to be P = 17, but got 8 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<8x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, a_order = #moe.row_order<sorted>} -> tensor<8x32xbf16>
  return
}

// -----

func.func @half_a_token(%a: tensor<7x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<7x32xbf16>) {
  // expected-error @+1 {{requires a multiple of top_k = 2 flat rows, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<7x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<7x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64} -> tensor<7x32xbf16>
  return
}

// -----

func.func @half_a_token_of_c(%a: tensor<17x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi32>, %c: tensor<7x32xbf16>) {
  // expected-error @+1 {{requires a multiple of top_k = 2 flat rows, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<17x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>) outs(%c : tensor<7x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64, a_order = #moe.row_order<sorted>} -> tensor<7x32xbf16>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<8x32x64xbf16>'}}
func.func @n(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x16xbf16>) {
  // expected-error @+1 {{requires dimension 1 of c to be N = 32, but got 16 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x16xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x16xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<64x128xbf16>'}}
func.func @k_grouped_r(%a: tensor<64x128xbf16>, %b: tensor<32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires dimension 1 of b to be R = 128, but got 64 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x128xbf16>, tensor<32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<64x128xbf16>'}}
func.func @k_grouped_r_kn(%a: tensor<64x128xbf16>, %b: tensor<64x32xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires dimension 0 of b to be R = 128, but got 64 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x128xbf16>, tensor<64x32xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>, b_layout = #moe.b_layout<kn>} -> tensor<8x64x32xf32>
  return
}

// -----

// expected-note @+1 {{offsets has type 'tensor<8xi32>'}}
func.func @k_grouped_e_differs(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<7x64x32xf32>) {
  // expected-error @+1 {{requires dimension 0 of c to be E = 8, but got 7 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<7x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<7x64x32xf32>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<64x?xbf16>'}}
func.func @k_grouped_m_differs(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x32x32xf32>) {
  // expected-error @+1 {{requires dimension 1 of c to be M = 64, but got 32 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x32x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x32x32xf32>
  return
}

// -----

// expected-note @+1 {{b has type 'tensor<32x?xbf16>'}}
func.func @k_grouped_n_differs(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x64xf32>) {
  // expected-error @+1 {{requires dimension 2 of c to be N = 32, but got 64 (C5)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x64xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x64xf32>
  return
}
