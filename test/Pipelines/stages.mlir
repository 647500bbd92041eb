// Each pipeline as text leaves the level of IR that it names, for the chip that
// it is given.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-cta{arch=sm_80})' | FileCheck %s --check-prefixes=HOST,KERNELS,CTA
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-nvvm{arch=sm_80})' | FileCheck %s --check-prefixes=HOST,KERNELS,NVVM
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{arch=sm_80})' | FileCheck %s --check-prefixes=HOST,PTX
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-cta{tokens=65536})' | FileCheck %s --check-prefixes=HOST,CTA90
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-nvvm{tokens=65536})' | FileCheck %s --check-prefixes=HOST,NVVM90
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{tokens=65536})' | FileCheck %s --check-prefixes=HOST,PTX90
// The flags are the same pipelines.
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-ptx{arch=sm_80 tokens=64})' --emit=ptx -o %t.text
// RUN: moe-opt %s --moe-to-ptx='arch=sm_80 tokens=64' --emit=ptx -o %t.flag
// RUN: diff %t.text %t.flag
// RUN: not moe-opt %s --pass-pipeline='builtin.module(moe-to-cta{arch=sm_70})' 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not moe-opt %s --pass-pipeline='builtin.module(moe-to-cta{chip=sm_80})' 2>&1 | FileCheck %s --check-prefix=OPTION

// HOST-LABEL: func.func @layer(
// HOST-SAME:    memref<?x2048xbf16>
// HOST-SAME:    bufferize.result
// HOST-NOT:     {{moe\.(align|grouped_gemm|activation)[ (]}}
// HOST:         gpu.launch_func @moe_kernels::@layer_0_align_rank
// HOST-NOT:     {{moe\.(align|grouped_gemm|activation)[ (]}}
// HOST:         gpu.launch_func @moe_kernels::@layer_3_grouped_gemm
// HOST-NOT:     gpu.launch_func
// HOST:         return

// KERNELS:      gpu.module @moe_kernels [#nvvm.target<{{.*}}chip = "sm_80"
// CTA-LABEL:      llvm.func @layer_3_grouped_gemm
// CTA:              cta.ring
// CTA:              cta.mma_sync
// CTA-NOT:          nvvm.mma.sync
// NVVM-LABEL:     llvm.func @layer_3_grouped_gemm
// NVVM-NOT:         cta.
// NVVM:             nvvm.mma.sync
// NVVM-NOT:         cta.
// PTX-NOT:      gpu.module
// PTX:          gpu.binary @moe_kernels [#gpu.object<#nvvm.target<{{.*}}chip = "sm_80"
// PTX-SAME:       mma.sync.aligned

// CTA90:        gpu.module @moe_kernels [#nvvm.target<{{.*}}chip = "sm_90a"
// CTA90:          cta.wgmma
// NVVM90:       gpu.module @moe_kernels [#nvvm.target<{{.*}}chip = "sm_90a"
// NVVM90-NOT:     cta.
// NVVM90:         nvvm.wgmma
// NVVM90-NOT:     cta.
// PTX90:        gpu.binary @moe_kernels [#gpu.object<#nvvm.target<{{.*}}chip = "sm_90a"
// PTX90-SAME:     wgmma.mma_async.sync.aligned

// ARCH: error: {{.*}}no target 'sm_70'; supported are sm_80, sm_89, sm_90, sm_90a
// OPTION: no such option chip
func.func @layer(%x: tensor<?x2048xbf16>, %w: tensor<4x2048x2048xbf16>,
                 %ids: tensor<?x2xi32>) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %r = arith.muli %t, %c2 : index
  %h0 = tensor.empty(%r) : tensor<?x2048xbf16>
  %h = moe.grouped_gemm ins(%x, %w : tensor<?x2048xbf16>, tensor<4x2048x2048xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x2048xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x2048xbf16>
  %a0 = tensor.empty(%r) : tensor<?x1024xbf16>
  %a = moe.activation ins(%h : tensor<?x2048xbf16>) outs(%a0 : tensor<?x1024xbf16>)
      {activation = #moe.activation<swiglu>} -> tensor<?x1024xbf16>
  return %a : tensor<?x1024xbf16>
}
