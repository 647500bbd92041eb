// Extents that types leave open and that contradict each other are an error
// before anything runs, not a result that is partly NaN.
//
// RUN: not moe-run %s --function=gemm --tokens=4 --device=cpu 2>&1 | FileCheck %s --check-prefix=GEMM
// RUN: not moe-run %s --function=gemm --tokens=4 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: moe-run %s --function=twice --tokens=4 --device=cpu --compare=reference | FileCheck %s --check-prefix=TWICE
// RUN: moe-run %s --function=two_sizes --tokens=4 --save-inputs=%t --device=cpu --compare=reference | FileCheck %s --check-prefix=SIZES
// RUN: not moe-run %s --function=two_sizes --tokens=8 --input=0:%t/0.npy 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not moe-run %s --function=two_sizes --tokens=8 --inputs=%t 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: moe-run %s --function=two_sizes --tokens=4 --inputs=%t --device=cpu | FileCheck %s --check-prefix=FILES

// GEMM: contradictions.mlir:[[#@LINE+8]]:{{.*}}: error: 'moe.grouped_gemm' op requires extent 0 of operand 3, 'tensor<?x4xf32>', to be 8 at run time, but it is 4
// GEMM: contradictions.mlir:[[#@LINE+6]]:{{.*}}: note: made here
// GEMM-NOT: NaN
// REFERENCE: (C5)
func.func @gemm(%x: tensor<?x8xf32>, %b: tensor<2x4x8xf32>, %ids: tensor<?x2xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %c = tensor.empty(%t) : tensor<?x4xf32>
  %h = moe.grouped_gemm ins(%x, %b : tensor<?x8xf32>, tensor<2x4x8xf32>) rows(%ids : tensor<?x2xi32>) outs(%c : tensor<?x4xf32>) {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x4xf32>
  return %h : tensor<?x4xf32>
}

// A function called with two sizes contradicts nothing.
// TWICE: 0 4x8xf32 {{.*}} agrees
// TWICE: 1 2x8xf32 {{.*}} agrees
func.func private @silu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}
func.func @twice(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %dx = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  %dy = tensor.cast %y : tensor<2x8xf32> to tensor<?x8xf32>
  %a = call @silu(%dx) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = call @silu(%dy) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
}

// Nor do two ops over different numbers of rows. T is what the gate says, and
// --tokens may not say another.
// SIZES: 0 4x2xf32 {{.*}} agrees
// SIZES: 1 8x8xf32 {{.*}} agrees
// FILES: 0 4x2xf32
// TOKENS: moe-run: error: --tokens=8, but the arrays from files have 4 tokens; leave --tokens out
func.func @two_sizes(%x: tensor<?x8xf32>, %w: tensor<2x8xf32>, %h: tensor<8x16xf32>) -> (tensor<?x2xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x2xf32>
  %l = moe.gate ins(%x, %w : tensor<?x8xf32>, tensor<2x8xf32>) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  %a = moe.activation ins(%h : tensor<8x16xf32>) outs(%f : tensor<8x8xf32>) {activation = #moe.activation<swiglu>} -> tensor<8x8xf32>
  return %l, %a : tensor<?x2xf32>, tensor<8x8xf32>
}

// Any arithmetic on sizes is carried out, not only what has a rule of its own.
// RUN: not moe-run %s --function=shifted --tokens=4 --device=cpu 2>&1 | FileCheck %s --check-prefix=SHIFTED
// SHIFTED: error: 'moe.activation' op requires extent 0 of operand 1, 'tensor<?x8xf32>', to be 4 at run time, but it is 2
func.func @shifted(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %half = arith.shrui %t, %c1 : index
  %c = tensor.empty(%half) : tensor<?x8xf32>
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%c : tensor<?x8xf32>) {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}

// RUN: not moe-run %s --function=least --tokens=4 --device=cpu 2>&1 | FileCheck %s --check-prefix=LEAST
// LEAST: error: 'moe.activation' op requires extent 0 of operand 1, 'tensor<?x8xf32>', to be 4 at run time, but it is 3
func.func @least(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %some = affine.min affine_map<(d0) -> (d0, 3)>(%t)
  %small = arith.cmpi slt, %some, %c2 : index
  %n = arith.select %small, %c2, %some : index
  %c = tensor.empty(%n) : tensor<?x8xf32>
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%c : tensor<?x8xf32>) {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}
