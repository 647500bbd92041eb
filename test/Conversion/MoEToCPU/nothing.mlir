// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu,moe-fill-empty-tensors,moe-expand-strided-copies,moe-approximate-vector-math))' | FileCheck %s

// Functions without moe ops, tensor.empty, strided copies and vector math stay
// as they are.

// CHECK-LABEL: func.func @foreign
// CHECK-NEXT:    %[[E:.*]] = math.exp %{{.*}} : f32
// CHECK-NEXT:    memref.store %[[E]]
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    %[[D:.*]] = math.exp %{{.*}} : vector<4xf64>
// CHECK-NEXT:    return %[[D]]
func.func @foreign(%x: f32, %m: memref<4xf32>, %n: memref<4xf32>, %i: index,
                   %v: vector<4xf64>) -> vector<4xf64> {
  %e = math.exp %x : f32
  memref.store %e, %m[%i] : memref<4xf32>
  memref.copy %m, %n : memref<4xf32> to memref<4xf32>
  %d = math.exp %v : vector<4xf64>
  return %d : vector<4xf64>
}
