// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.route.

func.func @logits_segment(%m: memref<2x2xf32>) {
  // expected-error @+1 {{requires operandSegmentSizes to hold 1 for logits, but got 0}}
  "moe.route"(%m, %m, %m) <{operandSegmentSizes = array<i32: 0, 1, 0, 0, 0, 1, 1>}> : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

func.func @ids_segment(%m: memref<2x2xf32>) {
  // expected-error @+1 {{requires operandSegmentSizes to hold 1 for weights, but got 2}}
  "moe.route"(%m, %m, %m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 2, 0>}> : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

func.func @mixed(%l: tensor<?x8xf32>, %b: memref<8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : memref<8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @logits_rank(%l: tensor<8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires logits to have rank 2, but got 'tensor<8xf32>' (C1)}}
  %0:2 = moe.route ins(%l : tensor<8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @weights_rank(%l: tensor<?x8xf32>, %w: tensor<2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires weights to have rank 2, but got 'tensor<2xf32>' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<2xf32>, tensor<?x2xi32>) -> tensor<2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @ids_rank(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{requires ids to have rank 2, but got 'tensor<2xi32>' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>, tensor<2xi32>
  return
}

// -----

func.func @logits_type(%l: tensor<?x8xf64>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires logits to be f32, bf16 or f16, but got 'f64' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf64>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @weights_type(%l: tensor<?x8xf32>, %w: tensor<?x2xbf16>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires weights to be f32, but got 'bf16' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xbf16>, tensor<?x2xi32>) -> tensor<?x2xbf16>, tensor<?x2xi32>
  return
}

// -----

func.func @ids_type(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi64>) {
  // expected-error @+1 {{requires ids to be i32, but got 'i64' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi64>) -> tensor<?x2xf32>, tensor<?x2xi64>
  return
}

// -----

func.func @ids_type_unsigned(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xui32>) {
  // expected-error @+1 {{requires ids to be i32, but got 'ui32' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xui32>) -> tensor<?x2xf32>, tensor<?x2xui32>
  return
}

// -----

func.func @ids_type_index(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xindex>) {
  // expected-error @+1 {{requires ids to be i32, but got 'index' (C1)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xindex>) -> tensor<?x2xf32>, tensor<?x2xindex>
  return
}

// -----

func.func @dynamic_e(%l: tensor<?x?xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires E, dimension 1 of logits, to be static, but got 'tensor<?x?xf32>' (C2)}}
  %0:2 = moe.route ins(%l : tensor<?x?xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @no_experts(%l: tensor<?x0xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 0 (C2)}}
  %0:2 = moe.route ins(%l : tensor<?x0xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @too_many_experts(%l: tensor<?x4097xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 4097 (C2)}}
  %0:2 = moe.route ins(%l : tensor<?x4097xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @dynamic_k_of_ids(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x?xi32>) {
  // expected-error @+1 {{requires k, dimension 1 of ids, to be static, but got 'tensor<?x?xi32>' (C3)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x?xi32>) -> tensor<?x2xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @dynamic_k_of_weights(%l: tensor<?x8xf32>, %w: tensor<?x?xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires k, dimension 1 of weights, to be static, but got 'tensor<?x?xf32>' (C3)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x?xf32>, tensor<?x2xi32>) -> tensor<?x?xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @no_slots(%l: tensor<?x8xf32>, %w: tensor<?x0xf32>, %i: tensor<?x0xi32>) {
  // expected-error @+1 {{requires k to be in [1, 8], but got 0 (C3)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x0xf32>, tensor<?x0xi32>) -> tensor<?x0xf32>, tensor<?x0xi32>
  return
}

// -----

func.func @more_slots_than_experts(%l: tensor<?x8xf32>, %w: tensor<?x9xf32>, %i: tensor<?x9xi32>) {
  // expected-error @+1 {{requires k to be in [1, 8], but got 9 (C3)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x9xf32>, tensor<?x9xi32>) -> tensor<?x9xf32>, tensor<?x9xi32>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<?x2xi32>'}}
func.func @k_differs(%l: tensor<?x8xf32>, %w: tensor<?x3xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 1 of weights to be k = 2, but got 3 (C3)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x3xf32>, tensor<?x2xi32>) -> tensor<?x3xf32>, tensor<?x2xi32>
  return
}

// -----

// expected-note @+1 {{logits has type 'tensor<4x8xf32>'}}
func.func @t_of_weights(%l: tensor<4x8xf32>, %w: tensor<5x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 0 of weights to be T = 4, but got 5 (C4)}}
  %0:2 = moe.route ins(%l : tensor<4x8xf32>) outs(%w, %i : tensor<5x2xf32>, tensor<?x2xi32>) -> tensor<5x2xf32>, tensor<?x2xi32>
  return
}

// -----

// expected-note @+1 {{logits has type 'tensor<4x8xf32>'}}
func.func @t_of_ids(%l: tensor<4x8xf32>, %w: tensor<?x2xf32>, %i: tensor<5x2xi32>) {
  // expected-error @+1 {{requires dimension 0 of ids to be T = 4, but got 5 (C4)}}
  %0:2 = moe.route ins(%l : tensor<4x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<5x2xi32>) -> tensor<?x2xf32>, tensor<5x2xi32>
  return
}

// -----

// expected-note @+1 {{logits has type 'tensor<4x8xf32>'}}
func.func @t_of_token_ids(%l: tensor<4x8xf32>, %t: tensor<5xi32>, %m: tensor<100x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 0 of token_ids to be T = 4, but got 5 (C4)}}
  %0:2 = moe.route ins(%l : tensor<4x8xf32>) table(%t, %m : tensor<5xi32>, tensor<100x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @groups_do_not_divide(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires groups to divide E = 8, but got 3 (C5)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 3 : i64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @no_groups(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires groups to divide E = 8, but got 0 (C5)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 0 : i64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @groups_lowest(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires groups to divide E = 8, but got -9223372036854775808 (C5)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = -9223372036854775808 : i64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @keep_no_group(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires keep_groups to be in [1, 4], but got 0 (C5)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 4 : i64, keep_groups = 0 : i64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @keep_too_many(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires keep_groups to be in [1, 4], but got 5 (C5)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 4 : i64, keep_groups = 5 : i64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @bias_rank(%l: tensor<?x8xf32>, %b: tensor<1x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires bias to have rank 1, but got 'tensor<1x8xf32>' (C6)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : tensor<1x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @bias_type(%l: tensor<?x8xf32>, %b: tensor<8xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires bias to be f32, bf16 or f16, but got 'i32' (C6)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : tensor<8xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

// expected-note @+1 {{logits has type 'tensor<?x8xf32>'}}
func.func @bias_extent(%l: tensor<?x8xf32>, %b: tensor<9xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 0 of bias to be E = 8, but got 9 (C6)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : tensor<9xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @expert_scale_rank(%l: tensor<?x8xf32>, %s: tensor<f32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires expert_scale to have rank 1, but got 'tensor<f32>' (C6)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) expert_scale(%s : tensor<f32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @expert_scale_type(%l: tensor<?x8xf32>, %s: tensor<8xf64>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires expert_scale to be f32, bf16 or f16, but got 'f64' (C6)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) expert_scale(%s : tensor<8xf64>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

// expected-note @+1 {{logits has type 'tensor<?x8xf32>'}}
func.func @expert_scale_extent(%l: tensor<?x8xf32>, %s: tensor<7xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 0 of expert_scale to be E = 8, but got 7 (C6)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) expert_scale(%s : tensor<7xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @half_a_table(%l: memref<?x8xf32>, %t: memref<?xi32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  // expected-error @+1 {{requires token_ids and table together, but got one of them (C7)}}
  "moe.route"(%l, %t, %w, %i) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 1, 1>}> : (memref<?x8xf32>, memref<?xi32>, memref<?x2xf32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @token_ids_rank(%l: tensor<?x8xf32>, %t: tensor<?x1xi32>, %m: tensor<100x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires token_ids to have rank 1, but got 'tensor<?x1xi32>' (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?x1xi32>, tensor<100x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @table_rank(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<100xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires table to have rank 2, but got 'tensor<100xi32>' (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<100xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @token_ids_type(%l: tensor<?x8xf32>, %t: tensor<?xi64>, %m: tensor<100x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires token_ids to be i32, but got 'i64' (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi64>, tensor<100x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @table_type(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<100x2xi64>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires table to be i32, but got 'i64' (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<100x2xi64>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

// expected-note @+1 {{ids has type 'tensor<?x2xi32>'}}
func.func @table_slots(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<100x3xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 1 of table to be k = 2, but got 3 (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<100x3xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @table_dynamic_rows(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<?x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires V, dimension 0 of table, to be static, but got 'tensor<?x2xi32>' (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<?x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @table_dynamic_slots(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<100x?xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires k, dimension 1 of table, to be static, but got 'tensor<100x?xi32>' (C7)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<100x?xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @table_with_bias(%l: tensor<?x8xf32>, %b: tensor<8xf32>, %t: tensor<?xi32>, %m: tensor<100x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires a table to come without bias and groups, which only steer a selection, but got a bias (C8)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : tensor<8xf32>) table(%t, %m : tensor<?xi32>, tensor<100x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @table_with_groups(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<100x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires a table to come without bias and groups, which only steer a selection, but got groups (C8)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<100x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 2 : i64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @sparsemixer_bias(%l: tensor<?x8xf32>, %b: tensor<8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires score sparsemixer to come without bias, groups, table and topk_then_score, but got a bias (C9)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) bias(%b : tensor<8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {score = #moe.score<sparsemixer>} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @sparsemixer_groups(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires score sparsemixer to come without bias, groups, table and topk_then_score, but got groups (C9)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 2 : i64, score = #moe.score<sparsemixer>} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @sparsemixer_table(%l: tensor<?x8xf32>, %t: tensor<?xi32>, %m: tensor<100x2xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires score sparsemixer to come without bias, groups, table and topk_then_score, but got a table (C9)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) table(%t, %m : tensor<?xi32>, tensor<100x2xi32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {score = #moe.score<sparsemixer>} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @sparsemixer_order(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires score sparsemixer to come without bias, groups, table and topk_then_score, but got order = topk_then_score (C9)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {order = #moe.order<topk_then_score>, score = #moe.score<sparsemixer>} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @scale_infinite(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires scale to be finite, but got INF (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {scale = 0x7F800000 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @scale_nan(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires scale to be finite, but got nan (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {scale = 0x7FC00000 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @jitter_infinite(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires jitter to be finite, but got INF (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {jitter = 0x7F800000 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @jitter_negative(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires jitter not to be negative, but got -1.000000e+00 (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {jitter = -1.0 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @softcap_nan(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires softcap to be finite, but got nan (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {softcap = 0x7FC00000 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @softcap_zero(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires softcap to be above 0, but got 0.000000e+00 (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {softcap = 0.0 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @softcap_negative(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires softcap to be above 0, but got -3.000000e+01 (C10)}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {softcap = -30.0 : f32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @groups_width(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 2 : i32} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @softcap_width(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{attribute 'softcap' failed to satisfy constraint: f32 attribute, for instance 2.5 : f32}}
  %0:2 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {softcap = 2.0 : f64} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @weights_is_logits(%l: memref<4x2xf32>, %i: memref<4x2xi32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #1 are one memref; pass a buffer of its own (C11)}}
  moe.route ins(%l : memref<4x2xf32>) outs(%l, %i : memref<4x2xf32>, memref<4x2xi32>)
  return
}
