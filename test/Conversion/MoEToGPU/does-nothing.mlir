// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// Without moe ops there is no gpu.module and no change.
// CHECK-LABEL: module {
// CHECK-NOT:     gpu.module
// CHECK:       func @other
// CHECK-NEXT:    linalg.copy
// CHECK-NEXT:    return
func.func @other(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  linalg.copy ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
  return
}
