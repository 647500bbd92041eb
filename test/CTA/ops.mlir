// RUN: moe-opt %s | moe-opt | FileCheck %s
// RUN: moe-opt %s --mlir-print-op-generic | moe-opt | FileCheck %s

// Every op and type of the dialect, in the two kernels they make up.

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: llvm.func @few_rows
  llvm.func @few_rows(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %t: !llvm.ptr<1>, %c: !llvm.ptr<1>, %r: i32)
      attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    // CHECK: cta.plan threads 128 limit 101376 [#cta.buffer<"ring", offset = 0, bytes = 55296, align = 1024>] : !llvm.ptr<3>
    %s = cta.plan threads 128 limit 101376 [#cta.buffer<"ring", offset = 0, bytes = 55296, align = 1024>] : !llvm.ptr<3>
    // CHECK: cta.ring %{{.*}} : <3 stages of 18432 bytes, groups>
    %ring = cta.ring %s : !cta.ring<3 stages of 18432 bytes, groups>
    // CHECK: cta.uniform
    %n = cta.uniform %r
    // CHECK: cta.tile_loop %{{.*}} by 4 group 8 {
    cta.tile_loop %n by 4 group 8 {
    ^bb0(%m: i32, %col: i32):
      // CHECK: cta.source_rows %{{.*}}[%{{.*}}] below %{{.*}} table %{{.*}} rows 16 pitch 1024 divisor 8 : <1>, !llvm.ptr<1> -> <1>
      %rows = cta.source_rows %a[%m] below %r table %t rows 16 pitch 1024 divisor 8 : !llvm.ptr<1>, !llvm.ptr<1> -> !cta.source_rows<1>
      // CHECK: cta.source_rows {{.*}} divisor 1 sorted : <1> -> <1>
      %sorted = cta.source_rows %a[%m] below %r rows 16 pitch 1024 divisor 1 sorted : !llvm.ptr<1> -> !cta.source_rows<1>
      // CHECK: cta.stage
      %p = cta.stage %ring[%c0] : !cta.ring<3 stages of 18432 bytes, groups>
      // CHECK: cta.gather_load %{{.*}}[%{{.*}}] to %{{.*}} extent 512
      cta.gather_load %rows[%c0] to %p extent 512 : !cta.source_rows<1>, !llvm.ptr<3>
      // CHECK: cta.tile_load {{.*}} rows 128 limit 256 pitch 1024 extent 512 :
      cta.tile_load %b[%c0, %c0] to %p rows 128 limit 256 pitch 1024 extent 512 : !llvm.ptr<1>, !llvm.ptr<3>
      // CHECK: cta.tile_load {{.*}} parts 2 partStride 256 rowStride 1
      cta.tile_load %b[%c0, %c0] to %p rows 128 limit 256 pitch 1024 extent 512 parts 2 partStride 256 rowStride 1 : !llvm.ptr<1>, !llvm.ptr<3>
      // CHECK: cta.commit
      cta.commit %ring[%c0] : !cta.ring<3 stages of 18432 bytes, groups>
      // CHECK: cta.await
      %f = cta.await %ring[%c0, %c0] : !cta.ring<3 stages of 18432 bytes, groups>
      // CHECK: cta.zero : <16 x 128, mma_sync, parts = 2>
      %z = cta.zero : !cta.fragment<16 x 128, mma_sync, parts = 2>
      // CHECK: cta.mma_sync {{.*}} element bf16
      %acc = cta.mma_sync %f, %p, %z element bf16 : !llvm.ptr<3>, !llvm.ptr<3>, !cta.fragment<16 x 128, mma_sync, parts = 2>
      // CHECK: cta.advance
      %ns, %np = cta.advance %ring[%c0, %c0] : !cta.ring<3 stages of 18432 bytes, groups>
      // CHECK: cta.drain
      cta.drain %ring : !cta.ring<3 stages of 18432 bytes, groups>
      // CHECK: cta.fragment_rows[%{{.*}}] below %{{.*}} rows 16 {{ *}}mma_sync -> <2>
      %ids = cta.fragment_rows [%m] below %r rows 16 mma_sync -> !cta.row_ids<2>
      // CHECK: cta.epilogue {{.*}} columns 256 : <16 x 128, mma_sync, parts = 2>, <2> -> <16 x 64, mma_sync>
      %e = cta.epilogue %acc rows %ids column %c0 columns 256 : !cta.fragment<16 x 128, mma_sync, parts = 2>, !cta.row_ids<2> -> !cta.fragment<16 x 64, mma_sync> {
      ^bb0(%g: f32, %u: f32, %row: i32, %at: i32):
        %v = arith.mulf %g, %u : f32
        // CHECK: cta.yield %{{.*}} : f32
        cta.yield %v : f32
      }
      // CHECK: cta.store {{.*}} columns 256 element bf16 : <16 x 64, mma_sync>, <2>, <1>
      cta.store %e rows %ids to %c column %c0 columns 256 element bf16 : !cta.fragment<16 x 64, mma_sync>, !cta.row_ids<2>, !llvm.ptr<1>
      cta.yield
    }
    llvm.return
  }

  // CHECK-LABEL: llvm.func @many_rows
  llvm.func @many_rows(%a: !llvm.ptr<1>, %map: !llvm.ptr, %t: !llvm.ptr<1>, %c: !llvm.ptr<1>, %r: i32)
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = 2 : i32} {
    %c0 = arith.constant 0 : i32
    %s:2 = cta.plan threads 256 limit 232448 [#cta.buffer<"ring", offset = 0, bytes = 49184, align = 1024>, #cta.buffer<"staging", offset = 50176, bytes = 8192, align = 1024>] : !llvm.ptr<3>, !llvm.ptr<3>
    // CHECK: cta.ring %{{.*}} full 129 empty 4 : <2 stages of 24576 bytes, mbarrier>
    %ring = cta.ring %s#0 full 129 empty 4 : !cta.ring<2 stages of 24576 bytes, mbarrier>
    // CHECK: cta.roles producer registers 56 {
    cta.roles producer registers 56 {
      %rows = cta.source_rows %a[%c0] below %r table %t rows 64 pitch 1024 divisor 1 : !llvm.ptr<1>, !llvm.ptr<1> -> !cta.source_rows<4>
      // CHECK: cta.tile_loop {{.*}} iter(%{{.*}}, %{{.*}}) : i32, i32
      %w:2 = cta.tile_loop %r by 4 group 1 iter(%c0, %c0) : i32, i32 {
      ^bb0(%m: i32, %n: i32, %stage: i32, %phase: i32):
        // CHECK: cta.acquire
        %p = cta.acquire %ring[%stage, %phase] : !cta.ring<2 stages of 24576 bytes, mbarrier>
        // CHECK: cta.tma_load {{.*}} box [64, 128, 1] element_bytes 2
        cta.tma_load %map[%c0, %n, %m] to %p, %ring[%stage] box [64, 128, 1] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 24576 bytes, mbarrier>
        cta.gather_load %rows[%c0] to %p extent 512 : !cta.source_rows<4>, !llvm.ptr<3>
        cta.commit %ring[%stage] : !cta.ring<2 stages of 24576 bytes, mbarrier>
        cta.yield %stage, %phase : i32, i32
      }
      cta.yield
    // CHECK: } consumers 1 registers 200 {
    } consumers 1 registers 200 {
      // CHECK: cta.warpgroup
      %g = cta.warpgroup
      %f = cta.await %ring[%c0, %c0] : !cta.ring<2 stages of 24576 bytes, mbarrier>
      // CHECK: cta.wgmma %{{[^,]*}}, %{{[^,]*}} element bf16 : <3>, <3> -> <64 x 128, wgmma>
      %0 = cta.wgmma %f, %f element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 128, wgmma>
      // CHECK: cta.wgmma %{{[^,]*}}, %{{[^,]*}}, %{{.*}} : !cta.fragment<64 x 128, wgmma> element bf16
      %1 = cta.wgmma %f, %f, %0 : !cta.fragment<64 x 128, wgmma> element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 128, wgmma>
      // CHECK: cta.wgmma_wait %{{.*}} pending 0
      %2 = cta.wgmma_wait %1 pending 0 : !cta.fragment<64 x 128, wgmma>
      // CHECK: cta.release
      cta.release %ring[%c0] : !cta.ring<2 stages of 24576 bytes, mbarrier>
      %ids = cta.fragment_rows [%c0] below %r table %t : !llvm.ptr<1> rows 64 wgmma -> !cta.row_ids<2>
      // CHECK: cta.store {{.*}} position %{{.*}} staging %{{.*}} : !llvm.ptr<3> columns 512
      cta.store %2 rows %ids to %c column %c0 position %c0 staging %s#1 : !llvm.ptr<3> columns 512 element bf16 : !cta.fragment<64 x 128, wgmma>, !cta.row_ids<2>, !llvm.ptr<1>
      cta.yield
    }
    llvm.return
  }
}
