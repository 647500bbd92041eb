// What cannot be executed is an error at the op, never a crash.
//
// RUN: not moe-run %s --function=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not moe-run %s --function=branches 2>&1 | FileCheck %s --check-prefix=BRANCHES
// RUN: not moe-run %s --function=recursion 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: not moe-run %s --function=zero 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not moe-run %s --function=affine_zero 2>&1 | FileCheck %s --check-prefix=AFFINE
// RUN: not moe-run %s --function=overflow 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not moe-run %s --function=huge 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not moe-run %s --function=negative 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not moe-run %s --function=cast 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not moe-run %s --function=slice 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not moe-run %s --function=extract 2>&1 | FileCheck %s --check-prefix=EXTRACT
// RUN: not moe-run %s --function=tokens 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not moe-run %s --function=table_too_small 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not moe-run %s --function=weights 2>&1 | FileCheck %s --check-prefix=WEIGHTS

// UNKNOWN: errors.mlir:[[#@LINE+3]]:{{.*}}: error: 'tensor.pad' op is not executed by the reference
func.func @unknown(%x: tensor<2xf32>) -> tensor<3xf32> {
  %f = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<2xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}

// BRANCHES: error: 'func.func' op requires a body of one block, but got 2
func.func @branches() {
  cf.br ^bb1
^bb1:
  return
}

// RECURSION: error: 'func.call' op calls @recursion, which is still running: recursion cannot end here; unroll it
func.func @recursion() {
  call @recursion() : () -> ()
  return
}

// ZERO: errors.mlir:[[#@LINE+3]]:{{.*}}: error: 'arith.divui' op divides by zero
func.func @zero() -> index {
  %c0 = arith.constant 0 : index
  %0 = arith.divui %c0, %c0 : index
  return %0 : index
}

// AFFINE: error: 'affine.apply' op divides by zero or overflows in this run
func.func @affine_zero() -> index {
  %c0 = arith.constant 0 : index
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%c0)[%c0]
  return %0 : index
}

// OVERFLOW: error: 'arith.muli' op overflows the index type
func.func @overflow() -> index {
  %c = arith.constant 9223372036854775807 : index
  %0 = arith.muli %c, %c : index
  return %0 : index
}

// HUGE: error: 'tensor.empty' op an array of 9223372036854775807x0x64xf32 does not fit the memory of this machine
func.func @huge() -> tensor<?x0x64xf32> {
  %c = arith.constant 9223372036854775807 : index
  %0 = tensor.empty(%c) : tensor<?x0x64xf32>
  return %0 : tensor<?x0x64xf32>
}

// NEGATIVE: error: 'tensor.empty' op an array of -1x64xf32 has a negative extent
func.func @negative() -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.subi %c0, %c1 : index
  %0 = tensor.empty(%c) : tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CAST: errors.mlir:[[#@LINE+4]]:{{.*}}: error: requires a value of type 'tensor<3xf32>', but got 2xf32 in this run
func.func @cast() -> tensor<3xf32> {
  %c2 = arith.constant 2 : index
  %0 = tensor.empty(%c2) : tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<3xf32>
  return %1 : tensor<3xf32>
}

// SLICE: error: 'tensor.extract_slice' op requires a slice inside 4xf32, but got offset 9223372036854775807, size 2 and stride 2 in dimension 0
func.func @slice() -> tensor<2xf32> {
  %c = arith.constant 9223372036854775807 : index
  %0 = tensor.empty() : tensor<4xf32>
  %1 = tensor.extract_slice %0[%c] [2] [2] : tensor<4xf32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}

// EXTRACT: error: 'tensor.extract' op requires index 0 to lie in 4xf32, but got 4
func.func @extract() -> f32 {
  %c4 = arith.constant 4 : index
  %0 = tensor.empty() : tensor<4xf32>
  %1 = tensor.extract %0[%c4] : tensor<4xf32>
  return %1 : f32
}

// A constraint of the verifier, on extents that only the run knows.
// TOKENS: errors.mlir:[[#@LINE+7]]:{{.*}}: error: 'moe.gate' op requires dimension 0 of logits to be T = 2, but got 3 (C3)
func.func @tokens() -> tensor<?x1xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = tensor.empty(%c2) : tensor<?x1xf32>
  %w = tensor.empty() : tensor<1x1xf32>
  %l = tensor.empty(%c3) : tensor<?x1xf32>
  %0 = moe.gate ins(%x, %w : tensor<?x1xf32>, tensor<1x1xf32>) outs(%l : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// TABLE: error: 'moe.align' op requires sorted_rows to hold at least 8 rows for 2 flat rows, 9 experts and block 4, but got 7 (C6)
func.func @table_too_small() -> tensor<?xi32> {
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %ids = arith.constant dense<0> : tensor<2x1xi32>
  %0 = tensor.empty(%c7) : tensor<?xi32>
  %1 = tensor.empty(%c2) : tensor<?xi32>
  %2 = tensor.empty() : tensor<1xi32>
  %3 = tensor.empty() : tensor<9xi32>
  %r:4 = moe.align ins(%ids : tensor<2x1xi32>) outs(%0, %1, %2, %3 : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<9xi32>) {experts = 9, block = 4} -> tensor<?xi32>, tensor<?xi32>, tensor<1xi32>, tensor<9xi32>
  return %r#0 : tensor<?xi32>
}

// WEIGHTS: error: 'moe.grouped_gemm' op requires {{.*}} (C8)
func.func @weights() -> tensor<?x1xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = tensor.empty(%c4) : tensor<?x1xf32>
  %b = tensor.empty() : tensor<1x1x1xf32>
  %table = tensor.empty() : tensor<4xi32>
  %tiles = tensor.empty() : tensor<4xi32>
  %padded = tensor.empty() : tensor<1xi32>
  %w = tensor.empty(%c1) : tensor<?x2xf32>
  %c = tensor.empty(%c4) : tensor<?x1xf32>
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x1xf32>, tensor<1x1x1xf32>) rows(%table, %tiles, %padded : tensor<4xi32>, tensor<4xi32>, tensor<1xi32>) weights(%w : tensor<?x2xf32>) outs(%c : tensor<?x1xf32>) {grouping = #moe.grouping<aligned>, top_k = 2, block = 1, a_order = #moe.row_order<sorted>, weight = #moe.weight<output>} -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}
