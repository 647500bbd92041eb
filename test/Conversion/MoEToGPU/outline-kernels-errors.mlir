// RUN: moe-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(moe-outline-kernels)'

func.func @tensors(%h: tensor<?x32xf32>, %a: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error@+1 {{requires memrefs to become a kernel, but operand #0 is 'tensor<?x32xf32>'; bufferize the function first}}
  %0 = moe.activation ins(%h : tensor<?x32xf32>) outs(%a : tensor<?x16xf32>)
    {activation = #moe.activation<swiglu>} -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// -----

func.func @inner_stride(%h: memref<?x32xf32, strided<[64, 2]>>, %a: memref<?x16xf32>) {
  // expected-error@+1 {{requires an innermost stride of 1 to become a kernel, but operand #0 is 'memref<?x32xf32, strided<[64, 2]>>'; copy it to a memref whose rows are without gaps}}
  moe.activation ins(%h : memref<?x32xf32, strided<[64, 2]>>) outs(%a : memref<?x16xf32>)
    {activation = #moe.activation<swiglu>}
  return
}

// -----

func.func @start(%h: memref<?x32xf32, strided<[64, 1], offset: ?>>, %a: memref<?x16xf32>) {
  // expected-error@+1 {{requires memrefs that start where their buffer does, or at a constant place of it to become a kernel}}
  moe.activation ins(%h : memref<?x32xf32, strided<[64, 1], offset: ?>>) outs(%a : memref<?x16xf32>)
    {activation = #moe.activation<swiglu>}
  return
}

// -----

func.func @layout(%h: memref<8x32xf32, affine_map<(d0, d1) -> (d0 mod 2, d1)>>, %a: memref<8x32xf32>) {
  // expected-error@+1 {{requires memrefs of a strided layout to become a kernel}}
  memref.copy %h, %a : memref<8x32xf32, affine_map<(d0, d1) -> (d0 mod 2, d1)>> to memref<8x32xf32>
  moe.activation ins(%a : memref<8x32xf32>) outs(%a : memref<8x32xf32>)
    {activation = #moe.activation<silu>}
  return
}

// -----

// Ids are a list of flat rows.
func.func @ids(%i: memref<?x2xi32, strided<[4, 1]>>, %s: memref<?xi32>, %t: memref<?xi32>,
               %p: memref<1xi32>, %c: memref<4xi32>) {
  // expected-error@+1 {{requires memrefs without gaps for tables, ids and router weights to become a kernel, but operand #0}}
  moe.align ins(%i : memref<?x2xi32, strided<[4, 1]>>)
    outs(%s, %t, %p, %c : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<4xi32>)
    {experts = 4, block = 16}
  return
}

// -----

func.func @groups(%a: memref<4x8x64xf32, strided<[1024, 64, 1]>>, %b: memref<4x32x64xf32>,
                  %n: memref<4xi32>, %c: memref<4x8x32xf32>) {
  // expected-error@+1 {{requires groups that follow each other at the distance of their rows to become a kernel, but operand #0}}
  moe.grouped_gemm ins(%a, %b : memref<4x8x64xf32, strided<[1024, 64, 1]>>, memref<4x32x64xf32>)
    rows(%n : memref<4xi32>) outs(%c : memref<4x8x32xf32>) {grouping = #moe.grouping<masked>}
  return
}

// -----

func.func @no_table(%a: memref<?x64xbf16>, %b: memref<4x32x64xbf16>, %i: memref<?x2xi32>,
                    %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule with mma = mma_sync, but on memrefs no row table can be put in front of it; use mma = simt}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<4x32x64xbf16>)
    rows(%i : memref<?x2xi32>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64]>}
  return
}

// -----

func.func @kn(%a: memref<?x64xbf16>, %b: memref<1x64x32xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule with mma = mma_sync, but b is laid out as [K, N], the tensor-core kernels read [N, K]; use mma = simt}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x64x32xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>, b_layout = #moe.b_layout<kn>,
     schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64]>}
  return
}

// -----

func.func @mixed(%a: memref<?x64xf32>, %b: memref<1x32x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule with mma = mma_sync, but f32 rows are multiplied exactly, without tensor cores; use mma = simt}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xf32>, memref<1x32x64xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>, schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64]>}
  return
}

// -----

func.func @weights_m(%a: memref<?x64xbf16>, %b: memref<1x32x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule with orientation = weights_m, which no kernel computes; use tokens_m}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x32x64xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>,
     schedule = #moe.schedule<mma = wgmma, orientation = weights_m, tile = [64, 64, 64]>}
  return
}

// -----

func.func @split_k(%a: memref<?x64xbf16>, %b: memref<1x32x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule with cluster = 1 and split_k = 2, but no kernel computes tiles in clusters or splits K; use 1}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x32x64xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>,
     schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64], split_k = 2>}
  return
}

// -----

// expected-error@+1 {{has the name of the module of all kernels, but is not a gpu.module for sm_90a; rename it}}
func.func private @moe_kernels()
func.func @taken(%h: memref<4x32xf32>, %a: memref<4x16xf32>) {
  moe.activation ins(%h : memref<4x32xf32>) outs(%a : memref<4x16xf32>)
    {activation = #moe.activation<swiglu>}
  return
}
