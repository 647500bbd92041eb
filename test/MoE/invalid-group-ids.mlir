// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.group_ids.

func.func @mixed(%t: memref<8xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0 = moe.group_ids ins(%t : memref<8xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  return
}

// -----

func.func @table_rank(%t: tensor<8x1xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires group_table to have rank 1, but got 'tensor<8x1xi32>' (C1)}}
  %0 = moe.group_ids ins(%t : tensor<8x1xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  return
}

// -----

func.func @table_type(%t: tensor<8xi64>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires group_table to be i32, but got 'i64' (C1)}}
  %0 = moe.group_ids ins(%t : tensor<8xi64>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  return
}

// -----

func.func @table_dynamic(%t: tensor<?xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires E, dimension 0 of group_table, to be static, but got 'tensor<?xi32>' (C1)}}
  %0 = moe.group_ids ins(%t : tensor<?xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  return
}

// -----

func.func @table_empty(%t: tensor<0xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires E to be in [1, 4096], but got 0 (C1)}}
  %0 = moe.group_ids ins(%t : tensor<0xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xi32>
  return
}

// -----

func.func @ids_rank(%t: tensor<8xi32>, %i: tensor<?xi32>) {
  // expected-error @+1 {{requires ids to have rank 2, but got 'tensor<?xi32>' (C1)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?xi32>
  return
}

// -----

func.func @ids_type(%t: tensor<8xi32>, %i: tensor<?x1xf32>) {
  // expected-error @+1 {{requires ids to be i32, but got 'f32' (C1)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xf32>) {grouping = #moe.grouping<offsets>} -> tensor<?x1xf32>
  return
}

// -----

func.func @ids_dynamic(%t: tensor<8xi32>, %i: tensor<?x?xi32>) {
  // expected-error @+1 {{requires the only slot, dimension 1 of ids, to be static, but got 'tensor<?x?xi32>' (C1)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x?xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x?xi32>
  return
}

// -----

func.func @ids_slots(%t: tensor<8xi32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{requires dimension 1 of ids to be the only slot = 1, but got 2 (C1)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x2xi32>) {grouping = #moe.grouping<offsets>} -> tensor<?x2xi32>
  return
}

// -----

func.func @grouping(%t: tensor<8xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires grouping to be offsets, sizes or masked, but got ids (C2)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<ids>} -> tensor<?x1xi32>
  return
}

// -----

func.func @masked_without_capacity(%t: tensor<8xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires capacity exactly for grouping masked, but got masked without capacity (C3)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {grouping = #moe.grouping<masked>} -> tensor<?x1xi32>
  return
}

// -----

func.func @sizes_with_capacity(%t: tensor<8xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires capacity exactly for grouping masked, but got sizes with capacity (C3)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {capacity = 16 : i64, grouping = #moe.grouping<sizes>} -> tensor<?x1xi32>
  return
}

// -----

func.func @negative_capacity(%t: tensor<8xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires capacity to be in [0, 2147483647], but got -1 (C3)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {capacity = -1 : i64, grouping = #moe.grouping<masked>} -> tensor<?x1xi32>
  return
}

// -----

func.func @capacity_past_i32(%t: tensor<8xi32>, %i: tensor<?x1xi32>) {
  // expected-error @+1 {{requires capacity to be in [0, 2147483647], but got 2147483648 (C3)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<?x1xi32>) {capacity = 2147483648 : i64, grouping = #moe.grouping<masked>} -> tensor<?x1xi32>
  return
}

// -----

// expected-note @+1 {{group_table has type 'tensor<8xi32>'}}
func.func @capacity_extent(%t: tensor<8xi32>, %i: tensor<127x1xi32>) {
  // expected-error @+1 {{requires dimension 0 of ids to be E * capacity = 128, but got 127 (C3)}}
  %0 = moe.group_ids ins(%t : tensor<8xi32>) outs(%i : tensor<127x1xi32>) {capacity = 16 : i64, grouping = #moe.grouping<masked>} -> tensor<127x1xi32>
  return
}

// -----

func.func @ids_is_table(%t: memref<1x1xi32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #1 are one memref; pass a buffer of its own (C4)}}
  moe.group_ids ins(%t : memref<1x1xi32>) outs(%t : memref<1x1xi32>) {grouping = #moe.grouping<offsets>}
  return
}
