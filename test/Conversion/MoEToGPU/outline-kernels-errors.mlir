// RUN: moe-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(moe-outline-kernels)'

func.func @tensors(%h: tensor<?x32xf32>, %a: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error@+1 {{requires memrefs to become a kernel, but operand #0 is 'tensor<?x32xf32>'; bufferize the function first}}
  %0 = moe.activation ins(%h : tensor<?x32xf32>) outs(%a : tensor<?x16xf32>)
    {activation = #moe.activation<swiglu>} -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// -----

func.func @strided(%h: memref<?x32xf32, strided<[64, 1]>>, %a: memref<?x16xf32>) {
  // expected-error@+1 {{requires memrefs of identity layout to become a kernel, but operand #0 is 'memref<?x32xf32, strided<[64, 1]>>'; copy it}}
  moe.activation ins(%h : memref<?x32xf32, strided<[64, 1]>>) outs(%a : memref<?x16xf32>)
    {activation = #moe.activation<swiglu>}
  return
}

// -----

// Nothing tells how many flat rows there are.
func.func @both_sorted(%a: memref<?x64xf32>, %b: memref<4x32x64xf32>, %s: memref<?xi32>,
                       %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<?x32xf32>) {
  // expected-error@+1 {{requires the number of flat rows to become a kernel, but a and c are both sorted}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xf32>, memref<4x32x64xf32>)
    rows(%s, %t, %p : memref<?xi32>, memref<?xi32>, memref<1xi32>) outs(%c : memref<?x32xf32>)
    {grouping = #moe.grouping<aligned>, top_k = 2, block = 16,
     a_order = #moe.row_order<sorted>, c_order = #moe.row_order<sorted>}
  return
}

// -----

func.func @no_table(%a: memref<?x64xbf16>, %b: memref<4x32x64xbf16>, %i: memref<?x2xi32>,
                    %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule of mma_sync, which takes no grouping ids; run moe-align-rows first or schedule simt}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<4x32x64xbf16>)
    rows(%i : memref<?x2xi32>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<ids>, schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64]>}
  return
}

// -----

func.func @kn(%a: memref<?x64xbf16>, %b: memref<1x64x32xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule of mma_sync, which takes b in layout nk only; schedule simt}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x64x32xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>, b_layout = #moe.b_layout<kn>,
     schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64]>}
  return
}

// -----

func.func @mixed(%a: memref<?x64xf32>, %b: memref<1x32x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule of mma_sync, which takes a and b of one type only; schedule simt}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xf32>, memref<1x32x64xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>, schedule = #moe.schedule<mma = mma_sync, tile = [16, 64, 64]>}
  return
}

// -----

func.func @weights_m(%a: memref<?x64xbf16>, %b: memref<1x32x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule of wgmma, which has its tokens on the M side; write tokens_m}}
  moe.grouped_gemm ins(%a, %b : memref<?x64xbf16>, memref<1x32x64xbf16>) outs(%c : memref<?x32xbf16>)
    {grouping = #moe.grouping<dense>,
     schedule = #moe.schedule<mma = wgmma, orientation = weights_m, tile = [64, 64, 64]>}
  return
}

// -----

func.func @split_k(%a: memref<?x64xbf16>, %b: memref<1x32x64xbf16>, %c: memref<?x32xbf16>) {
  // expected-error@+1 {{has a schedule of mma_sync, which has neither clusters nor a split of k; write cluster = 1 and split_k = 1}}
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
