// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=256 k=512 experts=4 block=16 token-rows=true top-k=2}, convert-cta-to-nvvm))' | FileCheck %s
// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=256 k=512 experts=4 block=32 element=f16 output=f16}, convert-cta-to-nvvm))' | FileCheck %s --check-prefix=F16

// A tile of 16 rows and 128 columns: in each of four steps one ldmatrix of a
// and two of b feed four mma.sync of a warp's 32 columns.

// CHECK-NOT: cta.
// CHECK-LABEL: llvm.func @gemm
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-NOT: wgmma
// Three stages ahead, nine chunks of 16 bytes a thread each.
// CHECK-COUNT-9: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for {{.*}} -> (!llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>, i32, i32)
// CHECK: nvvm.cp.async.wait.group 3
// CHECK: nvvm.barrier
// CHECK-COUNT-9: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.ldmatrix {{.*}}num = 4
// CHECK-COUNT-4: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-COUNT-12: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.barrier
// CHECK: llvm.fptrunc {{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK: llvm.store {{.*}} : vector<2xbf16>, !llvm.ptr<1>

// F16-LABEL: llvm.func @gemm
// F16-COUNT-32: nvvm.mma.sync {{.*}} (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// F16-NOT: nvvm.mma.sync
gpu.module @m [#nvvm.target<chip = "sm_80">] {}
