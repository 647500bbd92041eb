// What callers have to know of arguments and results.
//
// RUN: moe-opt %s --split-input-file --moe-describe-arguments | FileCheck %s

// Does nothing to a function without moe ops.
// CHECK-LABEL: func.func @plain(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
func.func @plain(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

// T is named after the first argument that has it, also where an argument with
// T * k rows comes before; results follow.
// CHECK-LABEL: func.func @combine
// CHECK-SAME: tensor<?x4xf32> {moe.argument = #moe.argument<shape = [2 * dim(1, 0), 4], role = "uniform">}
// CHECK-SAME: tensor<?x2xf32> {moe.argument = #moe.argument<shape = [dim(1, 0), 2], role = "uniform">}
// CHECK-SAME: tensor<?x2xi32> {moe.argument = #moe.argument<shape = [dim(1, 0), 2], role = "ids", bound = 4>}
// CHECK-SAME: -> (tensor<?x4xf32> {moe.argument = #moe.argument<shape = [dim(1, 0), 4]>})
func.func @combine(%y: tensor<?x4xf32>, %w: tensor<?x2xf32>, %ids: tensor<?x2xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %w, %c0 : tensor<?x2xf32>
  %o0 = tensor.empty(%t) : tensor<?x4xf32>
  %o = moe.combine ins(%y, %w, %ids : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x4xf32>) {experts = 4} -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

// -----

// Backwards through arithmetic: 2 * R rows come from R.
// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: tensor<?x4xf32> {moe.argument = #moe.argument<shape = [dim(0, 0), 4], role = "uniform">}
// CHECK-SAME: -> (tensor<?x4xf32> {moe.argument = #moe.argument<shape = [2 * dim(0, 0) + 3, 4]>})
func.func @arithmetic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %t = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r = arith.muli %t, %c2 : index
  %s = arith.addi %r, %c3 : index
  %e = tensor.empty(%t) : tensor<?x4xf32>
  %a = moe.activation ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x4xf32>
  %big = tensor.empty(%s) : tensor<?x4xf32>
  return %big : tensor<?x4xf32>
}

// -----

// A form that is no multiple of an extent counts as free: nothing false is said.
// CHECK-LABEL: func.func @half
// CHECK-SAME: tensor<?x4xf32> {moe.argument = #moe.argument<shape = [dim(0, 0), 4], role = "uniform">}
// CHECK-SAME: -> (tensor<?x4xf32> {moe.argument = #moe.argument<shape = [dim(1, 0), 4]>})
func.func @half(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x4xf32>
  %h = arith.ceildivsi %t, %c2 : index
  %e = tensor.empty(%t) : tensor<?x4xf32>
  %a = moe.activation ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x4xf32>
  %half = tensor.empty(%h) : tensor<?x4xf32>
  return %half : tensor<?x4xf32>
}

// -----

// Two calls of one function with other extents say nothing about each other.
// CHECK-LABEL: func.func @calls
// CHECK-SAME: tensor<?x4xf32> {moe.argument = #moe.argument<shape = [dim(0, 0), 4], role = "uniform">}
// CHECK-SAME: tensor<?x4xf32> {moe.argument = #moe.argument<shape = [dim(1, 0), 4], role = "uniform">}
func.func private @use(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @calls(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%t) : tensor<?x4xf32>
  %a = moe.activation ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x4xf32>
  %b = call @use(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = call @use(%y) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %b, %c : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// The rows of a ragged GEMM are the bound of its offsets; weights are scaled by
// their fan-in. Works on memrefs too.
// CHECK-LABEL: func.func @ragged
// CHECK-SAME: memref<?x16xbf16> {moe.argument = #moe.argument<shape = [dim(0, 0), 16], role = "uniform">}
// CHECK-SAME: memref<3x8x16xbf16> {moe.argument = #moe.argument<shape = [3, 8, 16], role = "weight", bound = 16>}
// CHECK-SAME: memref<3xi32> {moe.argument = #moe.argument<shape = [3], role = "end_offsets", bound = dim(0, 0)>}
// CHECK-SAME: memref<?x8xbf16> {moe.argument = #moe.argument<shape = [dim(0, 0), 8], role = "uniform">}
func.func @ragged(%a: memref<?x16xbf16>, %b: memref<3x8x16xbf16>, %ends: memref<3xi32>, %c: memref<?x8xbf16>) {
  moe.grouped_gemm ins(%a, %b : memref<?x16xbf16>, memref<3x8x16xbf16>)
      rows(%ends : memref<3xi32>) outs(%c : memref<?x8xbf16>)
      {grouping = #moe.grouping<offsets>}
  return
}
