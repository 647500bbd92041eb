// RUN: moe-opt %s --remarks-filter='moe-kernel' --remark-format=emitRemark --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=512 k=256 experts=4 block=16 activation=swigluoai interleaved=true limit=7 bias=bf16 weight=output sorted-c=true}))' 2>&1 | FileCheck %s

// The kernel of a gated, biased, weighted GEMM in the dialect: interleaved gate
// and up rows of b are two parts of the tile, so that the epilogue stays in
// registers.

// CHECK: remark: [Analysis] gemm-kernel {{.*}} colTiles=4, ctasPerSM=1, shared=92160, stages=5, threads=128, tileCols=64
// CHECK-LABEL: llvm.func @gemm(
// CHECK: cta.ring {{.*}} groups>
// CHECK: cta.tile_loop %{{.*}} by 4 group 8
// CHECK: cta.tile_load {{.*}} rows 128 limit 256 pitch 512 extent 256 parts 2 partStride 1 rowStride 2
// CHECK: scf.for
// CHECK: cta.mma_sync {{.*}} : {{.*}}16 x 128, mma_sync, parts = 2>
// CHECK: cta.drain
// CHECK: cta.epilogue {{.*}} -> <16 x 64, mma_sync>
// CHECK: arith.minimumf
// CHECK: llvm.intr.exp2
// CHECK: cta.store {{.*}} position
gpu.module @m [#nvvm.target<chip = "sm_80">] {}
