// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.activation and of #moe.activation.

func.func @mixed(%h: memref<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires its operands to be all tensors or all memrefs, but got both}}
  %0 = moe.activation ins(%h : memref<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @h_rank(%h: tensor<64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires h to have rank 2, but got 'tensor<64xbf16>' (C1)}}
  %0 = moe.activation ins(%h : tensor<64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @a_rank(%h: tensor<?x64xbf16>, %a: tensor<4x4x32xbf16>) {
  // expected-error @+1 {{requires a to have rank 2, but got 'tensor<4x4x32xbf16>' (C1)}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<4x4x32xbf16>) {activation = #moe.activation<swiglu>} -> tensor<4x4x32xbf16>
  return
}

// -----

func.func @h_type(%h: tensor<?x64xf64>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires h to be f32, bf16 or f16, but got 'f64' (C1)}}
  %0 = moe.activation ins(%h : tensor<?x64xf64>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @a_type(%h: tensor<?x64xbf16>, %a: tensor<?x32xi8>) {
  // expected-error @+1 {{requires a to be f32, bf16 or f16, but got 'i8' (C1)}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xi8>) {activation = #moe.activation<swiglu>} -> tensor<?x32xi8>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<?x64xbf16>'}}
func.func @gated_columns(%h: tensor<?x64xbf16>, %a: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires dimension 1 of h to be twice the columns of a = 128, but got 64 (C2)}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x64xbf16>) {activation = #moe.activation<swiglu>} -> tensor<?x64xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<?x32xbf16>'}}
func.func @plain_columns(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires dimension 1 of h to be the columns of a = 32, but got 64 (C2)}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<silu>} -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{a has type 'tensor<4x9223372036854775807xbf16>'}}
func.func @columns_past_i64(%h: tensor<4x0xbf16>, %a: tensor<4x9223372036854775807xbf16>) {
  // expected-error @+1 {{requires dimension 1 of h to be twice the columns of a = 9223372036854775807, but got 0 (C2)}}
  %0 = moe.activation ins(%h : tensor<4x0xbf16>) outs(%a : tensor<4x9223372036854775807xbf16>) {activation = #moe.activation<swiglu>} -> tensor<4x9223372036854775807xbf16>
  return
}

// -----

func.func @dynamic_columns_of_h(%h: tensor<?x?xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires the columns, dimension 1 of h, to be static, but got 'tensor<?x?xbf16>' (C3)}}
  %0 = moe.activation ins(%h : tensor<?x?xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @dynamic_columns_of_a(%h: tensor<?x64xbf16>, %a: tensor<?x?xbf16>) {
  // expected-error @+1 {{requires the columns, dimension 1 of a, to be static, but got 'tensor<?x?xbf16>' (C3)}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x?xbf16>) {activation = #moe.activation<swiglu>} -> tensor<?x?xbf16>
  return
}

// -----

// expected-note @+1 {{h has type 'tensor<4x64xbf16>'}}
func.func @rows(%h: tensor<4x64xbf16>, %a: tensor<5x32xbf16>) {
  // expected-error @+1 {{requires dimension 0 of a to be the rows of h = 4, but got 5 (C3)}}
  %0 = moe.activation ins(%h : tensor<4x64xbf16>) outs(%a : tensor<5x32xbf16>) {activation = #moe.activation<swiglu>} -> tensor<5x32xbf16>
  return
}

// -----

func.func @layout_without_gate(%h: tensor<?x64xbf16>, %a: tensor<?x64xbf16>) {
  // expected-error @+1 {{activation silu has no gate: remove 'layout'}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x64xbf16>) {activation = #moe.activation<silu, layout = interleaved>} -> tensor<?x64xbf16>
  return
}

// -----

func.func @limit_unused(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation geglu has no parameter 'limit': remove it}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<geglu, limit = 7.0 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @alpha_unused(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swiglu has no parameter 'alpha': remove it}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, alpha = 1.0 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @beta_unused(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swiglu has no parameter 'beta': remove it}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, beta = 1.0 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @linear_beta_unused(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swiglu has no parameter 'linear_beta': remove it}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, linear_beta = 1.0 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @limit_zero(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swiglu requires 'limit' to be finite and above 0, but got 0.000000e+00}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, limit = 0.0 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @limit_negative(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swiglu requires 'limit' to be finite and above 0, but got -7.000000e+00}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, limit = -7.0 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @limit_nan(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swiglu requires 'limit' to be finite and above 0, but got nan}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, limit = 0x7FC00000 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @alpha_infinite(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{activation swigluoai requires 'alpha' to be finite and above 0, but got INF}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swigluoai, alpha = 0x7F800000 : f32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @limit_integer(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{expected a number with a decimal point: write 7.0}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, limit = 7 : i32>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @unknown_kind(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+2 {{expected ::mlir::moe::ActivationKind to be one of: swiglu, swigluoai, swiglustep, geglu, situ, gelu, relu2, silu}}
  // expected-error @+1 {{failed to parse MoE_ActivationAttr parameter 'kind' which is to be a `::mlir::moe::ActivationKind`}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<tanh>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @integer_limit(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{expected a number with a decimal point: write 7.0}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<swiglu, limit = 7>} -> tensor<?x32xbf16>
  return
}

// -----

func.func @word_as_limit(%h: tensor<?x64xbf16>, %a: tensor<?x32xbf16>) {
  // expected-error @+1 {{expected a number with a decimal point}}
  %0 = moe.activation ins(%h : tensor<?x64xbf16>) outs(%a : tensor<?x32xbf16>) {activation = #moe.activation<situ, beta = "4">} -> tensor<?x32xbf16>
  return
}

// -----

// Without a gate h may be a.
func.func @in_place(%h: memref<?x8xf32>) {
  moe.activation ins(%h : memref<?x8xf32>) outs(%h : memref<?x8xf32>) {activation = #moe.activation<silu>}
  return
}

// -----

func.func @a_is_h(%h: memref<?x8xf32>) {
  // expected-error @+1 {{requires destinations that overlap no other operand, but operands #0 and #1 are one memref; pass a buffer of its own (C4)}}
  moe.activation ins(%h : memref<?x8xf32>) outs(%h : memref<?x8xf32>) {activation = #moe.activation<swiglu>}
  return
}
