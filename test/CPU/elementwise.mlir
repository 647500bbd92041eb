// Elementwise arith and math on tensors run on a CPU as they do by the
// reference.
//
// RUN: moe-run %s --device=cpu --tokens=5 --compare=reference | FileCheck %s
// CHECK: 5x8xf32 {{.*}} agrees
// CHECK: 5x8xbf16 {{.*}} agrees
func.func @layer(%x: tensor<?x8xf32>, %y: tensor<?x8xbf16>) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %c0 = arith.constant 0 : index
  %T = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%T) : tensor<?x8xf32>
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  %s = arith.addf %a, %x : tensor<?x8xf32>
  %t = math.exp %s : tensor<?x8xf32>
  %f = tensor.empty(%T) : tensor<?x8xbf16>
  %b = moe.activation ins(%y : tensor<?x8xbf16>) outs(%f : tensor<?x8xbf16>) {activation = #moe.activation<silu>} -> tensor<?x8xbf16>
  %m = arith.mulf %b, %y : tensor<?x8xbf16>
  return %t, %m : tensor<?x8xf32>, tensor<?x8xbf16>
}
