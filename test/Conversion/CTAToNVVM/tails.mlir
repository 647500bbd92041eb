// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=256 k=512 experts=4}, convert-cta-to-nvvm))' | FileCheck %s --check-prefix=WHOLE
// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=251 k=520 experts=4}, convert-cta-to-nvvm))' | FileCheck %s --check-prefix=TAIL

// Whole tiles: rows of b are copied without a size operand and c is stored
// without a column test. With a K tail and an odd N every copy has a size, and
// single elements are stored under a test of the column.

// WHOLE: nvvm.cp.async.shared.global %{{[^,]*}}, %{{[^,]*}}, 16, cache = cg, %{{[^,]*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// WHOLE: nvvm.cp.async.shared.global %{{[^,]*}}, %{{[^,]*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// WHOLE-NOT: arith.constant 251
// WHOLE: llvm.store {{.*}} : vector<2xbf16>, !llvm.ptr<1>

// TAIL-NOT: cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// TAIL: arith.constant 251 : i32
// TAIL: arith.cmpi ult
// TAIL: llvm.store {{.*}} : bf16, !llvm.ptr<1>
// TAIL-NOT: vector<2xbf16>, !llvm.ptr<1>
gpu.module @m [#nvvm.target<chip = "sm_80">] {}
