// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels{arch=sm_80})' | FileCheck %s

// CHECK-DAG: #[[QUARTER:.*]] = affine_map<()[s0] -> (s0 ceildiv 4)>
// CHECK: module attributes {gpu.container_module}

// Launches stand where the ops stood; ops of other dialects stay. A parameter
// is a memref's pointer or an i32 extent, operand i is parameter i.
// CHECK-LABEL: func @layer
// CHECK:         %[[T:.*]] = memref.dim %[[X:.*]], %
// CHECK:         %[[T32:.*]] = arith.index_cast %[[T]] : index to i32
// CHECK:         %[[GRID:.*]] = affine.apply #[[QUARTER]]()[%[[T]]]
// CHECK:         gpu.launch_func @moe_kernels::@layer_0_gate
// CHECK-SAME:      blocks in (%[[GRID]],
// CHECK-SAME:      args(%[[X]] : memref<?x64xbf16>, %{{.*}} : memref<8x64xbf16>, %{{.*}} : memref<?x8xf32>, %[[T32]] : i32)
// CHECK-NOT:     gpu.launch_func
// CHECK:         linalg.copy
// CHECK:         gpu.launch_func @moe_kernels::@layer_1_activation
// CHECK-NOT:     moe.activation
// CHECK:         return
func.func @layer(%x: memref<?x64xbf16>, %w: memref<8x64xbf16>, %l: memref<?x8xf32>,
                 %m: memref<?x8xf32>, %h: memref<?x32xf32>, %a: memref<?x16xf32>) {
  moe.gate ins(%x, %w : memref<?x64xbf16>, memref<8x64xbf16>) outs(%l : memref<?x8xf32>)
  linalg.copy ins(%l : memref<?x8xf32>) outs(%m : memref<?x8xf32>)
  moe.activation ins(%h : memref<?x32xf32>) outs(%a : memref<?x16xf32>)
    {activation = #moe.activation<swiglu>}
  return
}

// A second function shares the module; what PTX does not take in a name is
// replaced.
// CHECK-LABEL: func @"my-layer"
// CHECK:         gpu.launch_func @moe_kernels::@my_layer_0_activation
func.func @"my-layer"(%h: memref<4x32xf32>, %a: memref<4x16xf32>) {
  moe.activation ins(%h : memref<4x32xf32>) outs(%a : memref<4x16xf32>)
    {activation = #moe.activation<swiglu>}
  return
}

// CHECK:     gpu.module @moe_kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">]
// CHECK:     llvm.func @layer_0_gate(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32)
// CHECK-SAME:  gpu.kernel
// CHECK-SAME:  moe.kernel_info = #moe.kernel_info<params = ["x: memref<?x64xbf16>", "weight: memref<8x64xbf16>", "logits: memref<?x8xf32>", "T: i32"], grid = "(T ceildiv 4, 2, 1)", block = 32, shared = 0>
// CHECK-SAME:  nvvm.kernel
// CHECK-SAME:  nvvm.reqntid = array<i32: 32>
// CHECK:     llvm.func @layer_1_activation
// CHECK:     llvm.func @my_layer_0_activation
// CHECK-NOT: gpu.module
