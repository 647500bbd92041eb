// Fusing removes only roundings of intermediates: with f32 intermediates the
// fused layer is the plain one, bit for bit.
//
// RUN: moe-run %s --function=plain --tokens=9 --inputs=seed:3 --outputs=%t.plain
// RUN: moe-run %s --function=fused --tokens=9 --inputs=seed:3 --outputs=%t.fused
// RUN: cmp %t.plain/0.npy %t.fused/0.npy

func.func @plain(%x: tensor<?x32xf32>, %wg: tensor<6x32xf32>, %w13: tensor<6x40x32xf32>, %w2: tensor<6x32x20xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xf32>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x6xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x32xf32>, tensor<6x32xf32>) outs(%l0 : tensor<?x6xf32>) -> tensor<?x6xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %w, %i = moe.route ins(%l : tensor<?x6xf32>) outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>) {renormalize} -> tensor<?x2xf32>, tensor<?x2xi32>
  %h0 = tensor.empty(%r) : tensor<?x40xf32>
  %h = moe.grouped_gemm ins(%x, %w13 : tensor<?x32xf32>, tensor<6x40x32xf32>) rows(%i : tensor<?x2xi32>) outs(%h0 : tensor<?x40xf32>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x40xf32>
  %a0 = tensor.empty(%r) : tensor<?x20xf32>
  %a = moe.activation ins(%h : tensor<?x40xf32>) outs(%a0 : tensor<?x20xf32>) {activation = #moe.activation<swiglu>} -> tensor<?x20xf32>
  %y0 = tensor.empty(%r) : tensor<?x32xf32>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x20xf32>, tensor<6x32x20xf32>) rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x32xf32>) {grouping = #moe.grouping<ids>} -> tensor<?x32xf32>
  %o0 = tensor.empty(%t) : tensor<?x32xf32>
  %o = moe.combine ins(%y, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o0 : tensor<?x32xf32>) {experts = 6} -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}

// Gather, activation and router weight inside the GEMMs, over a row table.
func.func @fused(%x: tensor<?x32xf32>, %wg: tensor<6x32xf32>, %w13: tensor<6x40x32xf32>, %w2: tensor<6x32x20xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xf32>
  %r = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%t]
  %p = affine.apply affine_map<()[s0] -> ((s0 * 2 + 6 * 3) ceildiv 4 * 4)>()[%t]
  %b = affine.apply affine_map<()[s0] -> ((s0 * 2 + 6 * 3) ceildiv 4)>()[%t]
  %l0 = tensor.empty(%t) : tensor<?x6xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x32xf32>, tensor<6x32xf32>) outs(%l0 : tensor<?x6xf32>) -> tensor<?x6xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %w, %i = moe.route ins(%l : tensor<?x6xf32>) outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>) {renormalize} -> tensor<?x2xf32>, tensor<?x2xi32>
  %s0 = tensor.empty(%p) : tensor<?xi32>
  %e0 = tensor.empty(%b) : tensor<?xi32>
  %n0 = tensor.empty() : tensor<1xi32>
  %k0 = tensor.empty() : tensor<6xi32>
  %s:4 = moe.align ins(%i : tensor<?x2xi32>) outs(%s0, %e0, %n0, %k0 : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<6xi32>) {experts = 6, block = 4} -> tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<6xi32>
  %a0 = tensor.empty(%p) : tensor<?x20xf32>
  %a = moe.grouped_gemm ins(%x, %w13 : tensor<?x32xf32>, tensor<6x40x32xf32>) rows(%s#0, %s#1, %s#2 : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>) outs(%a0 : tensor<?x20xf32>) {grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, top_k = 2, block = 4, c_order = #moe.row_order<sorted>, activation = #moe.activation<swiglu>} -> tensor<?x20xf32>
  %y0 = tensor.empty(%r) : tensor<?x32xf32>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x20xf32>, tensor<6x32x20xf32>) rows(%s#0, %s#1, %s#2 : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>) weights(%w : tensor<?x2xf32>) outs(%y0 : tensor<?x32xf32>) {grouping = #moe.grouping<aligned>, top_k = 2, block = 4, a_order = #moe.row_order<sorted>, weight = #moe.weight<output>} -> tensor<?x32xf32>
  %o0 = tensor.empty(%t) : tensor<?x32xf32>
  %o = moe.combine ins(%y, %w, %i : tensor<?x32xf32>, tensor<?x2xf32>, tensor<?x2xi32>) outs(%o0 : tensor<?x32xf32>) {experts = 6, weighted = false} -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}
