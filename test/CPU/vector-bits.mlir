// RUN: %python %S/vector_bits.py %s nk | FileCheck %s
// RUN: sed -e 's/nk>/kn>/' -e 's/6x75x43/6x43x75/' %s > %t.mlir
// RUN: %python %S/vector_bits.py %t.mlir kn | FileCheck %s

// Neither N nor K is a multiple of anything.

// CHECK: 128 bits: agrees
// CHECK: 256 bits: agrees
// CHECK: 512 bits: agrees
// CHECK: 1024 bits: agrees

func.func @layer(%a: tensor<?x43xf32>, %b: tensor<6x75x43xf32>, %sizes: tensor<6xi32>)
    -> tensor<?x75xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %a, %c0 : tensor<?x43xf32>
  %e = tensor.empty(%r) : tensor<?x75xf32>
  %c = moe.grouped_gemm ins(%a, %b : tensor<?x43xf32>, tensor<6x75x43xf32>)
      rows(%sizes : tensor<6xi32>) outs(%e : tensor<?x75xf32>)
      {grouping = #moe.grouping<sizes>, b_layout = #moe.b_layout<nk>} -> tensor<?x75xf32>
  return %c : tensor<?x75xf32>
}
