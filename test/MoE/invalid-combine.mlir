// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.combine.

func.func @segments(%m: memref<2x2xf32>) {
  // expected-error @+1 {{requires operandSegmentSizes to hold 1 for out, but got 0}}
  "moe.combine"(%m, %m, %m, %m) <{experts = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

func.func @mixed(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %r: memref<?x64xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%r : memref<?x64xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @ids_rank(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires ids to have rank 2, but got 'tensor<2xi32>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @ids_type(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi8>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires ids to be i32, but got 'i8' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi8>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @ids_dynamic(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x?xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires k, dimension 1 of ids, to be static, but got 'tensor<?x?xi32>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x?xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @no_slots(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x0xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires k to be in [1, 4096], but got 0 (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x0xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @y_rank(%y: tensor<?x2x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires y to have rank 2, but got 'tensor<?x2x64xbf16>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x2x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @weights_rank(%y: tensor<?x64xbf16>, %w: tensor<?xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires weights to have rank 2, but got 'tensor<?xf32>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @out_rank(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<64xbf16>) {
  // expected-error @+1 {{requires out to have rank 2, but got 'tensor<64xbf16>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<64xbf16>) {experts = 8 : i64} -> tensor<64xbf16>
  return
}

// -----

func.func @weights_type(%y: tensor<?x64xbf16>, %w: tensor<?x2xbf16>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires weights to be f32, but got 'bf16' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xbf16>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @dynamic_h_of_out(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x?xbf16>) {
  // expected-error @+1 {{requires H, dimension 1 of out, to be static, but got 'tensor<?x?xbf16>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x?xbf16>) {experts = 8 : i64} -> tensor<?x?xbf16>
  return
}

// -----

func.func @dynamic_h_of_y(%y: tensor<?x?xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires H, dimension 1 of y, to be static, but got 'tensor<?x?xbf16>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x?xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @dynamic_h_of_x(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %x: tensor<?x?xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires H, dimension 1 of x, to be static, but got 'tensor<?x?xbf16>' (C1)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) identity(%x : tensor<?x?xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @y_type(%y: tensor<?x64xf64>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires y to be f32, bf16 or f16, but got 'f64' (C2)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xf64>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @out_type(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xi32>) {
  // expected-error @+1 {{requires out to be f32, bf16 or f16, but got 'i32' (C2)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xi32>) {experts = 8 : i64} -> tensor<?x64xi32>
  return
}

// -----

func.func @x_type(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %x: tensor<?x64xf64>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires x to be f32, bf16 or f16, but got 'f64' (C2)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) identity(%x : tensor<?x64xf64>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @residual_type(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %r: tensor<?x64xf8E5M2>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires residual to be f32, bf16 or f16, but got 'f8E5M2' (C2)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%r : tensor<?x64xf8E5M2>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @weights_t(%y: tensor<?x64xbf16>, %w: tensor<5x2xf32>, %i: tensor<4x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of weights to be T = 4, but got 5 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<5x2xf32>, tensor<4x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<?x2xi32>'}}
func.func @weights_k(%y: tensor<?x64xbf16>, %w: tensor<?x3xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 1 of weights to be k = 2, but got 3 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x3xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @y_rows(%y: tensor<4x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<4x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of y to be T*k = 8, but got 4 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<4x64xbf16>, tensor<?x2xf32>, tensor<4x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// T*k exceeds int64; without care it would be 2.
// expected-note @+1 {{ids has type 'tensor<4611686018427387905x2xi32>'}}
func.func @y_rows_past_i64(%y: tensor<2x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<4611686018427387905x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of y to be T*k = 9223372036854775807, but got 2 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<2x64xbf16>, tensor<?x2xf32>, tensor<4611686018427387905x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<4x2xi32>'}}
func.func @out_t(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<4x2xi32>, %o: tensor<8x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of out to be T = 4, but got 8 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<4x2xi32>) outs(%o : tensor<8x64xbf16>) {experts = 8 : i64} -> tensor<8x64xbf16>
  return
}

// -----

// expected-note @+1 {{out has type 'tensor<?x32xbf16>'}}
func.func @h(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of y to be H = 32, but got 64 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x32xbf16>) {experts = 8 : i64} -> tensor<?x32xbf16>
  return
}

// -----

func.func @x_rank(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %x: tensor<64xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires x to have rank 2, but got 'tensor<64xbf16>' (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) identity(%x : tensor<64xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{out has type 'tensor<4x64xbf16>'}}
func.func @x_t(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %x: tensor<8x64xbf16>, %o: tensor<4x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of x to be T = 4, but got 8 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) identity(%x : tensor<8x64xbf16>) outs(%o : tensor<4x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64} -> tensor<4x64xbf16>
  return
}

// -----

// expected-note @+1 {{out has type 'tensor<?x64xbf16>'}}
func.func @x_h(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %x: tensor<?x32xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 1 of x to be H = 64, but got 32 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) identity(%x : tensor<?x32xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @residual_rank(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %r: tensor<bf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires residual to have rank 2, but got 'tensor<bf16>' (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%r : tensor<bf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{out has type 'tensor<4x64xbf16>'}}
func.func @residual_t(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %r: tensor<8x64xbf16>, %o: tensor<4x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of residual to be T = 4, but got 8 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%r : tensor<8x64xbf16>) outs(%o : tensor<4x64xbf16>) {experts = 8 : i64} -> tensor<4x64xbf16>
  return
}

// -----

// expected-note @+1 {{out has type 'tensor<?x64xbf16>'}}
func.func @residual_h(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %r: tensor<?x32xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 1 of residual to be H = 64, but got 32 (C3)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%r : tensor<?x32xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @no_experts(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got 0 (C4)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 0 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @too_many_experts(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires experts to be in [1, 4096], but got 4097 (C4)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 4097 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @map_rank(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %m: tensor<1x8xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires expert_map to have rank 1, but got 'tensor<1x8xi32>' (C4)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) expert_map(%m : tensor<1x8xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @map_type(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %m: tensor<8xi64>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires expert_map to be i32, but got 'i64' (C4)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) expert_map(%m : tensor<8xi64>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @map_dynamic(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %m: tensor<?xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires E, dimension 0 of expert_map, to be static, but got 'tensor<?xi32>' (C4)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) expert_map(%m : tensor<?xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @map_too_long(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %m: tensor<5000xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 5000 (C4)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) expert_map(%m : tensor<5000xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @negative_identity(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires identity_experts to be in [0, 4096], but got -1 (C5)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = -1 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @too_many_identity(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires identity_experts to be in [0, 4096], but got 9223372036854775807 (C5)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 9223372036854775807 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @identity_without_x(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires x exactly if identity_experts is above 0, but got identity_experts = 4 without x (C5)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, identity_experts = 4 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @x_without_identity(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %x: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires x exactly if identity_experts is above 0, but got identity_experts = 0 with x (C5)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) identity(%x : tensor<?x64xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64} -> tensor<?x64xbf16>
  return
}

// -----

func.func @scale_infinite(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires scale to be finite, but got INF (C6)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, scale = 0x7F800000 : f32} -> tensor<?x64xbf16>
  return
}

// -----

func.func @routed_scale_nan(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires routed_scale to be finite, but got nan (C6)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, routed_scale = 0x7FC00000 : f32} -> tensor<?x64xbf16>
  return
}

// -----

func.func @residual_scale_nan(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %r: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires residual_scale to be finite, but got nan (C6)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%r : tensor<?x64xbf16>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, residual_scale = 0x7FC00000 : f32} -> tensor<?x64xbf16>
  return
}

// -----

func.func @residual_scale_alone(%y: tensor<?x64xbf16>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires a residual for residual_scale = 2.000000e+00, but got none (C6)}}
  %0 = moe.combine ins(%y, %w, %i : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x64xbf16>) {experts = 8 : i64, residual_scale = 2.0 : f32} -> tensor<?x64xbf16>
  return
}

// -----

// x and residual may be out.
func.func @in_place(%y: memref<?x8xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>, %o: memref<?x8xf32>) {
  moe.combine ins(%y, %w, %i : memref<?x8xf32>, memref<?x2xf32>, memref<?x2xi32>) identity(%o : memref<?x8xf32>) residual(%o : memref<?x8xf32>) outs(%o : memref<?x8xf32>) {experts = 4, identity_experts = 1}
  return
}

// -----

func.func @out_is_y(%y: memref<?x8xf32>, %w: memref<?x1xf32>, %i: memref<?x1xi32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #4 are one memref; pass a buffer of its own (C7)}}
  moe.combine ins(%y, %w, %i : memref<?x8xf32>, memref<?x1xf32>, memref<?x1xi32>) residual(%y : memref<?x8xf32>) outs(%y : memref<?x8xf32>) {experts = 4}
  return
}
