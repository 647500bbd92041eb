// RUN: moe-opt %s --pass-pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},drop-equivalent-buffer-results,buffer-results-to-out-params{add-result-attr modify-public-functions},canonicalize)' | FileCheck %s

// Every op becomes itself on memrefs, in place of its destination.

// CHECK-LABEL: func @every_op
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
func.func @every_op(%x: tensor<4x8xf32>, %wg: tensor<3x8xf32>, %b: tensor<3x8x8xf32>, %table: tensor<3xi32>,
    %l0: tensor<4x3xf32>, %w0: tensor<4x2xf32>, %i0: tensor<4x2xi32>,
    %s0: tensor<17xi32>, %e0: tensor<5xi32>, %p0: tensor<1xi32>, %c0: tensor<3xi32>,
    %g0: tensor<8x1xi32>, %h0: tensor<8x8xf32>, %a0: tensor<8x4xf32>, %o0: tensor<4x8xf32>,
    %r0: tensor<8x8xf32>, %src0: tensor<8xi32>, %off0: tensor<3xi32>, %y0: tensor<8x8xf32>)
    -> (tensor<17xi32>, tensor<8x1xi32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<3xi32>) {
  // CHECK: moe.gate ins(%{{.*}}, %{{.*}} : memref<4x8xf32>, memref<3x8xf32>) outs(%[[L:.*]] : memref<4x3xf32>)
  %l = moe.gate ins(%x, %wg : tensor<4x8xf32>, tensor<3x8xf32>) outs(%l0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: moe.route ins(%[[L]] : memref<4x3xf32>) outs(%[[W:.*]], %[[I:.*]] : memref<4x2xf32>, memref<4x2xi32>) {renormalize}
  %w, %i = moe.route ins(%l : tensor<4x3xf32>) outs(%w0, %i0 : tensor<4x2xf32>, tensor<4x2xi32>) {renormalize} -> tensor<4x2xf32>, tensor<4x2xi32>
  // CHECK: moe.align ins(%[[I]] : memref<4x2xi32>) outs({{.*}} : memref<17xi32>, memref<5xi32>, memref<1xi32>, memref<3xi32>)
  %s, %e, %p, %c = moe.align ins(%i : tensor<4x2xi32>) outs(%s0, %e0, %p0, %c0 : tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>) {experts = 3, block = 4} -> tensor<17xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>
  // CHECK: moe.group_ids ins({{.*}} : memref<3xi32>) outs({{.*}} : memref<8x1xi32>)
  %g = moe.group_ids ins(%table : tensor<3xi32>) outs(%g0 : tensor<8x1xi32>) {grouping = #moe.grouping<offsets>} -> tensor<8x1xi32>
  // CHECK: moe.grouped_gemm {{.*}} rows(%[[I]] : memref<4x2xi32>) outs(%[[H:.*]] : memref<8x8xf32>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
  %h = moe.grouped_gemm ins(%x, %b : tensor<4x8xf32>, tensor<3x8x8xf32>) rows(%i : tensor<4x2xi32>) outs(%h0 : tensor<8x8xf32>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<8x8xf32>
  // CHECK: moe.activation ins(%[[H]] : memref<8x8xf32>) outs({{.*}} : memref<8x4xf32>) {activation = #moe.activation<swiglu>}
  %a = moe.activation ins(%h : tensor<8x8xf32>) outs(%a0 : tensor<8x4xf32>) {activation = #moe.activation<swiglu>} -> tensor<8x4xf32>
  // CHECK: moe.combine ins(%[[H]], %[[W]], %[[I]] : memref<8x8xf32>, memref<4x2xf32>, memref<4x2xi32>) outs({{.*}} : memref<4x8xf32>) {experts = 3 : i64}
  %o = moe.combine ins(%h, %w, %i : tensor<8x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) outs(%o0 : tensor<4x8xf32>) {experts = 3} -> tensor<4x8xf32>
  // CHECK: moe.permute ins({{.*}}, %[[I]] : memref<4x8xf32>, memref<4x2xi32>) outs(%[[R:.*]], %[[S:.*]], {{.*}} : memref<8x8xf32>, memref<8xi32>, memref<3xi32>) {experts = 3 : i64}
  %r, %src, %off = moe.permute ins(%x, %i : tensor<4x8xf32>, tensor<4x2xi32>) outs(%r0, %src0, %off0 : tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>) {experts = 3} -> tensor<8x8xf32>, tensor<8xi32>, tensor<3xi32>
  // CHECK: moe.unpermute ins(%[[R]], %[[S]] : memref<8x8xf32>, memref<8xi32>) outs({{.*}} : memref<8x8xf32>)
  %y = moe.unpermute ins(%r, %src : tensor<8x8xf32>, tensor<8xi32>) outs(%y0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s, %g, %a, %o, %y, %off : tensor<17xi32>, tensor<8x1xi32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<3xi32>
}

// A destination that the caller passes is written in place and no longer
// returned: the argument is an out-parameter.
// CHECK-LABEL: func private @out_parameter
// CHECK-SAME: (%[[H:.*]]: memref<?x8xf32>, %[[A:.*]]: memref<?x4xf32>) {
// CHECK-NEXT: moe.activation ins(%[[H]] : memref<?x8xf32>) outs(%[[A]] : memref<?x4xf32>)
// CHECK-NEXT: return
func.func private @out_parameter(%h: tensor<?x8xf32>, %a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = moe.activation ins(%h : tensor<?x8xf32>) outs(%a : tensor<?x4xf32>) {activation = #moe.activation<swiglu>} -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A fresh destination becomes an allocation; a result of static shape an
// out-parameter as well.
// CHECK-LABEL: func @fresh
// CHECK-SAME: (%[[H:.*]]: memref<2x8xf32>, %[[OUT:.*]]: memref<2x4xf32> {bufferize.result})
// CHECK: %[[ALLOC:.*]] = memref.alloc() {{.*}} : memref<2x4xf32>
// CHECK-NEXT: moe.activation ins(%[[H]] : memref<2x8xf32>) outs(%[[ALLOC]] : memref<2x4xf32>)
// CHECK-NEXT: memref.copy %[[ALLOC]], %[[OUT]]
// CHECK-NEXT: return
func.func @fresh(%h: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = moe.activation ins(%h : tensor<2x8xf32>) outs(%e : tensor<2x4xf32>) {activation = #moe.activation<swiglu>} -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Input and destination are one tensor, and rows need not be written in the
// order in which they are read: the destination is a copy.
// CHECK-LABEL: func @same_tensor
// CHECK-SAME: (%[[Y:.*]]: memref<4x8xf32>, %[[S:.*]]: memref<4xi32>,
// CHECK: %[[ALLOC:.*]] = memref.alloc()
// CHECK-NEXT: memref.copy %[[Y]], %[[ALLOC]]
// CHECK-NEXT: moe.unpermute ins(%[[Y]], %[[S]] : {{.*}}) outs(%[[ALLOC]] : memref<4x8xf32>)
func.func @same_tensor(%y: tensor<4x8xf32>, %s: tensor<4xi32>) -> tensor<4x8xf32> {
  %0 = moe.unpermute ins(%y, %s : tensor<4x8xf32>, tensor<4xi32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// The old value of the destination is needed after the op: it is copied first,
// with the elements that the op does not write.
// CHECK-LABEL: func @old_value
// CHECK-SAME: (%[[Y:.*]]: memref<4x8xf32>, %[[R:.*]]: memref<4x8xf32>, %[[S:.*]]: memref<4xi32>,
// CHECK: %[[ALLOC:.*]] = memref.alloc()
// CHECK-NEXT: memref.copy %[[Y]], %[[ALLOC]]
// CHECK-NEXT: moe.unpermute {{.*}} outs(%[[ALLOC]] : memref<4x8xf32>)
func.func @old_value(%y: tensor<4x8xf32>, %r: tensor<4x8xf32>, %s: tensor<4xi32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = moe.unpermute ins(%r, %s : tensor<4x8xf32>, tensor<4xi32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// Undefined elements may be read and written at one place, but not by one op.
// CHECK-LABEL: func @undefined_tensor
// CHECK: %[[E:.*]] = memref.alloc()
// CHECK: %[[Y:.*]] = memref.alloc()
// CHECK: moe.unpermute ins(%[[E]], {{.*}}) outs(%[[Y]] : memref<4x8xf32>)
func.func @undefined_tensor(%s: tensor<4xi32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = moe.unpermute ins(%e, %s : tensor<4x8xf32>, tensor<4xi32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
