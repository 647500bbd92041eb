// RUN: moe-opt %s --pass-pipeline='builtin.module(canonicalize,cse,canonicalize)' | FileCheck %s

// What the destination-passing form gives: no pattern of our own is needed.

// The extent of a result is the extent of its destination.
// CHECK-LABEL: func @dim_of_result
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[X]]
// CHECK-NEXT: return %[[D]]
func.func @dim_of_result(%x: tensor<?x8xf32>, %w: tensor<2x8xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x2xf32>
  %0 = moe.gate ins(%x, %w : tensor<?x8xf32>, tensor<2x8xf32>) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %d = tensor.dim %0, %c0 : tensor<?x2xf32>
  return %d : index
}

// Casts that hide an extent fold into the op, also on a destination: its
// result gets the better type.
// CHECK-LABEL: func @cast_of_operands
// CHECK-NOT: tensor.cast
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x2xf32>
// CHECK: %[[L:.*]] = moe.gate ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<2x8xf32>) outs(%[[E]] : tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK: tensor.cast %[[L]] : tensor<4x2xf32> to tensor<?x2xf32>
func.func @cast_of_operands(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<?x2xf32> {
  %c4 = arith.constant 4 : index
  %xc = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  %e = tensor.empty(%c4) : tensor<?x2xf32>
  %0 = moe.gate ins(%xc, %w : tensor<?x8xf32>, tensor<2x8xf32>) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// The same for an op with several destinations; its attributes stay.
// CHECK-LABEL: func @cast_of_destinations
// CHECK: moe.route ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xi32>) {groups = 4 : i64, keep_groups = 2 : i64, renormalize}
func.func @cast_of_destinations(%l: tensor<4x8xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
  %lc = tensor.cast %l : tensor<4x8xf32> to tensor<?x8xf32>
  %wc = tensor.cast %w : tensor<4x2xf32> to tensor<?x2xf32>
  %ic = tensor.cast %i : tensor<4x2xi32> to tensor<?x2xi32>
  %0:2 = moe.route ins(%lc : tensor<?x8xf32>) outs(%wc, %ic : tensor<?x2xf32>, tensor<?x2xi32>) {groups = 4 : i64, keep_groups = 2 : i64, renormalize} -> tensor<?x2xf32>, tensor<?x2xi32>
  return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32>
}

// On tensors an op without uses goes, and two equal ones are one.
// CHECK-LABEL: func @unused_and_equal
// CHECK-COUNT-1: moe.gate
// CHECK-NOT: moe.
// CHECK: return
func.func @unused_and_equal(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %e: tensor<4x2xf32>, %w0: tensor<4x1xf32>, %i0: tensor<4x1xi32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = moe.gate ins(%x, %w : tensor<4x8xf32>, tensor<2x8xf32>) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = moe.gate ins(%x, %w : tensor<4x8xf32>, tensor<2x8xf32>) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %2:2 = moe.route ins(%0 : tensor<4x2xf32>) outs(%w0, %i0 : tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>, tensor<4x1xi32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// On memrefs both stay: they write.
// CHECK-LABEL: func @memrefs
// CHECK-COUNT-2: moe.gate
func.func @memrefs(%x: memref<4x8xf32>, %w: memref<2x8xf32>, %e: memref<4x2xf32>) {
  moe.gate ins(%x, %w : memref<4x8xf32>, memref<2x8xf32>) outs(%e : memref<4x2xf32>)
  moe.gate ins(%x, %w : memref<4x8xf32>, memref<2x8xf32>) outs(%e : memref<4x2xf32>)
  return
}
