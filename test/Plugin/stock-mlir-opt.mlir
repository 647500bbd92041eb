// The stock mlir-opt with the plugin parses, verifies, runs a pass with options
// and each pipeline by its name, says why, and makes the PTX of moe-opt.
//
// DEFINE: %{stock} = mlir-opt --load-dialect-plugin=%moe_plugin --load-pass-plugin=%moe_plugin
// RUN: %{stock} %s --verify-roundtrip | FileCheck %s
// RUN: %{stock} %s --emit-bytecode | %{stock} | FileCheck %s
// RUN: %{stock} --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
//
// RUN: %{stock} %s --pass-pipeline='builtin.module(moe-select-schedule{arch=sm_80 tokens=64})' | FileCheck %s --check-prefix=PASS
// RUN: %{stock} %s --pass-pipeline='builtin.module(moe-select-schedule{arch=sm_80})' --remarks-filter=moe-schedule -o %t.ignored 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not %{stock} %s --pass-pipeline='builtin.module(moe-to-cta{arch=sm_70})' 2>&1 | FileCheck %s --check-prefix=ARCH
//
// RUN: %{stock} %s --pass-pipeline='builtin.module(moe-to-cta{arch=sm_80})' | FileCheck %s --check-prefix=CTA
// RUN: %{stock} %s --pass-pipeline='builtin.module(moe-to-nvvm{arch=sm_80})' | FileCheck %s --check-prefix=NVVM
// RUN: %{stock} %s --pass-pipeline='builtin.module(moe-to-cpu{fill-empty=true})' | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=CPU
//
// RUN: %{stock} %s --pass-pipeline='builtin.module(moe-to-ptx{arch=sm_80 tokens=64})' -o %t.mlir
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.mlir
// RUN: moe-opt %t.mlir --emit=ptx -o %t.stock.ptx
// RUN: moe-opt %s --moe-to-ptx='arch=sm_80 tokens=64' --emit=ptx -o %t.ptx
// RUN: cmp %t.stock.ptx %t.ptx

// CHECK:    moe.grouped_gemm ins(%arg0, %arg1 : tensor<?x256xbf16>, tensor<4x128x256xbf16>)
// DIALECTS: {{[ ,]}}cta,
// DIALECTS-SAME: ,moe,
// WITHOUT:  error: Dialect `moe' not found
// PASS:     moe.grouped_gemm
// PASS-SAME:  schedule = #moe.schedule<mma = mma_sync,
// REMARK:   remark: [Passed] schedule | Category:moe-schedule
// ARCH:     error: {{.*}}no target 'sm_70'; supported are sm_80, sm_89, sm_90, sm_90a
// CTA:      gpu.launch_func @moe_kernels::@layer_
// CTA:      gpu.module @moe_kernels [#nvvm.target<{{.*}}chip = "sm_80"
// CTA:        cta.mma_sync
// NVVM:     gpu.module @moe_kernels [#nvvm.target<{{.*}}chip = "sm_80"
// NVVM-NOT:   cta.
// NVVM:       nvvm.mma.sync
// CPU:      define {{.*}} @layer(
// The option fills with NaN.
// CPU:      store bfloat 0xR7FC0
// PTX:      gpu.binary @moe_kernels
// PTX-SAME:   .target sm_80
// PTX-SAME:   .visible .entry layer_
// PTX-SAME:   mma.sync.aligned
func.func @layer(%x: tensor<?x256xbf16>, %w: tensor<4x128x256xbf16>,
                 %ids: tensor<?x2xi32>) -> tensor<?x128xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %r = arith.muli %t, %c2 : index
  %h0 = tensor.empty(%r) : tensor<?x128xbf16>
  %h = moe.grouped_gemm ins(%x, %w : tensor<?x256xbf16>, tensor<4x128x256xbf16>)
      rows(%ids : tensor<?x2xi32>) outs(%h0 : tensor<?x128xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>} -> tensor<?x128xbf16>
  return %h : tensor<?x128xbf16>
}
