// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(moe-fill-empty-tensors))' | FileCheck %s --check-prefix=FILL
// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(moe-expand-strided-copies))' | FileCheck %s --check-prefix=COPY
// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(moe-approximate-vector-math))' | FileCheck %s --check-prefix=MATH

// FILL-LABEL: func.func @empty
// FILL:         %[[F:.*]] = tensor.empty(%{{.*}}) : tensor<?x4xf32>
// FILL:         %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// FILL:         %[[FF:.*]] = linalg.fill ins(%[[NAN]] : f32) outs(%[[F]]
// FILL:         %[[I:.*]] = tensor.empty() : tensor<4xi32>
// FILL:         %[[ONE:.*]] = arith.constant -1 : i32
// FILL:         %[[IF:.*]] = linalg.fill ins(%[[ONE]] : i32) outs(%[[I]]
// FILL:         return %[[FF]], %[[IF]]
func.func @empty(%t: index) -> (tensor<?x4xf32>, tensor<4xi32>) {
  %f = tensor.empty(%t) : tensor<?x4xf32>
  %i = tensor.empty() : tensor<4xi32>
  return %f, %i : tensor<?x4xf32>, tensor<4xi32>
}

// COPY-LABEL: func.func @copies
// COPY-NEXT:    memref.copy
// COPY-NEXT:    linalg.copy
// COPY-NEXT:    linalg.copy
// COPY-NEXT:    return
func.func @copies(%a: memref<?x4xf32>, %b: memref<?x4xf32>,
                  %s: memref<?x4xf32, strided<[8, 1]>>) {
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %a, %s : memref<?x4xf32> to memref<?x4xf32, strided<[8, 1]>>
  memref.copy %s, %b : memref<?x4xf32, strided<[8, 1]>> to memref<?x4xf32>
  return
}

// MATH-LABEL: func.func @math
// MATH-NOT:     math.exp %{{.*}} : vector
// MATH-NOT:     math.tanh
// MATH:         math.exp %{{.*}} : f32
func.func @math(%v: vector<8xf32>, %x: f32) -> (vector<8xf32>, f32) {
  %e = math.exp %v : vector<8xf32>
  %t = math.tanh %e : vector<8xf32>
  %s = math.exp %x : f32
  return %t, %s : vector<8xf32>, f32
}
