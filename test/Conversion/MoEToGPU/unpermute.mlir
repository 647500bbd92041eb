// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// The last place that names a row wins whatever the order of threads: a
// maximum decides, then only the winner copies.
// CHECK-LABEL: func @unpermute
// CHECK:         memref.alloc
// CHECK:         gpu.launch_func @moe_kernels::@unpermute_0_unpermute_clear
// CHECK:         gpu.launch_func @moe_kernels::@unpermute_1_unpermute_winner
// CHECK:         gpu.launch_func @moe_kernels::@unpermute_2_unpermute_copy
func.func @unpermute(%rows: memref<?x64xbf16>, %source: memref<?xi32>, %y: memref<?x64xbf16>) {
  moe.unpermute ins(%rows, %source : memref<?x64xbf16>, memref<?xi32>) outs(%y : memref<?x64xbf16>)
  return
}

// CHECK:     llvm.func @unpermute_1_unpermute_winner
// CHECK:       llvm.atomicrmw max %{{.*}}, %{{.*}} syncscope("device") monotonic
// Bits travel as they are: no conversion through f32.
// CHECK:     llvm.func @unpermute_2_unpermute_copy
// CHECK-NOT:   arith.extf
// CHECK:       llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xi16>
// CHECK-NOT:   arith.truncf
