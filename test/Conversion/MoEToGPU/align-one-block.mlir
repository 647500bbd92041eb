// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' -o /dev/null \
// RUN:   --remarks-filter='moe-kernel' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Few rows are sorted by one launch, without workspace.

// CHECK-LABEL: func @variant
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func @moe_kernels::@variant_0_align blocks in (%[[ONE:.*]], %[[ONE]], %[[ONE]])
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
// REMARK: [Passed] row-sort | Category:moe-kernel | Function=variant | Remark="at most 2920 rows of 128 experts are sorted by one launch"
func.func @variant(%ids: memref<?x8xi32>, %rows: memref<?xi32>, %tiles: memref<?xi32>,
                   %padded: memref<1xi32>, %counts: memref<128xi32>) attributes {moe.token_range = [1, 365]} {
  moe.align ins(%ids : memref<?x8xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<128xi32>) {experts = 128, block = 16}
  return
}

// CHECK-LABEL: func @static
// CHECK:         gpu.launch_func @moe_kernels::@static_0_align blocks
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
// REMARK: Remark="at most 8192 rows of 8 experts are sorted by one launch"
func.func @static(%ids: memref<4096x2xi32>, %rows: memref<8192xi32>, %tiles: memref<8192xi32>,
                  %padded: memref<1xi32>, %counts: memref<8xi32>) {
  moe.align ins(%ids : memref<4096x2xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<8192xi32>, memref<8192xi32>, memref<1xi32>, memref<8xi32>) {experts = 8, block = 1}
  return
}

// CHECK-LABEL: func @permute
// CHECK:         gpu.launch_func @moe_kernels::@permute_0_align blocks
// CHECK:         gpu.launch_func @moe_kernels::@permute_1_permute_copy
// REMARK: Remark="at most 64 rows of 4 experts are sorted by one launch"
func.func @permute(%x: memref<?x64xf32>, %i: memref<?x2xi32>, %r: memref<?x64xf32>, %s: memref<?xi32>,
                   %o: memref<4xi32>) attributes {moe.token_range = [1, 32]} {
  moe.permute ins(%x, %i : memref<?x64xf32>, memref<?x2xi32>)
      outs(%r, %s, %o : memref<?x64xf32>, memref<?xi32>, memref<4xi32>) {experts = 4}
  return
}

// Every other number of rows takes three.

// CHECK-LABEL: func @open
// CHECK:         align_rank
// CHECK:         align_scan
// CHECK:         align_scatter
// REMARK: [Missed] row-sort | Category:moe-kernel | Function=open | Remark="rows are sorted by three launches: no end of a token range bounds their number"
func.func @open(%ids: memref<?x8xi32>, %rows: memref<?xi32>, %tiles: memref<?xi32>,
                %padded: memref<1xi32>, %counts: memref<128xi32>) attributes {moe.token_range = [366, -1]} {
  moe.align ins(%ids : memref<?x8xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<128xi32>) {experts = 128, block = 16}
  return
}

// CHECK-LABEL: func @many
// CHECK:         align_rank
// REMARK: Remark="rows are sorted by three launches: 4611686018427387904 tokens of 8 slots are more than the 8192 rows that one block takes"
func.func @many(%ids: memref<?x8xi32>, %rows: memref<?xi32>, %tiles: memref<?xi32>,
                %padded: memref<1xi32>, %counts: memref<128xi32>) attributes {moe.token_range = [1, 4611686018427387904]} {
  moe.align ins(%ids : memref<?x8xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<128xi32>) {experts = 128, block = 16}
  return
}

// Counters of 4096 experts fit shared memory once.
// CHECK-LABEL: func @experts
// CHECK:         align_rank
// REMARK: Remark="rows are sorted by three launches: 33 tokens of 8 slots are more than the 256 rows that one block takes"
func.func @experts(%ids: memref<33x8xi32>, %rows: memref<264xi32>, %tiles: memref<264xi32>,
                   %padded: memref<1xi32>, %counts: memref<4096xi32>) {
  moe.align ins(%ids : memref<33x8xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<264xi32>, memref<264xi32>, memref<1xi32>, memref<4096xi32>) {experts = 4096, block = 1}
  return
}

// CHECK-LABEL: func @table
// CHECK:         align_rank
// REMARK: Remark="rows are sorted by three launches: their table has 1044481 entries, more than the 65536 that one block fills"
func.func @table(%ids: memref<?x1xi32>, %rows: memref<?xi32>, %tiles: memref<?xi32>,
                 %padded: memref<1xi32>, %counts: memref<4096xi32>) attributes {moe.token_range = [0, 1]} {
  moe.align ins(%ids : memref<?x1xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<4096xi32>) {experts = 4096, block = 256}
  return
}

// Warps count in order, each in its own counters, and meet between the steps:
// the result must not depend on the order of threads.
// CHECK:     llvm.mlir.global internal @variant_0_align_counters() {{.*}} : !llvm.array<4096 x i32>
// CHECK:     llvm.func @variant_0_align(
// CHECK-NOT:   llvm.atomicrmw
// CHECK:       nvvm.barrier0
// CHECK:       nvvm.match.sync any
// CHECK:       nvvm.bar.warp.sync
// CHECK:       nvvm.bar.warp.sync
// CHECK:       nvvm.barrier0
// CHECK:       nvvm.shfl.sync up
// CHECK:       nvvm.barrier0
// CHECK:       nvvm.barrier0
// CHECK:       nvvm.match.sync any
// CHECK:       nvvm.bar.warp.sync
// CHECK:       nvvm.bar.warp.sync
// CHECK-NOT:   {{llvm.atomicrmw|nvvm.barrier0}}
// CHECK:       llvm.return
