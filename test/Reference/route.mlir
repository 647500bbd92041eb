// RUN: moe-run %s --function=ties --print | FileCheck %s --check-prefix=TIES
// RUN: moe-run %s --function=corners --print | FileCheck %s --check-prefix=CORNERS
// RUN: moe-run %s --function=groups --print | FileCheck %s --check-prefix=GROUPS
// RUN: moe-run %s --function=bias --print | FileCheck %s --check-prefix=BIAS
// RUN: moe-run %s --function=hash --print | FileCheck %s --check-prefix=HASH
// RUN: moe-run %s --function=sparsemixer --print | FileCheck %s --check-prefix=MIXER
// RUN: moe-run %s --function=extremes --print | FileCheck %s --check-prefix=EXTREMES
// RUN: moe-run %s --function=no_tokens --print | FileCheck %s --check-prefix=NONE

// Equal keys go to the lower expert; slots are in descending order.
// TIES: 0 2x3xf32 = {{\[\[}}3, 2, 2], [1, 1, 1]]
// TIES: 1 2x3xi32 = {{\[\[}}3, 1, 2], [0, 1, 2]]
func.func @ties() -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %l = arith.constant dense<[[1.0, 2.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<2x4xf32>
  %w = tensor.empty() : tensor<2x3xf32>
  %i = tensor.empty() : tensor<2x3xi32>
  %r:2 = moe.route ins(%l : tensor<2x4xf32>) outs(%w, %i : tensor<2x3xf32>, tensor<2x3xi32>) {score = #moe.score<identity>} -> tensor<2x3xf32>, tensor<2x3xi32>
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

// NaN and -inf are never chosen; +inf is the largest finite f32. Slots without
// an expert have id -1 and weight 0; a sum of 0 gives weights 0.
// CORNERS: 0 4x2xf32 = {{\[\[}}0, 0], [1, 0], [0, 0], [0, 0]]
// CORNERS: 1 4x2xi32 = {{\[\[}}-1, -1], [2, -1], [0, 1], [0, 2]]
func.func @corners() -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %l = arith.constant dense<[[0x7FC00000, 0xFF800000, 0x7FC00000], [0xFF800000, 0x7FC00000, 5.0], [1.0, -1.0, -2.0], [0.0, -1.0, 0.0]]> : tensor<4x3xf32>
  %w = tensor.empty() : tensor<4x2xf32>
  %i = tensor.empty() : tensor<4x2xi32>
  %r:2 = moe.route ins(%l : tensor<4x3xf32>) outs(%w, %i : tensor<4x2xf32>, tensor<4x2xi32>) {score = #moe.score<identity>, renormalize} -> tensor<4x2xf32>, tensor<4x2xi32>
  return %r#0, %r#1 : tensor<4x2xf32>, tensor<4x2xi32>
}

// Two of four groups stay. Sums of the best two keys in the first token: 5, 4,
// 4 and 7.5, so groups 0 and 3; in the second: 8 (one selectable expert, whose
// key is the rank), 13, 2 and 4; in the third groups 0 and 2 have none.
// GROUPS: 1 3x2xi32 = {{\[\[}}7, 6], [3, 0], [7, 3]]
// By the largest key, groups 0 and 2 of the first token tie: the lower stays.
// GROUPS: 3 3x3xi32 = {{\[\[}}7, 6, 0], [3, 0, 2], [7, 3, 2]]
func.func @groups() -> (tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x3xf32>, tensor<3x3xi32>) {
  %l = arith.constant dense<[[3.0, 2.0, 2.0, 2.0, 1.0, 3.0, 3.5, 4.0],
                             [8.0, 0x7FC00000, 4.0, 9.0, 1.0, 1.0, 2.0, 2.0],
                             [0xFF800000, 0x7FC00000, 1.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 3.0]]> : tensor<3x8xf32>
  %w = tensor.empty() : tensor<3x2xf32>
  %i = tensor.empty() : tensor<3x2xi32>
  %r:2 = moe.route ins(%l : tensor<3x8xf32>) outs(%w, %i : tensor<3x2xf32>, tensor<3x2xi32>) {score = #moe.score<identity>, groups = 4, keep_groups = 2, group_rank = #moe.group_rank<top2_sum>} -> tensor<3x2xf32>, tensor<3x2xi32>
  %w3 = tensor.empty() : tensor<3x3xf32>
  %i3 = tensor.empty() : tensor<3x3xi32>
  %m:2 = moe.route ins(%l : tensor<3x8xf32>) outs(%w3, %i3 : tensor<3x3xf32>, tensor<3x3xi32>) {score = #moe.score<identity>, groups = 4, keep_groups = 2} -> tensor<3x3xf32>, tensor<3x3xi32>
  return %r#0, %r#1, %m#0, %m#1 : tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x3xf32>, tensor<3x3xi32>
}

// The bias steers the selection and leaves the weights alone; a NaN bias makes
// its expert unselectable, and an infinite one does not rescue a NaN logit.
// BIAS: 0 1x3xf32 = {{\[\[}}1, 4, 3]]
// BIAS: 1 1x3xi32 = {{\[\[}}0, 3, 2]]
func.func @bias() -> (tensor<1x3xf32>, tensor<1x3xi32>) {
  %l = arith.constant dense<[[1.0, 9.0, 3.0, 4.0, 0x7FC00000]]> : tensor<1x5xf32>
  %b = arith.constant dense<[10.0, 0x7FC00000, 0.0, 0.0, 0x7F800000]> : tensor<5xf32>
  %w = tensor.empty() : tensor<1x3xf32>
  %i = tensor.empty() : tensor<1x3xi32>
  %r:2 = moe.route ins(%l : tensor<1x5xf32>) bias(%b : tensor<5xf32>) outs(%w, %i : tensor<1x3xf32>, tensor<1x3xi32>) {score = #moe.score<identity>} -> tensor<1x3xf32>, tensor<1x3xi32>
  return %r#0, %r#1 : tensor<1x3xf32>, tensor<1x3xi32>
}

// Ids of the table, duplicates included; a token or an entry out of range gives
// -1; an entry with a NaN logit keeps its id with weight 0.
// HASH: 0 4x2xf32 = {{\[\[}}2, 2], [0, 0], [0, 0], [1, 0]]
// HASH: 1 4x2xi32 = {{\[\[}}1, 1], [-1, -1], [-1, -1], [0, 2]]
func.func @hash() -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %l = arith.constant dense<[[1.0, 2.0, 0x7FC00000], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 0x7FC00000]]> : tensor<4x3xf32>
  %tokens = arith.constant dense<[0, 3, 1, 2]> : tensor<4xi32>
  %table = arith.constant dense<[[1, 1], [3, -1], [0, 2]]> : tensor<3x2xi32>
  %w = tensor.empty() : tensor<4x2xf32>
  %i = tensor.empty() : tensor<4x2xi32>
  %r:2 = moe.route ins(%l : tensor<4x3xf32>) table(%tokens, %table : tensor<4xi32>, tensor<3x2xi32>) outs(%w, %i : tensor<4x2xf32>, tensor<4x2xi32>) {score = #moe.score<identity>} -> tensor<4x2xf32>, tensor<4x2xi32>
  return %r#0, %r#1 : tensor<4x2xf32>, tensor<4x2xi32>
}

// With jitter 0.25 an expert takes part up to half the size of the larger logit
// away. First token, first slot: 4, 3 and, exactly at the limit, 2 take part; second
// slot: 3 and 2. Second token: logits of 0 take part, whatever 0 / 0 is.
// MIXER: 0 2x2xf32 = {{\[\[}}0.665241, 0.731059], [0.5, 1]]
// MIXER: 1 2x2xi32 = {{\[\[}}1, 2], [0, 2]]
func.func @sparsemixer() -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %l = arith.constant dense<[[1.0, 4.0, 3.0, 2.0], [0.0, -4.0, 0.0, -1.0]]> : tensor<2x4xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %i = tensor.empty() : tensor<2x2xi32>
  %r:2 = moe.route ins(%l : tensor<2x4xf32>) outs(%w, %i : tensor<2x2xf32>, tensor<2x2xi32>) {score = #moe.score<sparsemixer>, jitter = 0.25 : f32} -> tensor<2x2xf32>, tensor<2x2xi32>
  return %r#0, %r#1 : tensor<2x2xf32>, tensor<2x2xi32>
}

// k = E, and E = 1; +inf behaves as the largest finite f32.
// EXTREMES: 0 1x2xf32 = {{\[\[}}0.5, 0.5]]
// EXTREMES: 1 1x2xi32 = {{\[\[}}0, 1]]
// EXTREMES: 2 1x1xf32 = {{\[\[}}2.5]]
// EXTREMES: 3 1x1xi32 = {{\[\[}}0]]
func.func @extremes() -> (tensor<1x2xf32>, tensor<1x2xi32>, tensor<1x1xf32>, tensor<1x1xi32>) {
  %l = arith.constant dense<[[0x7F800000, 0x7F800000]]> : tensor<1x2xf32>
  %w = tensor.empty() : tensor<1x2xf32>
  %i = tensor.empty() : tensor<1x2xi32>
  %r:2 = moe.route ins(%l : tensor<1x2xf32>) outs(%w, %i : tensor<1x2xf32>, tensor<1x2xi32>) -> tensor<1x2xf32>, tensor<1x2xi32>
  %l1 = arith.constant dense<[[-3.0]]> : tensor<1x1xf32>
  %w1 = tensor.empty() : tensor<1x1xf32>
  %i1 = tensor.empty() : tensor<1x1xi32>
  %q:2 = moe.route ins(%l1 : tensor<1x1xf32>) outs(%w1, %i1 : tensor<1x1xf32>, tensor<1x1xi32>) {scale = 2.5 : f32} -> tensor<1x1xf32>, tensor<1x1xi32>
  return %r#0, %r#1, %q#0, %q#1 : tensor<1x2xf32>, tensor<1x2xi32>, tensor<1x1xf32>, tensor<1x1xi32>
}

// NONE: 0 0x2xf32 = []
// NONE: 1 0x2xi32 = []
func.func @no_tokens() -> (tensor<0x2xf32>, tensor<0x2xi32>) {
  %l = tensor.empty() : tensor<0x4xf32>
  %w = tensor.empty() : tensor<0x2xf32>
  %i = tensor.empty() : tensor<0x2xi32>
  %r:2 = moe.route ins(%l : tensor<0x4xf32>) outs(%w, %i : tensor<0x2xf32>, tensor<0x2xi32>) -> tensor<0x2xf32>, tensor<0x2xi32>
  return %r#0, %r#1 : tensor<0x2xf32>, tensor<0x2xi32>
}
