// RUN: %python %S/batch.py %s | FileCheck %s
// RUN: sed -e 's/nk>/kn>/' -e 's/8x20x40xf32/8x40x20xf32/' %s > %t.mlir
// RUN: sed -e 's/8, 20, 40/8, 40, 20/' %S/batch.py > %t.py
// RUN: %python %t.py %t.mlir | FileCheck %s

// The order of a sum depends on K alone, in both layouts of b.

// CHECK: 1 of 501 tokens: equal
// CHECK: 2 of 501 tokens: equal
// CHECK: 5 of 501 tokens: equal
// CHECK: 64 of 501 tokens: equal

func.func @layer(%x: tensor<?x40xf32>, %wg: tensor<8x40xf32>,
                 %w13: tensor<8x20x40xf32>, %w2: tensor<8x40x10xf32>) -> tensor<?x40xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x40xf32>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x8xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x40xf32>, tensor<8x40xf32>)
      outs(%l0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %w, %i = moe.route ins(%l : tensor<?x8xf32>)
      outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
      -> tensor<?x2xf32>, tensor<?x2xi32>
  %a0 = tensor.empty(%r) : tensor<?x10xf32>
  %a = moe.grouped_gemm ins(%x, %w13 : tensor<?x40xf32>, tensor<8x20x40xf32>)
      rows(%i : tensor<?x2xi32>) outs(%a0 : tensor<?x10xf32>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       b_layout = #moe.b_layout<nk>, activation = #moe.activation<swiglu>}
      -> tensor<?x10xf32>
  %y0 = tensor.empty(%r) : tensor<?x40xf32>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x10xf32>, tensor<8x40x10xf32>)
      rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x40xf32>)
      {grouping = #moe.grouping<ids>} -> tensor<?x40xf32>
  %o0 = tensor.empty(%t) : tensor<?x40xf32>
  %o = moe.combine ins(%y, %w, %i : tensor<?x40xf32>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x40xf32>) {experts = 8} -> tensor<?x40xf32>
  return %o : tensor<?x40xf32>
}
