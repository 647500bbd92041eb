// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' -o /dev/null \
// RUN:   --remarks-filter='moe-kernel|moe-offsets' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// How buffers lie: rows with gaps, gaps that a call tells, parts of buffers,
// and any alignment.

// Rows of 40 elements are whole 16-byte pieces.
// CHECK-LABEL: llvm.func @padded_0_activation
// CHECK:         arith.muli %{{.*}}, %c40_i64{{.*}} : i64
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
func.func @padded(%h: memref<?x32xbf16, strided<[40, 1]>>, %a: memref<?x32xbf16>) {
  moe.activation ins(%h : memref<?x32xbf16, strided<[40, 1]>>) outs(%a : memref<?x32xbf16>)
    {activation = #moe.activation<silu>}
  return
}

// CHECK-LABEL: llvm.func @pitch_at_call_0_activation
// CHECK-SAME:    (%arg0: !llvm.ptr<1>, %[[PITCH:.*]]: i64, %{{.*}}: !llvm.ptr<1>)
// CHECK:         arith.muli %{{.*}}, %[[PITCH]] : i64
// CHECK-NOT:     vector<
// CHECK-LABEL: llvm.func @
// REMARK:      operand #0 is accessed in pieces of 2 bytes, the alignment of its rows; 16 would be faster
func.func @pitch_at_call(%h: memref<?x32xbf16, strided<[?, 1]>>, %a: memref<?x32xbf16>) {
  moe.activation ins(%h : memref<?x32xbf16, strided<[?, 1]>>) outs(%a : memref<?x32xbf16>)
    {activation = #moe.activation<silu>}
  return
}

// The kernel takes the buffer and goes to the part of it.
// CHECK-SAME:    part_0_activation(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
// CHECK:         %[[EIGHT:.*]] = arith.constant 8 : i64
// CHECK:         llvm.getelementptr %arg0[%[[EIGHT]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
func.func @part(%h: memref<4x48xbf16>, %a: memref<4x32xbf16>) {
  %part = memref.subview %h[0, 8] [4, 32] [1, 1] : memref<4x48xbf16> to memref<4x32xbf16, strided<[48, 1], offset: 8>>
  moe.activation ins(%part : memref<4x32xbf16, strided<[48, 1], offset: 8>>) outs(%a : memref<4x32xbf16>)
    {activation = #moe.activation<silu>}
  return
}

// CHECK-LABEL: llvm.func @unaligned_0_combine
// CHECK-NOT:     vector<
// CHECK-LABEL: llvm.func @
// REMARK:      operand #3 is accessed in pieces of 2 bytes
func.func @unaligned(%y: memref<?x64xbf16>, %w: memref<?x2xf32>, %i: memref<?x2xi32>,
                     %o: memref<?x64xbf16> {moe.alignment = 2 : i64}) {
  moe.combine ins(%y, %w, %i : memref<?x64xbf16>, memref<?x2xf32>, memref<?x2xi32>)
    outs(%o : memref<?x64xbf16>) {experts = 4}
  return
}

// Offsets of 32 bits where the extents bound them.
// CHECK-SAME:    narrow_0_activation
// CHECK:         arith.muli %{{.*}}, %c64_i32{{.*}} : i32
// REMARK:      offsets in h take 64 bits: memref<70000x65536xf32> may reach beyond 2^31 elements
func.func @narrow(%h: memref<9x64xf32>, %a: memref<9x64xf32>, %big: memref<70000x65536xf32>) {
  moe.activation ins(%h : memref<9x64xf32>) outs(%a : memref<9x64xf32>)
    {activation = #moe.activation<silu>}
  moe.activation ins(%big : memref<70000x65536xf32>) outs(%big : memref<70000x65536xf32>)
    {activation = #moe.activation<silu>}
  return
}

// A function that returns what it was given, and a destination filled before.
// CHECK-LABEL: llvm.func @copies_0_copy
// CHECK:         llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xi16>
// CHECK:         llvm.store {{.*}} : vector<8xi16>, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @copies_1_fill
// CHECK:         llvm.store {{.*}} : vector<8xbf16>, !llvm.ptr<1>
func.func @copies(%x: memref<?x2x64xbf16>, %y: memref<?x2x64xbf16>, %h: memref<?x64xbf16>) {
  %zero = arith.constant 0.0 : bf16
  memref.copy %x, %y : memref<?x2x64xbf16> to memref<?x2x64xbf16>
  linalg.fill ins(%zero : bf16) outs(%h : memref<?x64xbf16>)
  moe.activation ins(%h : memref<?x64xbf16>) outs(%h : memref<?x64xbf16>)
    {activation = #moe.activation<silu>}
  return
}

// a and c are both sorted: a kernel of its own finds the number of flat rows.
// CHECK-LABEL: llvm.func @both_sorted_0_flat_rows
// CHECK-LABEL: llvm.func @both_sorted_1_grouped_gemm
func.func @both_sorted(%a: memref<?x64xf32>, %b: memref<4x32x64xf32>, %s: memref<?xi32>,
                       %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<?x32xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<?x64xf32>, memref<4x32x64xf32>)
    rows(%s, %t, %p : memref<?xi32>, memref<?xi32>, memref<1xi32>) outs(%c : memref<?x32xf32>)
    {grouping = #moe.grouping<aligned>, top_k = 2, block = 16,
     a_order = #moe.row_order<sorted>, c_order = #moe.row_order<sorted>}
  return
}
