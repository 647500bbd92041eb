// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu),canonicalize,cse)' | FileCheck %s

// Gate and up halves, f32 arithmetic, clamps that keep a NaN (an ordered
// comparison and a select, no minimum), one rounding.

// CHECK-LABEL: func.func @swiglu
// CHECK:         scf.for
// CHECK:           %[[GATE:.*]] = vector.load %{{.*}}[%{{.*}}, %c0] : memref<?x16xbf16>, vector<8xbf16>
// CHECK:           arith.extf
// CHECK:           %[[UP:.*]] = vector.load %{{.*}}[%{{.*}}, %c8] : memref<?x16xbf16>, vector<8xbf16>
// CHECK:           arith.extf
// CHECK:           arith.cmpf ogt
// CHECK-NEXT:      arith.select
// CHECK:           math.exp
// CHECK:           arith.cmpf ogt
// CHECK-NEXT:      arith.select
// CHECK-NEXT:      arith.cmpf olt
// CHECK-NEXT:      arith.select
// CHECK-COUNT-1:   arith.truncf {{.*}} vector<8xf32> to vector<8xbf16>
// CHECK:           vector.store
func.func @swiglu(%h: memref<?x16xbf16>, %a: memref<?x8xbf16>) {
  moe.activation ins(%h : memref<?x16xbf16>) outs(%a : memref<?x8xbf16>)
      {activation = #moe.activation<swiglu, limit = 7.0 : f32>}
  return
}

// CHECK-LABEL: func.func @interleaved
// CHECK:         %[[BOTH:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK:         vector.deinterleave %[[BOTH]]
func.func @interleaved(%h: memref<?x16xf32>, %a: memref<?x8xf32>) {
  moe.activation ins(%h : memref<?x16xf32>) outs(%a : memref<?x8xf32>)
      {activation = #moe.activation<swigluoai, layout = interleaved>}
  return
}

// CHECK-LABEL: func.func @situ
// CHECK-COUNT-2: math.tanh
func.func @situ(%h: memref<?x16xf32>, %a: memref<?x8xf32>) {
  moe.activation ins(%h : memref<?x16xf32>) outs(%a : memref<?x8xf32>)
      {activation = #moe.activation<situ>}
  return
}

// Columns that are no neighbours in memory go through copies, and back.
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[H:[^:]*]]: memref<4x16xf32, strided<[1, 4]>>, %[[A:[^:]*]]: memref<4x16xf32, strided<[1, 4]>>
// CHECK:         %[[HC:.*]] = memref.alloc() {{.*}} : memref<4x16xf32>
// CHECK:         memref.copy %[[H]], %[[HC]]
// CHECK:         %[[AC:.*]] = memref.alloc() {{.*}} : memref<4x16xf32>
// CHECK:         memref.copy %[[A]], %[[AC]]
// CHECK:         vector.load %[[HC]]
// CHECK:         vector.store %{{.*}}, %[[AC]]
// CHECK:         memref.copy %[[AC]], %[[A]]
// CHECK-DAG:     memref.dealloc %[[HC]]
// CHECK-DAG:     memref.dealloc %[[AC]]
func.func @strided(%h: memref<4x16xf32, strided<[1, 4]>>,
                   %a: memref<4x16xf32, strided<[1, 4]>>) {
  moe.activation ins(%h : memref<4x16xf32, strided<[1, 4]>>)
      outs(%a : memref<4x16xf32, strided<[1, 4]>>)
      {activation = #moe.activation<silu>}
  return
}
