// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// A symbol of PTX does not start with a digit and holds no quotes.
// CHECK-DAG: llvm.func @_0abc_0_activation
// CHECK-DAG: llvm.func @a_b_0_activation
func.func @"0abc"(%h: memref<4x8xf32>, %a: memref<4x8xf32>) {
  moe.activation ins(%h : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
      {activation = #moe.activation<silu>}
  return
}
func.func @"a b"(%h: memref<4x8xf32>, %a: memref<4x8xf32>) {
  moe.activation ins(%h : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
      {activation = #moe.activation<silu>}
  return
}
