// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.gate, and the rules that all ops share.

func.func @mixed(%x: tensor<?x64xbf16>, %w: memref<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, memref<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @no_result(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{requires one result per destination on tensors and none on memrefs, but got 0 results for 1 destinations}}
  "moe.gate"(%x, %w, %o) : (tensor<4x64xf32>, tensor<8x64xf32>, tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @result_of_memrefs(%x: memref<4x64xf32>, %w: memref<8x64xf32>, %o: memref<4x8xf32>) {
  // expected-error @+1 {{requires one result per destination on tensors and none on memrefs, but got 1 results for 1 destinations}}
  %0 = moe.gate ins(%x, %w : memref<4x64xf32>, memref<8x64xf32>) outs(%o : memref<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @other_result(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{expected type of operand #2 ('tensor<4x8xf32>') to match type of corresponding result ('tensor<?x8xf32>')}}
  %0 = moe.gate ins(%x, %w : tensor<4x64xf32>, tensor<8x64xf32>) outs(%o : tensor<4x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @encoding(%x: tensor<?x64xbf16, "layout">, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires tensors without an encoding, but got 'tensor<?x64xbf16, "layout">'}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16, "layout">, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @unranked_tensor(%x: tensor<*xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref, but got 'tensor<*xbf16>'}}
  %0 = moe.gate ins(%x, %w : tensor<*xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @unranked_memref(%x: memref<*xbf16>, %w: memref<8x64xbf16>, %o: memref<?x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref, but got 'memref<*xbf16>'}}
  moe.gate ins(%x, %w : memref<*xbf16>, memref<8x64xbf16>) outs(%o : memref<?x8xf32>)
  return
}

// -----

func.func @transposing_layout(%x: memref<4x64xbf16, affine_map<(i, j) -> (i mod 2, j)>>, %w: memref<8x64xbf16>, %o: memref<4x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref, but got 'memref<4x64xbf16, affine_map<(d0, d1) -> (d0 mod 2, d1)>>'}}
  moe.gate ins(%x, %w : memref<4x64xbf16, affine_map<(i, j) -> (i mod 2, j)>>, memref<8x64xbf16>) outs(%o : memref<4x8xf32>)
  return
}

// -----

func.func @scalar(%x: bf16, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref, but got 'bf16'}}
  %0 = moe.gate ins(%x, %w : bf16, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @x_rank(%x: tensor<64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires x to have rank 2, but got 'tensor<64xbf16>' (C1)}}
  %0 = moe.gate ins(%x, %w : tensor<64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @x_rank_0(%x: tensor<bf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires x to have rank 2, but got 'tensor<bf16>' (C1)}}
  %0 = moe.gate ins(%x, %w : tensor<bf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @weight_rank(%x: tensor<?x64xbf16>, %w: tensor<1x8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires weight to have rank 2, but got 'tensor<1x8x64xbf16>' (C1)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<1x8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @logits_rank(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<8xf32>) {
  // expected-error @+1 {{requires logits to have rank 2, but got 'tensor<8xf32>' (C1)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @bias_rank(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %b: tensor<1x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires bias to have rank 1, but got 'tensor<1x8xf32>' (C1)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) bias(%b : tensor<1x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @x_type(%x: tensor<?x64xf64>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires x to be f32, bf16 or f16, but got 'f64' (C2)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xf64>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @x_type_complex(%x: tensor<?x64xcomplex<f32>>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires x to be f32, bf16 or f16, but got 'complex<f32>' (C2)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xcomplex<f32>>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @weight_type(%x: tensor<?x64xbf16>, %w: tensor<8x64xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires weight to be f32, bf16 or f16, but got 'i32' (C2)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xi32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @logits_type(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{requires logits to be f32, but got 'bf16' (C2)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @bias_type(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %b: tensor<8xf8E4M3FN>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires bias to be f32, bf16 or f16, but got 'f8E4M3FN' (C2)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) bias(%b : tensor<8xf8E4M3FN>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-note @+1 {{x has type 'tensor<?x64xbf16>'}}
func.func @h_differs(%x: tensor<?x64xbf16>, %w: tensor<8x32xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires dimension 1 of weight to be H = 64, but got 32 (C3)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x32xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-note @+1 {{x has type 'tensor<4x64xbf16>'}}
func.func @t_differs(%x: tensor<4x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<5x8xf32>) {
  // expected-error @+1 {{requires dimension 0 of logits to be T = 4, but got 5 (C3)}}
  %0 = moe.gate ins(%x, %w : tensor<4x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

// expected-note @+1 {{weight has type 'tensor<8x64xbf16>'}}
func.func @e_differs(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{requires dimension 1 of logits to be E = 8, but got 16 (C3)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

// expected-note @+1 {{weight has type 'tensor<8x64xbf16>'}}
func.func @bias_differs(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %b: tensor<16xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires dimension 0 of bias to be E = 8, but got 16 (C3)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) bias(%b : tensor<16xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @dynamic_h_of_x(%x: tensor<?x?xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires H, dimension 1 of x, to be static, but got 'tensor<?x?xbf16>' (C4)}}
  %0 = moe.gate ins(%x, %w : tensor<?x?xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @dynamic_h_of_weight(%x: tensor<?x64xbf16>, %w: tensor<8x?xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires H, dimension 1 of weight, to be static, but got 'tensor<8x?xbf16>' (C4)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x?xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @dynamic_e_of_weight(%x: tensor<?x64xbf16>, %w: tensor<?x64xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{requires E, dimension 0 of weight, to be static, but got 'tensor<?x64xbf16>' (C4)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @dynamic_e_of_logits(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x?xf32>) {
  // expected-error @+1 {{requires E, dimension 1 of logits, to be static, but got 'tensor<?x?xf32>' (C4)}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @logits_is_x(%x: memref<4x4xf32>, %w: memref<4x4xf32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #2 are one memref; pass a buffer of its own (C5)}}
  moe.gate ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  return
}
