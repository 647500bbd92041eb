// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu{vector-bits=512}),canonicalize,cse)' | FileCheck %s

// By ids: rows are sorted by expert, gathered through the sort, multiplied
// where b lies (f32 needs no copy of it) and stored to their flat row.

// CHECK-LABEL: func.func @ids
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x32xf32>, %[[B:[^:]*]]: memref<4x8x32xf32>, %[[IDS:[^:]*]]: memref<?x2xi32>, %[[C:[^:]*]]: memref<?x8xf32>
// CHECK:         memref.alloc(%{{.*}}) {{.*}} : memref<?xindex>
// CHECK:         %[[ORDER:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xindex>
// CHECK:         memref.load %[[IDS]]
// CHECK:         scf.for %[[E:.*]] = %c0 to %c4 step %c1 {
// CHECK:           %[[ROW:.*]] = memref.load %[[ORDER]]
// CHECK:           %[[TOKEN:.*]] = arith.divui %[[ROW]], %c2
// CHECK:           vector.load %[[A]][%[[TOKEN]],
// CHECK:           memref.prefetch %[[B]][%[[E]]
// CHECK:           vector.load %[[B]][%[[E]], {{.*}} vector<16xf32>
// CHECK-COUNT-24:  vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           scf.yield
// CHECK:           vector.store %{{.*}}, %[[C]]
func.func @ids(%a: memref<?x32xf32>, %b: memref<4x8x32xf32>, %i: memref<?x2xi32>,
               %c: memref<?x8xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<?x32xf32>, memref<4x8x32xf32>)
      rows(%i : memref<?x2xi32>) outs(%c : memref<?x8xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>}
  return
}

// b contiguous along n: vectors along n and a broadcast of a. The router weight
// and the activation are the epilogue.

// CHECK-LABEL: func.func @kn
// CHECK-SAME:    memref<?x8xbf16>, %[[B:[^:]*]]: memref<2x8x64xbf16>
// CHECK:         vector.load %[[B]]{{.*}} vector<16xbf16>
// CHECK:         vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:         vector.fma
// CHECK:         math.exp
// CHECK:         arith.mulf
// CHECK:         arith.truncf
// CHECK-NEXT:    vector.store
func.func @kn(%a: memref<?x8xbf16>, %b: memref<2x8x64xbf16>, %s: memref<2xi32>,
              %w: memref<?xf32>, %c: memref<?x32xbf16>) {
  moe.grouped_gemm ins(%a, %b : memref<?x8xbf16>, memref<2x8x64xbf16>)
      rows(%s : memref<2xi32>) weights(%w : memref<?xf32>)
      outs(%c : memref<?x32xbf16>)
      {grouping = #moe.grouping<sizes>, b_layout = #moe.b_layout<kn>,
       weight = #moe.weight<output>, activation = #moe.activation<swiglu>}
  return
}

// The row table is clamped to its extent, its experts to E, its rows to the
// rows of a and c: nothing in it reads or writes elsewhere.

// CHECK-LABEL: func.func @aligned
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x32xf32>, %{{[^:]*}}: memref<4x8x32xf32>, %[[SORTED:[^:]*]]: memref<?xi32>, %[[TILES:[^:]*]]: memref<?xi32>, %[[PADDED:[^:]*]]: memref<1xi32>
// CHECK:         memref.load %[[PADDED]]
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         %[[TILE:.*]] = memref.load %[[TILES]]
// CHECK:         %[[ROW:.*]] = memref.load %[[SORTED]]
// CHECK:         arith.cmpi ult, %{{.*}}, %c4
// CHECK:         arith.cmpi ult
// CHECK:         arith.andi
func.func @aligned(%a: memref<?x32xf32>, %b: memref<4x8x32xf32>, %s: memref<?xi32>,
                   %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<?x8xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<?x32xf32>, memref<4x8x32xf32>)
      rows(%s, %t, %p : memref<?xi32>, memref<?xi32>, memref<1xi32>)
      outs(%c : memref<?x8xf32>)
      {grouping = #moe.grouping<aligned>, top_k = 2, block = 16}
  return
}

// Runs of k: the ends are masked, because neighbours belong to other experts.

// CHECK-LABEL: func.func @k_grouped
// CHECK:         vector.create_mask
// CHECK:         vector.maskedload
// CHECK:         vector.fma
func.func @k_grouped(%a: memref<3x?xf32>, %b: memref<5x?xf32>, %o: memref<4xi32>,
                     %c: memref<4x3x5xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<3x?xf32>, memref<5x?xf32>)
      rows(%o : memref<4xi32>) outs(%c : memref<4x3x5xf32>)
      {grouping = #moe.grouping<k_grouped>}
  return
}
