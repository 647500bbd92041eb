// Tokens whose routing hangs on rounding are counted, left out of the
// comparison, and too many of them fail it. A routing of given logits is exact.
//
// RUN: moe-run %s --function=one --compare=reference | FileCheck %s --check-prefix=ONE
// RUN: moe-run %s --function=one --compare=reference --json | FileCheck %s --check-prefix=JSON
// RUN: not moe-run %s --function=two --compare=reference | FileCheck %s --check-prefix=TWO
// RUN: moe-run %s --function=given --compare=reference | FileCheck %s --check-prefix=GIVEN
// RUN: not moe-run %s --function=groups --compare=reference | FileCheck %s --check-prefix=TWO
// RUN: moe-run %s --function=last --compare=reference | FileCheck %s --check-prefix=NO

// The keys of experts 0 and 1 are equal for the first token.
// ONE: near ties of the routing, left out: 1 of 2 tokens, at most 1 allowed
// JSON: "rows_left_out": 1
// JSON: "near_ties": 1
func.func @one() -> tensor<2x1xi32> {
  %x = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %wg = arith.constant dense<[[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %l = moe.gate ins(%x, %wg : tensor<2x2xf32>, tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %w = tensor.empty() : tensor<2x1xf32>
  %i = tensor.empty() : tensor<2x1xi32>
  %r:2 = moe.route ins(%l : tensor<2x3xf32>) outs(%w, %i : tensor<2x1xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>, tensor<2x1xi32>
  return %r#1 : tensor<2x1xi32>
}

// TWO: near ties of the routing, left out: 2 of 2 tokens, at most 1 allowed
func.func @two() -> tensor<2x1xi32> {
  %x = arith.constant dense<1.0> : tensor<2x2xf32>
  // 1.000001 is closer to 1 than 1e-5.
  %wg = arith.constant dense<[[1.0, 0.0], [1.000001, 0.0], [0.0, 0.5]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %l = moe.gate ins(%x, %wg : tensor<2x2xf32>, tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %w = tensor.empty() : tensor<2x1xf32>
  %i = tensor.empty() : tensor<2x1xi32>
  %r:2 = moe.route ins(%l : tensor<2x3xf32>) outs(%w, %i : tensor<2x1xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>, tensor<2x1xi32>
  return %r#1 : tensor<2x1xi32>
}

// GIVEN-NOT: near ties
func.func @given() -> tensor<2x1xi32> {
  %l = arith.constant dense<1.0> : tensor<2x3xf32>
  %w = tensor.empty() : tensor<2x1xf32>
  %i = tensor.empty() : tensor<2x1xi32>
  %r:2 = moe.route ins(%l : tensor<2x3xf32>) outs(%w, %i : tensor<2x1xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>, tensor<2x1xi32>
  return %r#1 : tensor<2x1xi32>
}

// The best experts of the groups tie, so that the choice of group is a near tie.
func.func @groups() -> tensor<2x1xi32> {
  %x = arith.constant dense<1.0> : tensor<2x1xf32>
  %wg = arith.constant dense<[[1.0], [0.5], [1.0], [0.25]]> : tensor<4x1xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %l = moe.gate ins(%x, %wg : tensor<2x1xf32>, tensor<4x1xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %w = tensor.empty() : tensor<2x1xf32>
  %i = tensor.empty() : tensor<2x1xi32>
  %r:2 = moe.route ins(%l : tensor<2x4xf32>) outs(%w, %i : tensor<2x1xf32>, tensor<2x1xi32>) {groups = 2, keep_groups = 1} -> tensor<2x1xf32>, tensor<2x1xi32>
  return %r#1 : tensor<2x1xi32>
}

// A tie among experts that are not chosen decides nothing.
// NO: near ties of the routing, left out: 0 of 2 tokens
func.func @last() -> tensor<2x1xi32> {
  %x = arith.constant dense<1.0> : tensor<2x1xf32>
  %wg = arith.constant dense<[[0.5], [0.5], [1.0], [0.5]]> : tensor<4x1xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %l = moe.gate ins(%x, %wg : tensor<2x1xf32>, tensor<4x1xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %w = tensor.empty() : tensor<2x1xf32>
  %i = tensor.empty() : tensor<2x1xi32>
  %r:2 = moe.route ins(%l : tensor<2x4xf32>) outs(%w, %i : tensor<2x1xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>, tensor<2x1xi32>
  return %r#1 : tensor<2x1xi32>
}
