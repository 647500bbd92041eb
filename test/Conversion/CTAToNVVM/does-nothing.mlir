// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(convert-cta-to-nvvm))' | FileCheck %s

// Without cta ops nothing changes, and no shared memory appears.

// CHECK-LABEL: gpu.module @m {
// CHECK-NEXT: llvm.func @f(%[[A:.*]]: i32) -> i32 {
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[A]], %[[A]] : i32
// CHECK-NEXT: llvm.return %[[S]] : i32
gpu.module @m {
  llvm.func @f(%a: i32) -> i32 {
    %s = arith.addi %a, %a : i32
    llvm.return %s : i32
  }
}
