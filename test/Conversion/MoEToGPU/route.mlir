// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// Scores are evaluated in f64 and rounded once; no library function is called.
// CHECK:     llvm.func @route_0_route
// CHECK:       arith.extf %{{.*}} : f32 to f64
// CHECK:       llvm.intr.fma{{.*}} : (f64, f64, f64) -> f64
// CHECK:       arith.truncf %{{.*}} : f64 to f32
// CHECK-NOT:   llvm.call
// CHECK-NOT:   math.
func.func @route(%l: memref<?x64xf32>, %w: memref<?x4xf32>, %i: memref<?x4xi32>) {
  moe.route ins(%l : memref<?x64xf32>) outs(%w, %i : memref<?x4xf32>, memref<?x4xi32>) {renormalize}
  return
}

// A warp's part of shared memory shrinks the block where E is large: the
// largest router takes exactly the static 48 KB.
// CHECK:     llvm.mlir.global internal @large_0_route_keys() {{.*}}: !llvm.array<4096 x i32>
// CHECK:     llvm.mlir.global internal @large_0_route_chosen() {{.*}}: !llvm.array<4096 x i32>
// CHECK:     llvm.mlir.global internal @large_0_route_slot_weights() {{.*}}: !llvm.array<4096 x f32>
// CHECK:     llvm.func @large_0_route
// CHECK-SAME:  nvvm.reqntid = array<i32: 32>
func.func @large(%l: memref<?x4096xf32>, %w: memref<?x4096xf32>, %i: memref<?x4096xi32>) {
  moe.route ins(%l : memref<?x4096xf32>) outs(%w, %i : memref<?x4096xf32>, memref<?x4096xi32>)
  return
}
