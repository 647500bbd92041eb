// Attributes of functions and arguments: what is taken, and what is refused.
//
// RUN: moe-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: func.func @ranges(%arg0: memref<?x8xf32>) attributes {moe.token_ranges = {{\[}}[0, 16], [17, 17], [100, -1]]}
func.func @ranges(%x: memref<?x8xf32>) attributes {moe.token_ranges = [[0, 16], [17, 17], [100, -1]]} {
  return
}
// CHECK: func.func @range({{.*}}) attributes {moe.token_range = [1, 16], moe.variant_of = "layer"}
func.func @range(%x: memref<4x?xf32>) attributes {moe.token_range = [1, 16], moe.variant_of = "layer"} {
  return
}
// CHECK: func.func @argument(%arg0: memref<?x8xf32> {moe.argument = #moe.argument<shape = [dim(0, 0), 8], role = "ids", bound = 2 * dim(0, 1) + -3>})
func.func @argument(%x: memref<?x8xf32> {moe.argument = #moe.argument<shape = [1 * dim(0, 0) + 0, 8], role = "ids", bound = 2 * dim(0, 1) + -3>}) {
  return
}
// CHECK: #moe.extent<8 * dim(0, 0) + 1>
func.func private @extent() attributes {extent = #moe.extent<8 * dim(0, 0) + 1>}

// -----
// expected-error @below {{'func.func' op requires 'moe.token_ranges' to be a list of ranges such as [[1, 16], [17, -1]], but got 7}}
func.func @number(%x: memref<?xf32>) attributes {moe.token_ranges = 7} { return }
// -----
// expected-error @below {{to be a list of ranges such as [[1, 16], [17, -1]], but got []}}
func.func @empty(%x: memref<?xf32>) attributes {moe.token_ranges = []} { return }
// -----
// expected-error @below {{requires 'moe.token_ranges' to hold pairs [first, last] of 64-bit numbers of tokens, but got 1}}
func.func @flat(%x: memref<?xf32>) attributes {moe.token_ranges = [1, 16]} { return }
// -----
// expected-error @below {{to hold pairs [first, last] of 64-bit numbers of tokens, but got [1, 16, 17]}}
func.func @triple(%x: memref<?xf32>) attributes {moe.token_ranges = [[1, 16, 17]]} { return }
// -----
// expected-error @below {{to hold pairs [first, last] of 64-bit numbers of tokens, but got [1 : i32, 16]}}
func.func @narrow(%x: memref<?xf32>) attributes {moe.token_ranges = [[1 : i32, 16]]} { return }
// -----
// expected-error @below {{to hold pairs [first, last] of 64-bit numbers of tokens, but got [1.000000e+00, "a"]}}
func.func @words(%x: memref<?xf32>) attributes {moe.token_ranges = [[1.0, "a"]]} { return }
// -----
// expected-error @below {{to be [first, last] with 0 <= first <= last, or last = -1 for no upper end, but got [9, 8]}}
func.func @backwards(%x: memref<?xf32>) attributes {moe.token_ranges = [[1, 8], [9, 8]]} { return }
// -----
// expected-error @below {{but got [-1, 8]}}
func.func @negative(%x: memref<?xf32>) attributes {moe.token_ranges = [[-1, 8]]} { return }
// -----
// expected-error @below {{but got [1, -2]}}
func.func @below_open(%x: memref<?xf32>) attributes {moe.token_ranges = [[1, -2]]} { return }
// -----
// expected-error @below {{requires the first range of 'moe.token_ranges' to start at 0 or 1, but got [2, 8]}}
func.func @gap_at_start(%x: memref<?xf32>) attributes {moe.token_ranges = [[2, 8]]} { return }
// -----
// expected-error @below {{requires the ranges of 'moe.token_ranges' to be in ascending order without overlap, but [8, 9] follows [1, 8]}}
func.func @overlap(%x: memref<?xf32>) attributes {moe.token_ranges = [[1, 8], [8, 9]]} { return }
// -----
// expected-error @below {{but [17, 18] follows [1, -1]}}
func.func @after_open(%x: memref<?xf32>) attributes {moe.token_ranges = [[1, -1], [17, 18]]} { return }
// -----
// expected-error @below {{'func.func' op requires an argument with a dynamic extent, which is the number of tokens that 'moe.token_ranges' is about; remove it}}
func.func @static(%x: memref<4xf32>) attributes {moe.token_ranges = [[1, 8]]} { return }
// -----
// expected-error @below {{'builtin.module' op cannot have 'moe.token_ranges', which describes a function}}
module attributes {moe.token_ranges = [[1, 8]]} {}
// -----
// expected-error @below {{requires 'moe.token_range' to hold pairs [first, last] of 64-bit numbers of tokens, but got [[1, 8]]}}
func.func @list(%x: memref<?xf32>) attributes {moe.token_range = [[1, 8]]} { return }
// -----
// expected-error @below {{requires 'moe.variant_of' to be the name of a function, but got 3}}
func.func @origin(%x: memref<?xf32>) attributes {moe.variant_of = 3} { return }
// -----
// expected-error @below {{requires 'moe.argument' to be a #moe.argument of a function, but got 3}}
func.func @not_described(%x: memref<?xf32> {moe.argument = 3 : i64}) { return }
// -----
// expected-error @below {{requires 'moe.argument' of argument 0 to have one extent for each dimension of 'memref<?x8xf32>', but got 1}}
func.func @rank(%x: memref<?x8xf32> {moe.argument = #moe.argument<shape = [dim(0, 0)]>}) { return }
// -----
// expected-error @below {{requires 'moe.argument' to name extents of its arguments, but there is no dim(1, 0)}}
func.func @outside(%x: memref<?xf32> {moe.argument = #moe.argument<shape = [dim(1, 0)]>}) { return }
// -----
// expected-error @below {{there is no dim(0, 1)}}
func.func @dimension(%x: memref<?xf32> {moe.argument = #moe.argument<shape = [8], bound = dim(0, 1)>}) { return }
// -----
// expected-error @below {{there is no dim(0, -1)}}
func.func @negative_dim(%x: memref<?xf32> {moe.argument = #moe.argument<shape = [dim(0, -1)]>}) { return }
