// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-fuse)' --verify-diagnostics -o /dev/null
// RUN: moe-run %s --function=fewer --tokens=2 2>&1 | FileCheck %s

// CHECK: warning: 'moe.combine' op counts 8 experts, but y has the rows of 16

#ids = #moe.grouping<ids>

// Slots of the experts 8 to 15 would be missing from the sum in silence.
func.func @fewer(%a: tensor<?x64xf32>, %b: tensor<16x32x64xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %y: tensor<?x32xf32>, %o: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // expected-note @below {{the GEMM is here}}
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xf32>, tensor<16x32x64xf32>) rows(%i : tensor<?x2xi32>) outs(%y : tensor<?x32xf32>) {grouping = #ids} -> tensor<?x32xf32>
  // expected-warning @below {{'moe.combine' op counts 8 experts, but y has the rows of 16: slots of experts 8 and up are left out; write experts = 16 unless that is meant}}
  %1 = moe.combine ins(%0, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x32xf32>) {experts = 8} -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

func.func @more_through_unpermute(%x: tensor<?x64xf32>, %n: tensor<4xi32>, %s: tensor<?xi32>, %b: tensor<4x32x64xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %c: tensor<?x32xf32>, %y: tensor<?x32xf32>, %o: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // expected-note @below {{the GEMM is here}}
  %0 = moe.grouped_gemm ins(%x, %b : tensor<?x64xf32>, tensor<4x32x64xf32>) rows(%n : tensor<4xi32>) outs(%c : tensor<?x32xf32>) {grouping = #moe.grouping<sizes>} -> tensor<?x32xf32>
  %1 = moe.unpermute ins(%0, %s : tensor<?x32xf32>, tensor<?xi32>) outs(%y : tensor<?x32xf32>) -> tensor<?x32xf32>
  // expected-warning @below {{counts 8 experts, but y has the rows of 4: slots of experts 4 and up read rows that the GEMM does not write}}
  %2 = moe.combine ins(%1, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x32xf32>) {experts = 8} -> tensor<?x32xf32>
  return %2 : tensor<?x32xf32>
}

// Equal numbers, a shard, and rows that come from elsewhere are as they should be.
func.func @fine(%a: tensor<?x64xf32>, %b: tensor<8x32x64xf32>, %map: tensor<16xi32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %y: tensor<?x32xf32>, %o: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x64xf32>, tensor<8x32x64xf32>) rows(%i : tensor<?x2xi32>) outs(%y : tensor<?x32xf32>) {grouping = #ids} -> tensor<?x32xf32>
  %1 = moe.combine ins(%0, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x32xf32>) {experts = 8} -> tensor<?x32xf32>
  %2 = moe.combine ins(%0, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) expert_map(%map : tensor<16xi32>) outs(%o : tensor<?x32xf32>) {experts = 4} -> tensor<?x32xf32>
  %3 = moe.combine ins(%y, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o : tensor<?x32xf32>) {experts = 4} -> tensor<?x32xf32>
  return %1, %2, %3 : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}
