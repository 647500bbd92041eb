// RUN: moe-run %s --function=ids --print | FileCheck %s --check-prefix=IDS
// RUN: moe-run %s --function=epilogue --print | FileCheck %s --check-prefix=EPILOGUE
// RUN: moe-run %s --function=k_grouped --print | FileCheck %s --check-prefix=KGROUPED
// RUN: moe-run %s --function=empty_extents --print | FileCheck %s --check-prefix=EMPTY
// RUN: moe-run %s --function=sorted_both --print | FileCheck %s --check-prefix=SORTED
// RUN: moe-run %s --function=rounding --print | FileCheck %s --check-prefix=ROUNDING
// RUN: moe-run %s --function=rounding --print --compare=reference | FileCheck %s --check-prefix=WIDE

// Rows without expert keep what the destination held; the NaN in expert 2,
// which no row has, is not read.
// IDS: 0 4x2xf32 = {{\[\[}}1, 2], [7, 7], [90, 120], [7, 7]]
func.func @ids() -> tensor<4x2xf32> {
  %a = arith.constant dense<[[1.0, 2.0], [10.0, 20.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]], [[5.0, 2.0], [6.0, 3.0]], [[0x7FC00000, 0.0], [0.0, 0.0]]]> : tensor<3x2x2xf32>
  %ids = arith.constant dense<[[0, -1], [1, 3]]> : tensor<2x2xi32>
  %c = arith.constant dense<7.0> : tensor<4x2xf32>
  %r = moe.grouped_gemm ins(%a, %b : tensor<2x2xf32>, tensor<3x2x2xf32>) rows(%ids : tensor<2x2xi32>) outs(%c : tensor<4x2xf32>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// ((1*2 + bias 1), (1*3 + bias -4)) = (3, -1); relu2 gives (9, 0); times 10.
// EPILOGUE: 0 1x2xf32 = {{\[\[}}90, 0]]
func.func @epilogue() -> tensor<1x2xf32> {
  %a = arith.constant dense<1.0> : tensor<1x1xf32>
  %b = arith.constant dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>
  %bias = arith.constant dense<[[1.0, -4.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<10.0> : tensor<1xf32>
  %c = tensor.empty() : tensor<1x2xf32>
  %r = moe.grouped_gemm ins(%a, %b : tensor<1x1xf32>, tensor<1x1x2xf32>) bias(%bias : tensor<1x2xf32>) weights(%w : tensor<1xf32>) outs(%c : tensor<1x2xf32>) {grouping = #moe.grouping<dense>, b_layout = #moe.b_layout<kn>, weight = #moe.weight<output>, activation = #moe.activation<relu2>} -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// Groups [0, 2), none, [2, 3): a group without rows writes zeros.
// KGROUPED: 0 3x1x1xf32 = {{\[\[\[}}14]], {{\[\[}}0]], {{\[\[}}18]]]
func.func @k_grouped() -> tensor<3x1x1xf32> {
  %a = arith.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %b = arith.constant dense<[[4.0, 5.0, 6.0]]> : tensor<1x3xf32>
  %ends = arith.constant dense<[2, 1, 8]> : tensor<3xi32>
  %c = tensor.empty() : tensor<3x1x1xf32>
  %r = moe.grouped_gemm ins(%a, %b : tensor<1x3xf32>, tensor<1x3xf32>) rows(%ends : tensor<3xi32>) outs(%c : tensor<3x1x1xf32>) {grouping = #moe.grouping<k_grouped>} -> tensor<3x1x1xf32>
  return %r : tensor<3x1x1xf32>
}

// K = 0 leaves the bias, or zeros; N = 0 has nothing to write.
// EMPTY: 0 2x2xf32 = {{\[\[}}0, 0], [0, 0]]
// EMPTY: 1 2x2xf32 = {{\[\[}}3, 4], [3, 4]]
// EMPTY: 2 2x0xf32 = {{\[\[}}], []]
func.func @empty_extents() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x0xf32>) {
  %a = tensor.empty() : tensor<2x0xf32>
  %b = tensor.empty() : tensor<1x2x0xf32>
  %bias = arith.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %c = tensor.empty() : tensor<2x2xf32>
  %0 = moe.grouped_gemm ins(%a, %b : tensor<2x0xf32>, tensor<1x2x0xf32>) outs(%c : tensor<2x2xf32>) {grouping = #moe.grouping<dense>} -> tensor<2x2xf32>
  %1 = moe.grouped_gemm ins(%a, %b : tensor<2x0xf32>, tensor<1x2x0xf32>) bias(%bias : tensor<1x2xf32>) outs(%c : tensor<2x2xf32>) {grouping = #moe.grouping<dense>} -> tensor<2x2xf32>
  %b0 = tensor.empty() : tensor<1x0x2xf32>
  %c0 = tensor.empty() : tensor<2x0xf32>
  %2 = moe.grouped_gemm ins(%c, %b0 : tensor<2x2xf32>, tensor<1x0x2xf32>) outs(%c0 : tensor<2x0xf32>) {grouping = #moe.grouping<dense>} -> tensor<2x0xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x0xf32>
}

// a and c both in sorted order: positions 1 and 3 are padding and not written.
// SORTED: 0 4x1xf32 = {{\[\[}}2], [nan], [12], [nan]]
func.func @sorted_both() -> tensor<4x1xf32> {
  %a = arith.constant dense<[[1.0], [2.0], [4.0], [8.0]]> : tensor<4x1xf32>
  %b = arith.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %table = arith.constant dense<[1, 2, 0, 2]> : tensor<4xi32>
  %tiles = arith.constant dense<[0, 1]> : tensor<2xi32>
  %padded = arith.constant dense<[4]> : tensor<1xi32>
  %c = tensor.empty() : tensor<4x1xf32>
  %r = moe.grouped_gemm ins(%a, %b : tensor<4x1xf32>, tensor<2x1x1xf32>) rows(%table, %tiles, %padded : tensor<4xi32>, tensor<2xi32>, tensor<1xi32>) outs(%c : tensor<4x1xf32>) {grouping = #moe.grouping<aligned>, top_k = 1, block = 2, a_order = #moe.row_order<sorted>, c_order = #moe.row_order<sorted>} -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// 257 is not a bf16: an intermediate of that type rounds to 256, unless the run
// is a comparison, which keeps it in f32.
// ROUNDING: 0 1x1xf32 = {{\[\[}}256]]
// WIDE: 0 1x1xf32 = {{\[\[}}257]]
func.func @rounding() -> tensor<1x1xf32> {
  %a = arith.constant dense<[[1.0, 1.0]]> : tensor<1x2xbf16>
  %b = arith.constant dense<[[[256.0, 1.0]]]> : tensor<1x1x2xbf16>
  %c = tensor.empty() : tensor<1x1xbf16>
  %r = moe.grouped_gemm ins(%a, %b : tensor<1x2xbf16>, tensor<1x1x2xbf16>) outs(%c : tensor<1x1xbf16>) {grouping = #moe.grouping<dense>} -> tensor<1x1xbf16>
  %one = arith.constant dense<1.0> : tensor<1x1x1xbf16>
  %e = tensor.empty() : tensor<1x1xf32>
  %f = moe.grouped_gemm ins(%r, %one : tensor<1x1xbf16>, tensor<1x1x1xbf16>) outs(%e : tensor<1x1xf32>) {grouping = #moe.grouping<dense>} -> tensor<1x1xf32>
  return %f : tensor<1x1xf32>
}
