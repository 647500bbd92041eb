// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{family=wgmma n=512 k=512 experts=4 block=128 top-k=2 token-rows=true activation=swiglu shared-limit=232448 shared-per-sm=233472}, convert-cta-to-nvvm))' | FileCheck %s

// Producer: one bulk copy of gate and up rows a stage, issued under an elected
// lane of a uniform warp, and eight 16-byte copies a thread. Consumers: the
// first step of a tile has scale-d zero on undefined accumulators; one group
// stays in flight; the last wait names every accumulator.

// CHECK-LABEL: llvm.func @gemm
// CHECK-NOT: mma.sync
// CHECK-NOT: cta.
// CHECK: nvvm.shfl.sync {{.*}}idx
// CHECK: nvvm.mbarrier.init %{{.*}}, %c129
// CHECK: nvvm.mbarrier.init %{{.*}}, %c8
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK: nvvm.setmaxregister decrease 56
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.elect.sync
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-COUNT-8: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.mbarrier.arrive {{.*}}noinc = true
// CHECK: nvvm.setmaxregister increase 224
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: llvm.mlir.undef : !llvm.struct<(f32
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-3: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: scf.for
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,{{.*}},126,127,~{memory}"
// CHECK-NOT: wgmma
// CHECK: llvm.intr.exp2{{.*}}fastmath<afn>
// CHECK: nvvm.rcp.approx.ftz.f
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<1>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {}
