// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.permute.

func.func @mixed(%x: tensor<?x64xbf16>, %i: memref<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, memref<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @ids_rank(%x: tensor<?x64xbf16>, %i: tensor<2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires ids to have rank 2, but got 'tensor<2xi32>' (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @ids_type(%x: tensor<?x64xbf16>, %i: tensor<?x2xindex>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires ids to be i32, but got 'index' (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xindex>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @ids_dynamic(%x: tensor<?x64xbf16>, %i: tensor<?x?xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires k, dimension 1 of ids, to be static, but got 'tensor<?x?xi32>' (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x?xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @no_slots(%x: tensor<?x64xbf16>, %i: tensor<?x0xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires k to be in [1, 4096], but got 0 (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x0xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @x_rank(%x: tensor<64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires x to have rank 2, but got 'tensor<64xbf16>' (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @dynamic_h_of_x(%x: tensor<?x?xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires H, dimension 1 of x, to be static, but got 'tensor<?x?xbf16>' (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x?xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

// expected-note @+1 {{x has type 'tensor<4x64xbf16>'}}
func.func @t(%x: tensor<4x64xbf16>, %i: tensor<5x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires dimension 0 of ids to be T = 4, but got 5 (C1)}}
  %0:3 = moe.permute ins(%x, %i : tensor<4x64xbf16>, tensor<5x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @rows_rank(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x2x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires rows to have rank 2, but got 'tensor<?x2x64xbf16>' (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x2x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x2x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @dynamic_h_of_rows(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x?xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires H, dimension 1 of rows, to be static, but got 'tensor<?x?xbf16>' (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x?xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x?xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @x_type(%x: tensor<?x64xi8>, %i: tensor<?x2xi32>, %r: tensor<?x64xi8>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires x to be f32, bf16 or f16, but got 'i8' (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xi8>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xi8>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xi8>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

// expected-note @+1 {{x is defined here}}
func.func @rows_type(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xf32>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires rows to have the element type of x, but got 'f32' and 'bf16' (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xf32>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xf32>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @rows_extent(%x: tensor<?x64xbf16>, %i: tensor<4x2xi32>, %r: tensor<4x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires dimension 0 of rows to be T*k = 8, but got 4 (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<4x2xi32>) outs(%r, %s, %o : tensor<4x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<4x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4611686018427387905x2xi32>'}}
func.func @rows_past_i64(%x: tensor<?x64xbf16>, %i: tensor<4611686018427387905x2xi32>, %r: tensor<2x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires dimension 0 of rows to be T*k = 9223372036854775807, but got 2 (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<4611686018427387905x2xi32>) outs(%r, %s, %o : tensor<2x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<2x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

// expected-note @+1 {{x has type 'tensor<?x64xbf16>'}}
func.func @rows_h(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x32xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires dimension 1 of rows to be H = 64, but got 32 (C2)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x32xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x32xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @source_rank(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?x2xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires source to have rank 1, but got 'tensor<?x2xi32>' (C3)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?x2xi32>, tensor<8xi32>
  return
}

// -----

func.func @source_type(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi64>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires source to be i32, but got 'i64' (C3)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi64>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi64>, tensor<8xi32>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @source_extent(%x: tensor<?x64xbf16>, %i: tensor<4x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<4xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires dimension 0 of source to be T*k = 8, but got 4 (C3)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<4x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<4xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<4xi32>, tensor<8xi32>
  return
}

// -----

func.func @offsets_rank(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<i32>) {
  // expected-error @+1 {{requires offsets to have rank 1, but got 'tensor<i32>' (C3)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<i32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<i32>
  return
}

// -----

func.func @offsets_type(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi64>) {
  // expected-error @+1 {{requires offsets to be i32, but got 'i64' (C3)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi64>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi64>
  return
}

// -----

// E end offsets, not E + 1.
func.func @offsets_extent(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<9xi32>) {
  // expected-error @+1 {{requires dimension 0 of offsets to be experts = 8, but got 9 (C3)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<9xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @no_experts(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got 0 (C4)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 0 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @too_many_experts(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got 4097 (C4)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 4097 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @map_rank(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %m: tensor<1x8xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires expert_map to have rank 1, but got 'tensor<1x8xi32>' (C4)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) expert_map(%m : tensor<1x8xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @map_type(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %m: tensor<8xi64>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires expert_map to be i32, but got 'i64' (C4)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) expert_map(%m : tensor<8xi64>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @map_dynamic(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %m: tensor<?xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires E, dimension 0 of expert_map, to be static, but got 'tensor<?xi32>' (C4)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) expert_map(%m : tensor<?xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @map_too_long(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %m: tensor<5000xi32>, %r: tensor<?x64xbf16>, %s: tensor<?xi32>, %o: tensor<8xi32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 5000 (C4)}}
  %0:3 = moe.permute ins(%x, %i : tensor<?x64xbf16>, tensor<?x2xi32>) expert_map(%m : tensor<5000xi32>) outs(%r, %s, %o : tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>) {experts = 8 : i64} -> tensor<?x64xbf16>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @rows_is_x(%x: memref<4x8xf32>, %ids: memref<4x1xi32>, %s: memref<4xi32>, %o: memref<2xi32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #2 are one memref; pass a buffer of its own (C5)}}
  moe.permute ins(%x, %ids : memref<4x8xf32>, memref<4x1xi32>) outs(%x, %s, %o : memref<4x8xf32>, memref<4xi32>, memref<2xi32>) {experts = 2}
  return
}
