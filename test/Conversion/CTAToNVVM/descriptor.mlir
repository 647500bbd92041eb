// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(convert-cta-to-nvvm))' | FileCheck %s

// The wgmma descriptor: address / 16 in 14 bits, 128-byte swizzle (1 << 62),
// stride 1024 bytes (64 << 32), leading offset 1 (1 << 16); two units a step.

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: llvm.func @f
  llvm.func @f(%s: !llvm.ptr<3>) {
    cta.roles producer { cta.yield } consumers 1 {
      // CHECK: llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
      // CHECK: arith.constant 4 : i32
      // CHECK: arith.shrui
      // CHECK: arith.constant 16383 : i32
      // CHECK: arith.andi
      // CHECK: arith.constant 4611686293305360384 : i64
      // CHECK: arith.ori
      %0 = cta.wgmma %s, %s element f16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 8, wgmma>
      // CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<f16>
      // CHECK: arith.constant 2 : i64
      // CHECK: arith.constant 4 : i64
      // CHECK: arith.constant 6 : i64
      %1 = cta.wgmma_wait %0 pending 0 : !cta.fragment<64 x 8, wgmma>
      cta.yield
    }
    llvm.return
  }
}
