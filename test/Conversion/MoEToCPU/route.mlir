// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu),canonicalize,cse)' | FileCheck %s

// Scores in f64, rounded once; no groups, so no group is ranked.

// CHECK-LABEL: func.func @softmax
// CHECK-NOT:     memref<1xf32>
// CHECK:         scf.for
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:           math.exp %{{.*}} : f64
// CHECK:           arith.divf %{{.*}} : f64
// CHECK:           arith.truncf %{{.*}} : f64 to f32
// CHECK:           memref.store %{{.*}} : memref<?x2xi32>
// CHECK:           memref.store %{{.*}} : memref<?x2xf32>
// CHECK:           arith.divf %{{.*}} : f32
func.func @softmax(%l: memref<?x8xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  moe.route ins(%l : memref<?x8xf32>) outs(%w, %i : memref<?x2xf32>, memref<?x2xi32>)
      {renormalize}
  return
}

// The bias joins the key, not the score; groups are ranked before experts.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME:    %{{[^:]*}}: memref<?x8xf32>, %[[BIAS:[^:]*]]: memref<8xf32>
// CHECK:         math.exp %{{.*}} : f64
// CHECK:         %[[B:.*]] = memref.load %[[BIAS]]
// CHECK:         %[[KEY:.*]] = arith.addf %{{.*}}, %[[B]] : f32
// CHECK:         arith.cmpf ord, %[[B]], %[[B]]
// CHECK:         memref.store %[[KEY]]
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, index)
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (index, f32)
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (index, f32)
func.func @grouped(%l: memref<?x8xf32>, %b: memref<8xf32>, %w: memref<?x2xf32>,
                   %i: memref<?x2xi32>) {
  moe.route ins(%l : memref<?x8xf32>) bias(%b : memref<8xf32>)
      outs(%w, %i : memref<?x2xf32>, memref<?x2xi32>)
      {score = #moe.score<sigmoid>, groups = 4, keep_groups = 2,
       group_rank = #moe.group_rank<top2_sum>}
  return
}

// A token id outside the table reads nothing of it.
// CHECK-LABEL: func.func @table
// CHECK-SAME:    %{{[^:]*}}: memref<?x8xf32>, %[[TOKENS:[^:]*]]: memref<?xi32>, %[[TABLE:[^:]*]]: memref<100x2xi32>
// CHECK:         memref.load %[[TOKENS]]
// CHECK:         %[[KNOWN:.*]] = arith.cmpi ult, %{{.*}}, %c100
// CHECK-NEXT:    scf.if %[[KNOWN]]
// CHECK:           memref.load %[[TABLE]]
// CHECK:         } else {
// CHECK:           memref.store %c-1_i32
func.func @table(%l: memref<?x8xf32>, %t: memref<?xi32>, %h: memref<100x2xi32>,
                 %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  moe.route ins(%l : memref<?x8xf32>)
      table(%t, %h : memref<?xi32>, memref<100x2xi32>)
      outs(%w, %i : memref<?x2xf32>, memref<?x2xi32>)
      {score = #moe.score<sqrt_softplus>}
  return
}

// CHECK-LABEL: func.func @sparsemixer
// CHECK:         arith.cmpf ule
// CHECK-NEXT:    arith.subf
// CHECK-NEXT:    math.exp
func.func @sparsemixer(%l: memref<?x8xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>) {
  moe.route ins(%l : memref<?x8xf32>) outs(%w, %i : memref<?x2xf32>, memref<?x2xi32>)
      {score = #moe.score<sparsemixer>}
  return
}
