// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu),canonicalize,cse)' | FileCheck %s

// Rows of x are gathered as f32, bf16 weights are converted once for a block
// of columns, three rows by four columns accumulate in registers.

// CHECK-LABEL: func.func @gate
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x40xbf16>, %[[W:[^:]*]]: memref<6x40xbf16>, %[[B:[^:]*]]: memref<6xbf16>, %[[L:[^:]*]]: memref<?x6xf32>
// CHECK:         %[[APACK:.*]] = memref.alloc() {alignment = 64 : i64} : memref<99x48xf32>
// CHECK:         %[[BPACK:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x48xf32>
// CHECK:         scf.for {{.*}} step %c96
// CHECK:           vector.load %[[X]]
// CHECK:           vector.store %{{.*}}, %[[APACK]]
// CHECK:           vector.load %[[W]]
// CHECK:           vector.store %{{.*}}, %[[BPACK]]
// CHECK:           scf.for {{.*}} step %c3
// CHECK-COUNT-12:    vector.fma
// CHECK-NOT:         vector.fma
// CHECK:             scf.yield
// The last rows: one, or two. Never three, which the loop above took.
// CHECK:           scf.if
// CHECK-COUNT-4:     vector.fma
// CHECK-NOT:         vector.fma
// CHECK:             scf.yield
// CHECK:           scf.if
// CHECK-COUNT-8:     vector.fma
// CHECK-NOT:         vector.fma
// The bias, and the store as f32.
// CHECK:           vector.load %[[B]]
// CHECK:           arith.extf
// CHECK:           arith.addf
// CHECK-NEXT:      vector.store %{{.*}}, %[[L]]
// CHECK-COUNT-3: memref.dealloc
func.func @gate(%x: memref<?x40xbf16>, %w: memref<6x40xbf16>, %b: memref<6xbf16>,
                %l: memref<?x6xf32>) {
  moe.gate ins(%x, %w : memref<?x40xbf16>, memref<6x40xbf16>)
      bias(%b : memref<6xbf16>) outs(%l : memref<?x6xf32>)
  return
}
