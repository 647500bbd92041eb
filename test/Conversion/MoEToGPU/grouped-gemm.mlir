// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> (s0 * 4)>
// CHECK-DAG: #[[SIXTEENTH:.*]] = affine_map<()[s0] -> (s0 ceildiv 8)>

// Without a schedule, or with simt: the exact kernel, 16 or 32 rows a block.
// CHECK-LABEL: func @simt
// CHECK:         affine.apply #[[SIXTEENTH]]()
// CHECK:         gpu.launch_func @moe_kernels::@simt_0_grouped_gemm
// CHECK-NOT:     dynamic_shared_memory_size
// CHECK:         return
func.func @simt(%a: memref<?x64xf32>, %b: memref<4x32x64xf32>, %i: memref<?x2xi32>,
                %c: memref<?x32xf32>) {
  moe.grouped_gemm ins(%a, %b : memref<?x64xf32>, memref<4x32x64xf32>)
    rows(%i : memref<?x2xi32>) outs(%c : memref<?x32xf32>) {grouping = #moe.grouping<ids>}
  return
}

// A wgmma schedule: b comes as a tensor map whose boxes hold gate and up rows;
// the persistent grid is no larger than the number of tiles.
// CHECK-LABEL: func @wgmma
// CHECK-SAME:    %{{.*}}: memref<?x64xbf16>, %[[B:.*]]: memref<4x512x64xbf16>
// CHECK:         %[[SPLIT:.*]] = memref.expand_shape %[[B]] {{\[\[}}0], [1, 2], [3]] {{.*}} into memref<4x2x256x64xbf16>
// CHECK:         %[[MAP:.*]] = moe.encode_tensor_map %[[SPLIT]] box [1, 2, 64, 64]
// CHECK:         %[[COUNT:.*]] = affine.apply #[[TILES]]()
// CHECK:         %[[GRID:.*]] = arith.minsi %{{.*}}, %[[COUNT]] : index
// CHECK:         gpu.launch_func @moe_kernels::@wgmma_0_grouped_gemm blocks in (%[[GRID]],
// CHECK-SAME:      dynamic_shared_memory_size
// CHECK-SAME:      %[[MAP]] : !moe.tensor_map
func.func @wgmma(%a: memref<?x64xbf16>, %b: memref<4x512x64xbf16>, %s: memref<?xi32>,
                 %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<?x256xbf16>) {
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<4x512x64xbf16>)
    rows(%s, %t, %p : memref<?xi32>, memref<?xi32>, memref<1xi32>) outs(%c : memref<?x256xbf16>)
    {grouping = #moe.grouping<aligned>, top_k = 2, block = 64, row_source = #moe.row_source<token>,
     activation = #moe.activation<swiglu>,
     schedule = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>}
  return
}

// The dense form counts its own rows.
// CHECK-LABEL: func @dense
// CHECK:         gpu.launch_func @moe_kernels::@dense_0_grouped_gemm
// CHECK-SAME:      grid = "(min({{[0-9]+}}, (R ceildiv 16) * 1), 1, 1)"
// CHECK-SAME:      schedule = <mma = mma_sync
func.func @dense(%a: memref<?x64xbf16>, %b: memref<1x64x64xbf16>, %c: memref<?x64xbf16>) {
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x64x64xbf16>) outs(%c : memref<?x64xbf16>)
    {grouping = #moe.grouping<dense>,
     schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], stages = 4>}
  return
}

// CHECK:     llvm.func @simt_0_grouped_gemm
// CHECK:       llvm.intr.fma
// CHECK:     llvm.func @wgmma_0_grouped_gemm({{.*}}llvm.byval
