// Functions on memrefs compile, and ops of other dialects stay where they were
// between the launches, on tensors as well.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-cta)' | FileCheck %s --implicit-check-not='{{moe\.(gate|route|combine|activation|grouped_gemm) }}'
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-nvvm)' | FileCheck %s --implicit-check-not='{{moe\.(gate|route|combine|activation|grouped_gemm) }}'
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx)' | FileCheck %s --implicit-check-not='{{moe\.(gate|route|combine|activation|grouped_gemm) }}'

// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME:      %[[X:arg[0-9]]]: memref<?x8xf32> {{.*}} %[[W:arg[0-9]]]: memref<4x8xf32> {{.*}} %[[L:arg[0-9]]]: memref<?x4xf32> {{.*}} %[[S:arg[0-9]]]: memref<?x2xf32> {{.*}} %[[I:arg[0-9]]]: memref<?x2xi32> {{.*}} %[[N:arg[0-9]]]: index) {
// CHECK:         gpu.launch_func @moe_kernels::@memrefs_0_fill {{.*}} args(%[[L]] : memref<?x4xf32>,
// CHECK:         gpu.launch_func @moe_kernels::@memrefs_1_gate {{.*}} args(%[[X]] : memref<?x8xf32>, %[[W]] : memref<4x8xf32>, %[[L]] : memref<?x4xf32>,
// CHECK:         linalg.exp ins(%[[L]] : memref<?x4xf32>) outs(%[[L]] : memref<?x4xf32>)
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %[[N]] step
// CHECK:           memref.store %{{.*}}, %[[L]][%[[K]],
// CHECK:         gpu.launch_func @moe_kernels::@memrefs_2_route {{.*}} args(%[[L]] : memref<?x4xf32>, %[[S]] : memref<?x2xf32>, %[[I]] : memref<?x2xi32>,
// CHECK:         return
func.func @memrefs(%x: memref<?x8xf32>, %w: memref<4x8xf32>, %l: memref<?x4xf32>,
                   %s: memref<?x2xf32>, %i: memref<?x2xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  linalg.fill ins(%two : f32) outs(%l : memref<?x4xf32>)
  moe.gate ins(%x, %w : memref<?x8xf32>, memref<4x8xf32>) outs(%l : memref<?x4xf32>)
  linalg.exp ins(%l : memref<?x4xf32>) outs(%l : memref<?x4xf32>)
  scf.for %k = %c0 to %n step %c1 {
    memref.store %two, %l[%k, %c0] : memref<?x4xf32>
  }
  moe.route ins(%l : memref<?x4xf32>) outs(%s, %i : memref<?x2xf32>, memref<?x2xi32>)
  return
}

// Ids on memrefs take the general kernel: no row table can be put in front.
// CHECK-LABEL: func.func @gemm_on_memrefs(
// CHECK:         gpu.launch_func @moe_kernels::@gemm_on_memrefs_0_grouped_gemm
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @gemm_on_memrefs(%a: memref<?x64xbf16>, %b: memref<4x32x64xbf16>, %ids: memref<?x2xi32>,
                           %c: memref<?x32xbf16>) {
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<4x32x64xbf16>)
      rows(%ids : memref<?x2xi32>) outs(%c : memref<?x32xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
  return
}

// A tensor op of another dialect is bufferised with the rest and kept.
// CHECK-LABEL: func.func @tensors(
// CHECK:         gpu.launch_func @moe_kernels::@tensors_0_activation
// CHECK:         linalg.exp ins(%{{.*}} : memref<?x8xf32>) outs(%{{.*}} : memref<?x8xf32>)
// CHECK:         gpu.launch_func @moe_kernels::@tensors_1_activation
func.func @tensors(%h: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %h, %c0 : tensor<?x8xf32>
  %a0 = tensor.empty(%t) : tensor<?x8xf32>
  %a = moe.activation ins(%h : tensor<?x8xf32>) outs(%a0 : tensor<?x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  %e0 = tensor.empty(%t) : tensor<?x8xf32>
  %e = linalg.exp ins(%a : tensor<?x8xf32>) outs(%e0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b0 = tensor.empty(%t) : tensor<?x8xf32>
  %b = moe.activation ins(%e : tensor<?x8xf32>) outs(%b0 : tensor<?x8xf32>)
      {activation = #moe.activation<relu2>} -> tensor<?x8xf32>
  return %b : tensor<?x8xf32>
}

// Inside a branch the launch stays inside. Its kernel is there already.
// CHECK-LABEL: func.func @branch(
// CHECK:         scf.if %{{.*}} {
// CHECK:           gpu.launch_func @moe_kernels::@tensors_0_activation
// CHECK-NEXT:    {{^ *}}}
// CHECK-NEXT:    return
func.func @branch(%c: i1, %h: memref<?x8xf32>, %a: memref<?x8xf32>) {
  scf.if %c {
    moe.activation ins(%h : memref<?x8xf32>) outs(%a : memref<?x8xf32>)
        {activation = #moe.activation<silu>}
  }
  return
}
