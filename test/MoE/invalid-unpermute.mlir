// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.unpermute.

func.func @mixed(%r: tensor<?x64xbf16>, %s: memref<?xi32>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, memref<?xi32>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @rows_rank(%r: tensor<64xbf16>, %s: tensor<?xi32>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires rows to have rank 2, but got 'tensor<64xbf16>' (C1)}}
  %0 = moe.unpermute ins(%r, %s : tensor<64xbf16>, tensor<?xi32>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @y_rank(%r: tensor<?x64xbf16>, %s: tensor<?xi32>, %y: tensor<64xbf16>) {
  // expected-error @+1 {{requires y to have rank 2, but got 'tensor<64xbf16>' (C1)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, tensor<?xi32>) outs(%y : tensor<64xbf16>) -> tensor<64xbf16>
  return
}

// -----

func.func @source_rank(%r: tensor<?x64xbf16>, %s: tensor<?x1xi32>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires source to have rank 1, but got 'tensor<?x1xi32>' (C1)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, tensor<?x1xi32>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @source_type(%r: tensor<?x64xbf16>, %s: tensor<?xi64>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires source to be i32, but got 'i64' (C1)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, tensor<?xi64>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @dynamic_h_of_rows(%r: tensor<?x?xbf16>, %s: tensor<?xi32>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires H, dimension 1 of rows, to be static, but got 'tensor<?x?xbf16>' (C1)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x?xbf16>, tensor<?xi32>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @dynamic_h_of_y(%r: tensor<?x64xbf16>, %s: tensor<?xi32>, %y: tensor<?x?xbf16>) {
  // expected-error @+1 {{requires H, dimension 1 of y, to be static, but got 'tensor<?x?xbf16>' (C1)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, tensor<?xi32>) outs(%y : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return
}

// -----

func.func @rows_type(%r: tensor<?x64xi32>, %s: tensor<?xi32>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires rows to be f32, bf16 or f16, but got 'i32' (C2)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xi32>, tensor<?xi32>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{rows is defined here}}
func.func @y_type(%r: tensor<?x64xbf16>, %s: tensor<?xi32>, %y: tensor<?x64xf32>) {
  // expected-error @+1 {{requires y to have the element type of rows, but got 'f32' and 'bf16' (C2)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, tensor<?xi32>) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// expected-note @+1 {{rows has type 'tensor<8x64xbf16>'}}
func.func @source_extent(%r: tensor<8x64xbf16>, %s: tensor<7xi32>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of source to be the rows of rows = 8, but got 7 (C3)}}
  %0 = moe.unpermute ins(%r, %s : tensor<8x64xbf16>, tensor<7xi32>) outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{rows has type 'tensor<8x64xbf16>'}}
func.func @y_rows(%r: tensor<8x64xbf16>, %s: tensor<?xi32>, %y: tensor<4x64xbf16>) {
  // expected-error @+1 {{requires dimension 0 of y to be the rows of rows = 8, but got 4 (C3)}}
  %0 = moe.unpermute ins(%r, %s : tensor<8x64xbf16>, tensor<?xi32>) outs(%y : tensor<4x64xbf16>) -> tensor<4x64xbf16>
  return
}

// -----

// expected-note @+1 {{rows has type 'tensor<?x64xbf16>'}}
func.func @y_h(%r: tensor<?x64xbf16>, %s: tensor<?xi32>, %y: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of y to be H = 64, but got 32 (C3)}}
  %0 = moe.unpermute ins(%r, %s : tensor<?x64xbf16>, tensor<?xi32>) outs(%y : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @y_is_rows(%y: memref<4x8xf32>, %s: memref<4xi32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #2 are one memref; pass a buffer of its own (C4)}}
  moe.unpermute ins(%y, %s : memref<4x8xf32>, memref<4xi32>) outs(%y : memref<4x8xf32>)
  return
}
