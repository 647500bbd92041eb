// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-cpu)' | FileCheck %s
// RUN: moe-opt %s --moe-to-cpu='vector-bits=512 fill-empty=true' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: moe-opt %s --moe-to-cpu | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LLVM

// Nothing but the LLVM dialect, and no library but malloc, free and libm.
// The f64 exp of the scores stays a call of libm; activations have none.

// CHECK-NOT:   {{ (moe|scf|memref|vector|arith|math|linalg|tensor|bufferization|cf|func|affine)\.}}
// CHECK-NOT:   llvm.func @{{(memref|_mlir|mlir)}}
// CHECK:       llvm.func @layer
// CHECK-NOT:   builtin.unrealized_conversion_cast
// WIDE:        vector<16xf32>

// LLVM:        define {{.*}} @layer(
// LLVM:        call double @llvm.exp.f64
// LLVM-NOT:    call {{.*}}@exp{{f?}}(
// LLVM-NOT:    llvm.exp.v
func.func @layer(%x: tensor<?x32xbf16>, %wg: tensor<4x32xbf16>,
                 %w13: tensor<4x48x32xbf16>, %w2: tensor<4x32x24xbf16>)
    -> tensor<?x32xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xbf16>
  %r = arith.muli %t, %c2 : index
  %l0 = tensor.empty(%t) : tensor<?x4xf32>
  %l = moe.gate ins(%x, %wg : tensor<?x32xbf16>, tensor<4x32xbf16>)
      outs(%l0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %w0 = tensor.empty(%t) : tensor<?x2xf32>
  %i0 = tensor.empty(%t) : tensor<?x2xi32>
  %w, %i = moe.route ins(%l : tensor<?x4xf32>)
      outs(%w0, %i0 : tensor<?x2xf32>, tensor<?x2xi32>)
      -> tensor<?x2xf32>, tensor<?x2xi32>
  %a0 = tensor.empty(%r) : tensor<?x24xbf16>
  %a = moe.grouped_gemm ins(%x, %w13 : tensor<?x32xbf16>, tensor<4x48x32xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%a0 : tensor<?x24xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       activation = #moe.activation<swiglu>} -> tensor<?x24xbf16>
  %y0 = tensor.empty(%r) : tensor<?x32xbf16>
  %y = moe.grouped_gemm ins(%a, %w2 : tensor<?x24xbf16>, tensor<4x32x24xbf16>)
      rows(%i : tensor<?x2xi32>) outs(%y0 : tensor<?x32xbf16>)
      {grouping = #moe.grouping<ids>} -> tensor<?x32xbf16>
  %o0 = tensor.empty(%t) : tensor<?x32xbf16>
  %o = moe.combine ins(%y, %w, %i : tensor<?x32xbf16>, tensor<?x2xf32>, tensor<?x2xi32>)
      outs(%o0 : tensor<?x32xbf16>) {experts = 4} -> tensor<?x32xbf16>
  return %o : tensor<?x32xbf16>
}
