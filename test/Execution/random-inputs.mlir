// The random inputs take their range from the ops, and Python makes the same.
//
// RUN: moe-run %s --tokens=37 --inputs=seed:12345678901 --save-inputs=%t --json > %t.json
// RUN: %python %S/random-inputs.py %t.json %t 12345678901 | FileCheck %s
// RUN: moe-run %s --tokens=37 --inputs=%t --outputs=%t.again
// RUN: moe-run %s --tokens=37 --inputs=seed:12345678901 --outputs=%t.first
// RUN: cmp %t.again/3.npy %t.first/3.npy

// CHECK: 0: 37x16xbf16 uniform: identical
// CHECK: 1: 4x24x16xbf16 weight 16: identical
// An id may be any of the 9 global experts of the map, or of 2 identity experts.
// CHECK: 2: 37x3xi32 ids 11: identical
// CHECK: 3: 9xi32 expert_map 4: identical
// CHECK: 4: 37x3xf32 uniform: identical
// CHECK: 5: 8x16xf16 weight 16: identical
// CHECK: 6: 37xi32 below 50: identical
// CHECK: 7: 50x2xi32 ids 8: identical
// CHECK: 8: 5xi32 end_offsets 37: identical
// CHECK: 9: 5xi32 sizes 37: identical
// CHECK: 10: 5x7x16xf32 uniform: identical
// CHECK: 11: 5xi32 counts 7: identical
// CHECK: 12: 5x8x16xf32 weight 16: identical
// CHECK: 13: 37xi32 permutation 0: identical
// CHECK: 14: i64 value 37: identical
// CHECK: 15: 37x16xf64 uniform: identical
// CHECK-NOT: DIFFERENT
func.func @f(%x: tensor<?x16xbf16>, %b: tensor<4x24x16xbf16>, %ids: tensor<?x3xi32>, %map: tensor<9xi32>, %w: tensor<?x3xf32>,
             %wg: tensor<8x16xf16>, %tokens: tensor<?xi32>, %table: tensor<50x2xi32>,
             %ends: tensor<5xi32>, %sizes: tensor<5xi32>, %m: tensor<5x7x16xf32>, %counts: tensor<5xi32>, %b5: tensor<5x8x16xf32>,
             %source: tensor<?xi32>, %n: index, %f64: tensor<?x16xf64>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<5x7x8xf32>, tensor<?x24xbf16>, tensor<?x2xi32>, tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = tensor.dim %x, %c0 : tensor<?x16xbf16>
  %r = arith.muli %t, %c3 : index
  %xf = arith.extf %x : tensor<?x16xbf16> to tensor<?x16xf32>
  %h0 = tensor.empty(%r) : tensor<?x24xbf16>
  %h = moe.grouped_gemm ins(%x, %b : tensor<?x16xbf16>, tensor<4x24x16xbf16>) rows(%ids : tensor<?x3xi32>) expert_map(%map : tensor<9xi32>) outs(%h0 : tensor<?x24xbf16>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x24xbf16>
  %y0 = tensor.empty(%t) : tensor<?x24xbf16>
  %x24 = tensor.empty(%t) : tensor<?x24xbf16>
  %y = moe.combine ins(%h, %w, %ids : tensor<?x24xbf16>, tensor<?x3xf32>, tensor<?x3xi32>) expert_map(%map : tensor<9xi32>) identity(%x24 : tensor<?x24xbf16>) outs(%y0 : tensor<?x24xbf16>) {experts = 4, identity_experts = 2} -> tensor<?x24xbf16>
  %l0 = tensor.empty(%t) : tensor<?x8xf32>
  %xh = arith.truncf %xf : tensor<?x16xf32> to tensor<?x16xf16>
  %l = moe.gate ins(%xh, %wg : tensor<?x16xf16>, tensor<8x16xf16>) outs(%l0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %q:2 = moe.route ins(%l : tensor<?x8xf32>) table(%tokens, %table : tensor<?xi32>, tensor<50x2xi32>) outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  %o0 = tensor.empty(%t) : tensor<?x8xf32>
  %o = moe.grouped_gemm ins(%xf, %b5 : tensor<?x16xf32>, tensor<5x8x16xf32>) rows(%ends : tensor<5xi32>) outs(%o0 : tensor<?x8xf32>) {grouping = #moe.grouping<offsets>} -> tensor<?x8xf32>
  %s = moe.grouped_gemm ins(%xf, %b5 : tensor<?x16xf32>, tensor<5x8x16xf32>) rows(%sizes : tensor<5xi32>) outs(%o0 : tensor<?x8xf32>) {grouping = #moe.grouping<sizes>} -> tensor<?x8xf32>
  %m0 = tensor.empty() : tensor<5x7x8xf32>
  %mm = moe.grouped_gemm ins(%m, %b5 : tensor<5x7x16xf32>, tensor<5x8x16xf32>) rows(%counts : tensor<5xi32>) outs(%m0 : tensor<5x7x8xf32>) {grouping = #moe.grouping<masked>} -> tensor<5x7x8xf32>
  %u0 = tensor.empty(%n) : tensor<?x16xf32>
  %u = moe.unpermute ins(%xf, %source : tensor<?x16xf32>, tensor<?xi32>) outs(%u0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %f = arith.truncf %f64 : tensor<?x16xf64> to tensor<?x16xf32>
  %u2 = moe.unpermute ins(%f, %source : tensor<?x16xf32>, tensor<?xi32>) outs(%u0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %o, %s, %mm, %y, %q#1, %u2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<5x7x8xf32>, tensor<?x24xbf16>, tensor<?x2xi32>, tensor<?x16xf32>
}
