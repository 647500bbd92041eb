// RUN: moe-opt %s --verify-diagnostics --split-input-file

// moe.grouped_gemm: rules C1 to C4, types, ranks and what is static.

func.func @segments(%m: memref<2x2xf32>) {
  // expected-error @+1 {{requires operandSegmentSizes to hold 1 for a, but got 0}}
  "moe.grouped_gemm"(%m, %m, %m) <{grouping = #moe.grouping<ids>, operandSegmentSizes = array<i32: 0, 0, 3, 0, 0, 0, 0, 0>}> : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

func.func @no_grouping(%m: memref<2x2xf32>) {
  // expected-error @+1 {{requires attribute 'grouping'}}
  "moe.grouped_gemm"(%m, %m, %m) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 1>}> : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

func.func @mixed(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %m: memref<8xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) expert_map(%m : memref<8xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @a_type(%a: tensor<?x64xi8>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires a to be f32, bf16 or f16, but got 'i8' (C1)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xi8>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @b_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xf8E4M3FN>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires b to be f32, bf16 or f16, but got 'f8E4M3FN' (C1)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xf8E4M3FN>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @c_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xf64>) {
  // expected-error @+1 {{requires c to be f32, bf16 or f16, but got 'f64' (C1)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xf64>) {grouping = #moe.grouping<ids>} -> tensor<?x32xf64>
  return
}

// -----

func.func @a_and_b_type(%a: tensor<?x64xf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires a to have the type of b or f32, but got 'f16' and 'bf16' (C1)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @a_and_b_type_2(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xf32>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires a to have the type of b or f32, but got 'bf16' and 'f32' (C1)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xf32>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @c_of_neither(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xf16>) {
  // expected-error @+1 {{requires c to have the type of a or b or f32, but got 'f16' (C1)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xf16>
  return
}

// -----

func.func @dense_with_rows(%a: tensor<?x64xbf16>, %b: tensor<1x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires 0 rows operands for grouping dense, but got 1 (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<1x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<dense>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_without_rows(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires 1 rows operands for grouping ids, but got 0 (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @aligned_with_ids(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires 3 rows operands for grouping aligned, but got 1 (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @offsets_with_two(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %r1: tensor<8xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires 1 rows operands for grouping offsets, but got 2 (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1 : tensor<8xi32>, tensor<8xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi64>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires rows to be i32, but got 'i64' (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi64>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @padded_type(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<1xi64>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires rows to be i32, but got 'i64' (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<1xi64>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires rows to have rank 2, but got 'tensor<?xi32>' (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @offsets_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8x1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires rows to have rank 1, but got 'tensor<8x1xi32>' (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8x1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<offsets>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @tile_expert_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5x1xi32>, %r2: tensor<1xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires rows to have rank 1, but got 'tensor<5x1xi32>' (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5x1xi32>, tensor<1xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @ids_dynamic(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x?xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires k, dimension 1 of ids, to be static, but got 'tensor<?x?xi32>' (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x?xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @no_slots(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x0xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires k to be in [1, 4096], but got 0 (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x0xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @padded_extent(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<17xi32>, %r1: tensor<5xi32>, %r2: tensor<2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of padded to be its only element = 1, but got 2 (C2)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0, %r1, %r2 : tensor<17xi32>, tensor<5xi32>, tensor<2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<aligned>, block = 4 : i64, top_k = 2 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @a_rank(%a: tensor<?x2x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires a to have rank 2, but got 'tensor<?x2x64xbf16>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x2x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @masked_a_rank(%a: tensor<128x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires a to have rank 3, but got 'tensor<128x64xbf16>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<128x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<8x16x32xbf16>
  return
}

// -----

func.func @b_rank(%a: tensor<?x64xbf16>, %b: tensor<32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires b to have rank 3, but got 'tensor<32x64xbf16>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_grouped_b_rank(%a: tensor<64x?xbf16>, %b: tensor<8x32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires b to have rank 2, but got 'tensor<8x32x?xbf16>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<8x32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @c_rank(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x2x32xbf16>) {
  // expected-error @+1 {{requires c to have rank 2, but got 'tensor<?x2x32xbf16>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x2x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x2x32xbf16>
  return
}

// -----

func.func @masked_c_rank(%a: tensor<8x16x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<128x32xbf16>) {
  // expected-error @+1 {{requires c to have rank 3, but got 'tensor<128x32xbf16>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<128x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<128x32xbf16>
  return
}

// -----

func.func @k_grouped_c_rank(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<64x32xf32>) {
  // expected-error @+1 {{requires c to have rank 3, but got 'tensor<64x32xf32>' (C3)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<64x32xf32>
  return
}

// -----

func.func @n_of_c(%a: tensor<?x64xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x?xbf16>) {
  // expected-error @+1 {{requires N, dimension 1 of c, to be static, but got 'tensor<?x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x?xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x?xbf16>
  return
}

// -----

func.func @e_of_b(%a: tensor<?x64xbf16>, %b: tensor<?x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires E, dimension 0 of b, to be static, but got 'tensor<?x32x64xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<?x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @n_of_b(%a: tensor<?x64xbf16>, %b: tensor<8x?x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires N, dimension 1 of b, to be static, but got 'tensor<8x?x64xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x?x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_of_b(%a: tensor<?x64xbf16>, %b: tensor<8x32x?xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires K, dimension 2 of b, to be static, but got 'tensor<8x32x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x32x?xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_of_b_kn(%a: tensor<?x64xbf16>, %b: tensor<8x?x32xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires K, dimension 1 of b, to be static, but got 'tensor<8x?x32xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x?x32xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, b_layout = #moe.b_layout<kn>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @n_of_b_kn(%a: tensor<?x64xbf16>, %b: tensor<8x64x?xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires N, dimension 2 of b, to be static, but got 'tensor<8x64x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<8x64x?xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>, b_layout = #moe.b_layout<kn>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_of_a(%a: tensor<?x?xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires K, dimension 1 of a, to be static, but got 'tensor<?x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x?xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_of_masked_a(%a: tensor<8x16x?xbf16>, %b: tensor<8x32x64xbf16>, %r0: tensor<8xi32>, %c: tensor<8x16x32xbf16>) {
  // expected-error @+1 {{requires K, dimension 2 of a, to be static, but got 'tensor<8x16x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<8x16x?xbf16>, tensor<8x32x64xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x16x32xbf16>) {grouping = #moe.grouping<masked>} -> tensor<8x16x32xbf16>
  return
}

// -----

func.func @no_experts(%a: tensor<?x64xbf16>, %b: tensor<0x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 0 (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<0x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @too_many_experts(%a: tensor<?x64xbf16>, %b: tensor<4097x32x64xbf16>, %r0: tensor<?x2xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 4097 (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xbf16>, tensor<4097x32x64xbf16>) rows(%r0 : tensor<?x2xi32>) outs(%c : tensor<?x32xbf16>) {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @k_grouped_e(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<?xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires E, dimension 0 of offsets, to be static, but got 'tensor<?xi32>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<?xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_m_of_a(%a: tensor<?x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires M, dimension 0 of a, to be static, but got 'tensor<?x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_n_of_b(%a: tensor<64x?xbf16>, %b: tensor<?x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires N, dimension 0 of b, to be static, but got 'tensor<?x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<?x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_n_of_b_kn(%a: tensor<64x?xbf16>, %b: tensor<?x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x64x32xf32>) {
  // expected-error @+1 {{requires N, dimension 1 of b, to be static, but got 'tensor<?x?xbf16>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<?x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x64x32xf32>) {grouping = #moe.grouping<k_grouped>, b_layout = #moe.b_layout<kn>} -> tensor<8x64x32xf32>
  return
}

// -----

func.func @k_grouped_e_of_c(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<?x64x32xf32>) {
  // expected-error @+1 {{requires E, dimension 0 of c, to be static, but got 'tensor<?x64x32xf32>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<?x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<?x64x32xf32>
  return
}

// -----

func.func @k_grouped_m_of_c(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<8xi32>, %c: tensor<8x?x32xf32>) {
  // expected-error @+1 {{requires M, dimension 1 of c, to be static, but got 'tensor<8x?x32xf32>' (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<8xi32>) outs(%c : tensor<8x?x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<8x?x32xf32>
  return
}

// -----

func.func @k_grouped_no_experts(%a: tensor<64x?xbf16>, %b: tensor<32x?xbf16>, %r0: tensor<0xi32>, %c: tensor<0x64x32xf32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 0 (C4)}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<64x?xbf16>, tensor<32x?xbf16>) rows(%r0 : tensor<0xi32>) outs(%c : tensor<0x64x32xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<0x64x32xf32>
  return
}

// -----

func.func @c_is_a(%a: memref<?x8xf32>, %b: memref<1x8x8xf32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #2 are one memref; pass a buffer of its own (C16)}}
  moe.grouped_gemm ins(%a, %b : memref<?x8xf32>, memref<1x8x8xf32>) outs(%a : memref<?x8xf32>) {grouping = #moe.grouping<dense>}
  return
}
