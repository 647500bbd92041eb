// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// Ranks, places of each chunk of 1024 rows, and their workspace.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> (s0 * 8)>
// CHECK-DAG: #[[CHUNKS:.*]] = affine_map<()[s0] -> (s0 ceildiv 128)>
// CHECK-DAG: #[[PLACES:.*]] = affine_map<()[s0] -> ((s0 ceildiv 128) * 64)>
// CHECK-LABEL: func @align
// CHECK:         %[[R:.*]] = affine.apply #[[ROWS]]()
// CHECK:         %[[RANKS:.*]] = memref.alloc(%[[R]]) : memref<?xi32>
// CHECK:         %[[N:.*]] = affine.apply #[[PLACES]]()
// CHECK:         %[[PLACE:.*]] = memref.alloc(%[[N]]) : memref<?xi32>
// CHECK:         gpu.launch_func @moe_kernels::@align_0_align_rank
// CHECK-SAME:      %[[RANKS]] : memref<?xi32>, %[[PLACE]] : memref<?xi32>
// The scan runs for no token, too: its grid is one block.
// CHECK:         gpu.launch_func @moe_kernels::@align_1_align_scan blocks in (%[[ONE:.*]], %[[ONE]], %[[ONE]])
// CHECK:         affine.apply #[[CHUNKS]]()
// CHECK:         gpu.launch_func @moe_kernels::@align_2_align_scatter
func.func @align(%ids: memref<?x8xi32>, %rows: memref<?xi32>, %tiles: memref<?xi32>,
                 %padded: memref<1xi32>, %counts: memref<64xi32>) {
  moe.align ins(%ids : memref<?x8xi32>) outs(%rows, %tiles, %padded, %counts :
      memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<64xi32>) {experts = 64, block = 16}
  return
}

// The order of rows must not depend on the order of threads.
// CHECK:     llvm.func @align_0_align_rank
// CHECK-NOT: llvm.atomicrmw
// CHECK:       nvvm.match.sync any
// CHECK-NOT: llvm.atomicrmw
// CHECK:       nvvm.barrier0
// CHECK-NOT: llvm.atomicrmw
// CHECK:     llvm.func @align_1_align_scan
// CHECK-NOT: llvm.atomicrmw
// CHECK:       nvvm.shfl.sync up
// CHECK-NOT: llvm.atomicrmw
// CHECK:     llvm.func @align_2_align_scatter
// CHECK-NOT: llvm.atomicrmw
