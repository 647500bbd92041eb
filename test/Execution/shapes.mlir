// Extents that --tokens does not name follow from the ops; a `?` that nothing
// determines is an error that names the argument.
//
// RUN: moe-run %s --function=backwards --tokens=6 --json | FileCheck %s --check-prefix=BACKWARDS
// RUN: moe-run %s --function=calls --tokens=5 --json | FileCheck %s --check-prefix=CALLS
// RUN: moe-run %s --function=rows --tokens=12 --json | FileCheck %s --check-prefix=ROWS
// RUN: not moe-run %s --function=open --tokens=4 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not moe-run %s --function=no_tokens 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not moe-run %s --function=integers --tokens=4 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: not moe-run %s --function=row_table --tokens=4 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not moe-run %s --function=memrefs --tokens=4 2>&1 | FileCheck %s --check-prefix=MEMREF
// RUN: not moe-run %s --function=rows --tokens=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// From T = 6 at the combine backwards to an extent that is an argument and
// through a reshape.
// BACKWARDS: "shape": [
// BACKWARDS-NEXT: 12,
// BACKWARDS-NEXT: 4
// BACKWARDS: "shape": [],
// BACKWARDS-NEXT: "role": "value"
// BACKWARDS-NEXT: "bound": 6
// BACKWARDS: "shape": [
// BACKWARDS-NEXT: 3,
// BACKWARDS-NEXT: 2,
// BACKWARDS-NEXT: 4
func.func @backwards(%y: tensor<?x4xf32>, %n: index, %half: tensor<?x2x4xf32>, %w: tensor<?x2xf32>, %ids: tensor<?x2xi32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %flat = tensor.collapse_shape %half [[0, 1], [2]] : tensor<?x2x4xf32> into tensor<?x4xf32>
  %o0 = tensor.empty(%n) : tensor<?x4xf32>
  %o = moe.combine ins(%y, %w, %ids : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xi32>) residual(%flat : tensor<?x4xf32>) outs(%o0 : tensor<?x4xf32>) {experts = 4} -> tensor<?x4xf32>
  return %o, %flat : tensor<?x4xf32>, tensor<?x4xf32>
}

// CALLS: "shape": [
// CALLS-NEXT: 5,
// CALLS-NEXT: 8
// CALLS: "role": "weight",
// CALLS-NEXT: "bound": 8
func.func private @gate(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %w3 = tensor.cast %w : tensor<?x8xf32> to tensor<3x8xf32>
  %e = tensor.empty(%t) : tensor<?x3xf32>
  %l = moe.gate ins(%x, %w3 : tensor<?x8xf32>, tensor<3x8xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %l : tensor<?x3xf32>
}
func.func @calls(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>) -> tensor<?x3xf32> {
  %l = call @gate(%x, %w) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x3xf32>
  return %l : tensor<?x3xf32>
}

// No op names T: the rows of the first op are taken for it.
// ROWS: "shape": [
// ROWS-NEXT: 12,
func.func @rows(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%r) : tensor<?x4xf32>
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x4xf32>) {activation = #moe.activation<swiglu>} -> tensor<?x4xf32>
  return %a : tensor<?x4xf32>
}

// OPEN: error: 'func.func' op leaves an extent of argument 1, 'tensor<?xf32>', open: no op ties it to the number of tokens; give the array with --input=1:FILE.npy
func.func @open(%x: tensor<2xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}

// TOKENS: error: 'func.func' op leaves an extent of argument 0, 'tensor<?x4xf32>', open; give the array with --input=0:FILE.npy, or T with --tokens
func.func @no_tokens(%l: tensor<?x4xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %r:2 = moe.route ins(%l : tensor<?x4xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>, tensor<?x2xi32>
  return %r#1 : tensor<?x2xi32>
}

// INTEGERS: error: 'func.func' op does not say which integers argument 0, 'tensor<2xi32>', may hold; give the array with --input=0:FILE.npy
func.func @integers(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}

// TABLE: error: 'func.func' op does not say which integers argument 2, 'tensor<?xi32>', may hold
func.func @row_table(%a: tensor<?x4xf32>, %b: tensor<2x3x4xf32>, %rows: tensor<?xi32>, %tiles: tensor<?xi32>, %padded: tensor<1xi32>, %c: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = moe.grouped_gemm ins(%a, %b : tensor<?x4xf32>, tensor<2x3x4xf32>) rows(%rows, %tiles, %padded : tensor<?xi32>, tensor<?xi32>, tensor<1xi32>) outs(%c : tensor<?x3xf32>) {grouping = #moe.grouping<aligned>, row_source = #moe.row_source<token>, top_k = 2, block = 4} -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// MEMREF: error: 'func.func' op requires argument 0 to be a tensor or a scalar
func.func @memrefs(%x: memref<4xf32>) {
  return
}

// NEGATIVE: moe-run: error: --tokens must not be negative
