// A function without moe ops stays, and no kernel appears.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-cta)' | FileCheck %s --implicit-check-not=gpu.
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-nvvm)' | FileCheck %s --implicit-check-not=gpu.
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx)' | FileCheck %s --implicit-check-not=gpu.

// CHECK-LABEL: func.func @scalars(%arg0: i32, %arg1: i32) -> i32
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %arg0, %arg1 : i32
// CHECK-NEXT:    return %[[SUM]] : i32
func.func @scalars(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @buffers(%arg0: memref<?x8xf32>, %arg1: memref<?x8xf32>, %arg2: index)
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      %[[V:.*]] = memref.load %arg0[%[[I]],
// CHECK-NEXT:      memref.store %[[V]], %arg1[%[[I]],
func.func @buffers(%from: memref<?x8xf32>, %to: memref<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i, %c0] : memref<?x8xf32>
    memref.store %v, %to[%i, %c0] : memref<?x8xf32>
  }
  return
}

// CHECK-LABEL: func.func private @declared(memref<4xf32>)
func.func private @declared(memref<4xf32>)
