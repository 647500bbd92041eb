// What the inliner leaves is refused where results have no size that a caller
// knows.
//
// RUN: moe-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(moe-to-cta)'

func.func @layer(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  // expected-error @+1 {{'func.call' op returns 'tensor<?x8xf32>' from @layer, which calls itself, directly or not: a call that stays takes buffers of static shapes for its results; write the recursion as an scf.for, or out}}
  %r = call @layer(%a) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

func.func private @outside(tensor<?x8xf32>) -> tensor<?x8xf32>
func.func @layer(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'func.call' op returns 'tensor<?x8xf32>' from @outside, which has no body: a call that stays takes buffers of static shapes for its results; define the function or pass its result as an argument}}
  %r = call @outside(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Results of static shapes can be allocated by the caller, and a call that is
// inlined is none.
func.func private @outside(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func private @inlined(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
func.func @layer(%x: tensor<4x8xf32>, %y: tensor<?x8xf32>) -> (tensor<4x8xf32>, tensor<?x8xf32>) {
  %r = call @outside(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = call @inlined(%y) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r, %s : tensor<4x8xf32>, tensor<?x8xf32>
}
