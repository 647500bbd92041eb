// RUN: moe-run %s --print | FileCheck %s

// A NaN stays NaN through every clamp; the limits hold on both sides.
// CHECK: 0 4x1xf32 = {{\[\[}}nan], [nan], [1.76159], [-1.76159]]
// CHECK: 1 2x2xf32 = {{\[\[}}nan, 9], [0, 0]]
// CHECK: 2 2x2xf32 = {{\[\[}}nan, 2.99636], [-0.158808, 0]]
// CHECK: 3 1x2xf32 = {{\[\[}}5.80698, 2.19252]]
func.func @kinds() -> (tensor<4x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2xf32>) {
  // swiglu with limit 2: silu(2) * clamp(u) = 1.761594 * clamp(u).
  %h = arith.constant dense<[[0x7FC00000, 1.0], [1.0, 0x7FC00000], [9.0, 1.0], [2.0, -1.0]]> : tensor<4x2xf32>
  %e0 = tensor.empty() : tensor<4x1xf32>
  %0 = moe.activation ins(%h : tensor<4x2xf32>) outs(%e0 : tensor<4x1xf32>) {activation = #moe.activation<swiglu, limit = 2.0>} -> tensor<4x1xf32>
  %x = arith.constant dense<[[0x7FC00000, 3.0], [-1.0, 0.0]]> : tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<2x2xf32>
  %1 = moe.activation ins(%x : tensor<2x2xf32>) outs(%e1 : tensor<2x2xf32>) {activation = #moe.activation<relu2>} -> tensor<2x2xf32>
  %2 = moe.activation ins(%x : tensor<2x2xf32>) outs(%e1 : tensor<2x2xf32>) {activation = #moe.activation<gelu>} -> tensor<2x2xf32>
  // swigluoai interleaved, limit 2: (u + 1) * g * sigmoid(1.702 g) of (g, u) =
  // (9, 9) clamped to (2, 2), and of (2, 0.1327).
  %g = arith.constant dense<[[9.0, 9.0, 2.0, 0.1327]]> : tensor<1x4xf32>
  %e3 = tensor.empty() : tensor<1x2xf32>
  %3 = moe.activation ins(%g : tensor<1x4xf32>) outs(%e3 : tensor<1x2xf32>) {activation = #moe.activation<swigluoai, layout = interleaved, limit = 2.0>} -> tensor<1x2xf32>
  return %0, %1, %2, %3 : tensor<4x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2xf32>
}
