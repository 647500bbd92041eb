// Equal kernels become one, at any distance, and what they alone named goes.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels,moe-merge-kernels)' | FileCheck %s
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels,moe-merge-kernels)' --remarks-filter='moe-kernel' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @first
// CHECK:         gpu.launch_func @moe_kernels::@first_0_activation
// CHECK:         gpu.launch_func @moe_kernels::@first_1_route
// CHECK-LABEL: func.func @second
// CHECK:         gpu.launch_func @moe_kernels::@first_0_activation
// Another activation, another type, another width: kernels of their own.
// CHECK:         gpu.launch_func @moe_kernels::@second_1_activation
// CHECK:         gpu.launch_func @moe_kernels::@second_2_activation
// CHECK:         gpu.launch_func @moe_kernels::@second_3_activation
// CHECK:         gpu.launch_func @moe_kernels::@first_1_route
// CHECK:       gpu.module @moe_kernels
// CHECK-NOT:     @second_0_activation
// CHECK-NOT:     @second_4_route

// REMARK: [Passed] merge | Category:moe-kernel | Remark="second_0_activation equals first_0_activation"
// REMARK: [Passed] merge | Category:moe-kernel | Remark="second_4_route equals first_1_route"
func.func @first(%h: memref<?x8xf32>, %a: memref<?x8xf32>, %l: memref<?x64xf32>, %w: memref<?x4xf32>, %i: memref<?x4xi32>) {
  moe.activation ins(%h : memref<?x8xf32>) outs(%a : memref<?x8xf32>) {activation = #moe.activation<silu>}
  moe.route ins(%l : memref<?x64xf32>) outs(%w, %i : memref<?x4xf32>, memref<?x4xi32>)
  return
}
func.func @second(%h: memref<?x8xf32>, %g: memref<?x8xbf16>, %n: memref<?x4xf32>, %l: memref<?x64xf32>, %w: memref<?x4xf32>, %i: memref<?x4xi32>) {
  moe.activation ins(%h : memref<?x8xf32>) outs(%h : memref<?x8xf32>) {activation = #moe.activation<silu>}
  moe.activation ins(%h : memref<?x8xf32>) outs(%h : memref<?x8xf32>) {activation = #moe.activation<gelu>}
  moe.activation ins(%g : memref<?x8xbf16>) outs(%g : memref<?x8xbf16>) {activation = #moe.activation<silu>}
  moe.activation ins(%n : memref<?x4xf32>) outs(%n : memref<?x4xf32>) {activation = #moe.activation<silu>}
  moe.route ins(%l : memref<?x64xf32>) outs(%w, %i : memref<?x4xf32>, memref<?x4xi32>)
  return
}

// Does nothing where there is no module of kernels.
// RUN: moe-opt %s --moe-merge-kernels | FileCheck %s --check-prefix=NOTHING
// NOTHING: moe.activation
