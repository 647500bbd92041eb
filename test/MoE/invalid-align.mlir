// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.align.

func.func @mixed(%i: tensor<4x2xi32>, %m: memref<16xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) expert_map(%m : memref<16xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @ids_rank(%i: tensor<8xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires ids to have rank 2, but got 'tensor<8xi32>' (C1)}}
  %0:4 = moe.align ins(%i : tensor<8xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @ids_type(%i: tensor<4x2xi64>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires ids to be i32, but got 'i64' (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi64>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @dynamic_k(%i: tensor<4x?xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires k, dimension 1 of ids, to be static, but got 'tensor<4x?xi32>' (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x?xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @no_slots(%i: tensor<4x0xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires k to be in [1, 4096], but got 0 (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x0xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @map_rank(%i: tensor<4x2xi32>, %m: tensor<1x16xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires expert_map to have rank 1, but got 'tensor<1x16xi32>' (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) expert_map(%m : tensor<1x16xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @map_type(%i: tensor<4x2xi32>, %m: tensor<16xi16>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires expert_map to be i32, but got 'i16' (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) expert_map(%m : tensor<16xi16>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @map_dynamic(%i: tensor<4x2xi32>, %m: tensor<?xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires E, dimension 0 of expert_map, to be static, but got 'tensor<?xi32>' (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) expert_map(%m : tensor<?xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @map_too_long(%i: tensor<4x2xi32>, %m: tensor<4097xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 4097 (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) expert_map(%m : tensor<4097xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @map_empty(%i: tensor<4x2xi32>, %m: tensor<0xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 0 (C1)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) expert_map(%m : tensor<0xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @block_no_power_of_two(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got 48 (C2)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 48 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @block_zero(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got 0 (C2)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 0 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @block_too_large(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got 512 (C2)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 512 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @block_past_i32(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got 4294967296 (C2)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4294967296 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @block_lowest(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires block to be a power of two in [1, 256], but got -9223372036854775808 (C2)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = -9223372036854775808 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @no_experts(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got 0 (C3)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 0 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @too_many_experts(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got 4097 (C3)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 4097 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @experts_lowest(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got -9223372036854775808 (C3)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = -9223372036854775808 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @sorted_rows_rank(%i: tensor<4x2xi32>, %s: tensor<17x1xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires sorted_rows to have rank 1, but got 'tensor<17x1xi32>' (C4)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17x1xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17x1xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @tile_expert_type(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi64>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires tile_expert to be i32, but got 'i64' (C4)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi64>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi64>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @padded_rank(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<i32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires padded to have rank 1, but got 'tensor<i32>' (C4)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<i32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<i32>, tensor<3xi32>
  return
}

// -----

func.func @padded_extent(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<2xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires dimension 0 of padded to be its only element = 1, but got 2 (C4)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<2xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<2xi32>, tensor<3xi32>
  return
}

// -----

func.func @counts_type(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<3xf32>) {
  // expected-error @+1 {{requires counts to be i32, but got 'f32' (C4)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xf32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xf32>
  return
}

// -----

func.func @counts_extent(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<5xi32>, %p: tensor<1xi32>, %c: tensor<4xi32>) {
  // expected-error @+1 {{requires dimension 0 of counts to be experts = 3, but got 4 (C4)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<4xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<4xi32>
  return
}

// -----

// expected-note @+1 {{sorted_rows has type 'tensor<17xi32>'}}
func.func @tile_expert_extent(%i: tensor<4x2xi32>, %s: tensor<17xi32>, %e: tensor<4xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires dimension 0 of tile_expert to be ceil(P / block) = 5, but got 4 (C5)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<4xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<4xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @too_few_rows(%i: tensor<4x2xi32>, %s: tensor<16xi32>, %e: tensor<4xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires sorted_rows to hold at least 17 rows for 8 flat rows, 3 experts and block 4, but got 16 (C6)}}
  %0:4 = moe.align ins(%i : tensor<4x2xi32>) outs(%s, %e, %p, %c : tensor<16xi32>, tensor<4xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<16xi32>, tensor<4xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

// The product of the extents exceeds int64.
func.func @flat_rows_past_i64(%i: tensor<9223372036854775807x8xi32>, %s: tensor<17xi32>, %e: tensor<?xi32>, %p: tensor<1xi32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{requires sorted_rows to hold at least 9223372036854775807 rows for 9223372036854775807 flat rows, 3 experts and block 4, but got 17 (C6)}}
  %0:4 = moe.align ins(%i : tensor<9223372036854775807x8xi32>) outs(%s, %e, %p, %c : tensor<17xi32>, tensor<?xi32>, tensor<1xi32>, tensor<3xi32>) {block = 4 : i64, experts = 3 : i64} -> tensor<17xi32>, tensor<?xi32>, tensor<1xi32>, tensor<3xi32>
  return
}

// -----

func.func @counts_open(%i: tensor<?x2xi32>, %s: tensor<?xi32>, %t: tensor<?xi32>, %p: tensor<1xi32>, %c: tensor<?xi32>) {
  // expected-error @+1 {{requires dimension 0 of counts to be static, experts = 8, but got 'tensor<?xi32>' (C4)}}
  %0:4 = moe.align ins(%i : tensor<?x2xi32>) outs(%s, %t, %p, %c : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<?xi32>) {experts = 8, block = 16} -> tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<?xi32>
  return
}

// -----

func.func @two_destinations_are_one(%ids: memref<4x2xi32>, %s: memref<8xi32>, %p: memref<1xi32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #2 and #1 are one memref; pass a buffer of its own (C7)}}
  moe.align ins(%ids : memref<4x2xi32>) outs(%s, %s, %p, %s : memref<8xi32>, memref<8xi32>, memref<1xi32>, memref<8xi32>) {experts = 8, block = 1}
  return
}
