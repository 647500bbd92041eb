// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of moe.encode_tensor_map.

func.func @rank_1(%s: memref<64xbf16>) {
  // expected-error @+1 {{requires source to be a memref of rank 2 to 5 without offset and with inner stride 1, but got 'memref<64xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [64] : memref<64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @rank_0(%s: memref<bf16>) {
  // expected-error @+1 {{requires source to be a memref of rank 2 to 5 without offset and with inner stride 1, but got 'memref<bf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [] : memref<bf16> -> !moe.tensor_map
  return
}

// -----

func.func @rank_6(%s: memref<1x1x1x1x8x64xbf16>) {
  // expected-error @+1 {{requires source to be a memref of rank 2 to 5 without offset and with inner stride 1, but got 'memref<1x1x1x1x8x64xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [1, 1, 1, 1, 8, 64] : memref<1x1x1x1x8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @offset(%s: memref<8x64xbf16, strided<[128, 1], offset: 8>>) {
  // expected-error @+1 {{requires source to be a memref of rank 2 to 5 without offset and with inner stride 1, but got 'memref<8x64xbf16, strided<[128, 1], offset: 8>>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x64xbf16, strided<[128, 1], offset: 8>> -> !moe.tensor_map
  return
}

// -----

func.func @inner_stride(%s: memref<8x64xbf16, strided<[128, 2]>>) {
  // expected-error @+1 {{requires source to be a memref of rank 2 to 5 without offset and with inner stride 1, but got 'memref<8x64xbf16, strided<[128, 2]>>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x64xbf16, strided<[128, 2]>> -> !moe.tensor_map
  return
}

// -----

func.func @dynamic_stride(%s: memref<8x?x64xbf16>) {
  // expected-error @+1 {{requires rows of source to be a positive multiple of 16 bytes apart, but got 'memref<8x?x64xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [1, 8, 64] : memref<8x?x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @tensor(%s: tensor<8x64xbf16>) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.memref, but found 'tensor<8x64xbf16>'}}
  %0 = moe.encode_tensor_map %s box [8, 64] : tensor<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @index_elements(%s: memref<8x64xindex>) {
  // expected-error @+1 {{requires elements of source to be integers or floats of 8, 16, 32 or 64 bits, but got 'index' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x64xindex> -> !moe.tensor_map
  return
}

// -----

func.func @bits(%s: memref<8x64xi1>) {
  // expected-error @+1 {{requires elements of source to be integers or floats of 8, 16, 32 or 64 bits, but got 'i1' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x64xi1> -> !moe.tensor_map
  return
}

// -----

func.func @vectors(%s: memref<8x64xvector<4xf32>>) {
  // expected-error @+1 {{requires elements of source to be integers or floats of 8, 16, 32 or 64 bits, but got 'vector<4xf32>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x64xvector<4xf32>> -> !moe.tensor_map
  return
}

// -----

func.func @wide_floats(%s: memref<8x64xf128>) {
  // expected-error @+1 {{requires elements of source to be integers or floats of 8, 16, 32 or 64 bits, but got 'f128' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x64xf128> -> !moe.tensor_map
  return
}

// -----

func.func @dynamic_rows(%s: memref<8x?xbf16>) {
  // expected-error @+1 {{requires rows of source to be a positive multiple of 16 bytes apart, but got 'memref<8x?xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x?xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @empty_rows(%s: memref<8x0xbf16>) {
  // expected-error @+1 {{requires rows of source to be a positive multiple of 16 bytes apart, but got 'memref<8x0xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x0xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @odd_rows(%s: memref<8x63xbf16>) {
  // expected-error @+1 {{requires rows of source to be a positive multiple of 16 bytes apart, but got 'memref<8x63xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x63xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @rows_past_i64(%s: memref<8x9223372036854775807xbf16>) {
  // expected-error @+1 {{requires rows of source to be a positive multiple of 16 bytes apart, but got 'memref<8x9223372036854775807xbf16>' (C1)}}
  %0 = moe.encode_tensor_map %s box [8, 64] : memref<8x9223372036854775807xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @box_entries(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires box to have 2 entries in [1, 256], but got [64] (C2)}}
  %0 = moe.encode_tensor_map %s box [64] : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @box_zero(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires box to have 2 entries in [1, 256], but got [0, 64] (C2)}}
  %0 = moe.encode_tensor_map %s box [0, 64] : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @box_too_large(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires box to have 2 entries in [1, 256], but got [257, 64] (C2)}}
  %0 = moe.encode_tensor_map %s box [257, 64] : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @box_lowest(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires box to have 2 entries in [1, 256], but got [8, -9223372036854775808] (C2)}}
  %0 = moe.encode_tensor_map %s box [8, -9223372036854775808] : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @swizzle(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires swizzle to be 0, 32, 64 or 128, but got 96 (C3)}}
  %0 = moe.encode_tensor_map %s box [8, 64] {swizzle = 96 : i64} : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @swizzle_negative(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires swizzle to be 0, 32, 64 or 128, but got -128 (C3)}}
  %0 = moe.encode_tensor_map %s box [8, 64] {swizzle = -128 : i64} : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @inner_box_too_wide(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires the inner box to be at most 64 bytes under this swizzle, but got 128 (C3)}}
  %0 = moe.encode_tensor_map %s box [8, 64] {swizzle = 64 : i64} : memref<8x64xbf16> -> !moe.tensor_map
  return
}

// -----

func.func @inner_box_odd(%s: memref<8x64xbf16>) {
  // expected-error @+1 {{requires the inner box to be a multiple of 16 bytes, but got 8 (C3)}}
  %0 = moe.encode_tensor_map %s box [8, 4] : memref<8x64xbf16> -> !moe.tensor_map
  return
}
