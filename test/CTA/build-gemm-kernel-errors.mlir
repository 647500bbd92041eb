// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{family=wgmma n=64 k=64 block=64}))' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 block=64}))' 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=61}))' 2>&1 | FileCheck %s --check-prefix=K
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=63 k=64 activation=swiglu}))' 2>&1 | FileCheck %s --check-prefix=GATE
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 bias=f32 weight=input}))' 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 sorted-a=true token-rows=true}))' 2>&1 | FileCheck %s --check-prefix=SORTED
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 dense=true experts=2}))' 2>&1 | FileCheck %s --check-prefix=DENSE
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 tile-cols=48}))' 2>&1 | FileCheck %s --check-prefix=COLS
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=512 k=64 stages=8}))' 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 activation=tanh}))' 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=0 k=64}))' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 element=f32}))' 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64 bias=f16}))' 2>&1 | FileCheck %s --check-prefix=BIAS
// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{n=64 k=64}, cta-build-gemm-kernel{n=64 k=64}))' 2>&1 | FileCheck %s --check-prefix=TWICE

// Every refusal of the kernel builder names the kernel and the rule.

// CHIP: kernel 'gemm' uses wgmma, which needs sm_90a, but is for sm_80
// BLOCK: kernel 'gemm' requires tiles of 16 or 32 rows for mma = mma_sync, but got 64
// K: kernel 'gemm' cannot be built: rows of b (K = 61) start at multiples of 2 bytes, but have to at multiples of 4
// WGMMA: kernel 'gemm' cannot be built: rows of b (K = 60) start at multiples of 8 bytes, but have to at multiples of 16
// GATE: kernel 'gemm' has a gate, so it requires an even n, but got 63
// INPUT: kernel 'gemm' weighs its input, which a bias does not commute with
// SORTED: kernel 'gemm' has sorted rows of a, which have no token
// DENSE: kernel 'gemm' is dense, so it requires one expert and flat rows
// COLS: kernel 'gemm' requires tiles of 64 to 256 columns in steps of 64 for mma = mma_sync, but got 48
// SHARED: kernel 'gemm' needs 8 stages of 18432 bytes of shared memory beside 0 bytes of staging, but the limit is 101376; use fewer stages, a smaller block or fewer columns
// WORD: an option names an unknown family, element, activation or weight place
// EMPTY: kernel 'gemm' requires positive experts, n and top_k
// ELEMENT: kernel 'gemm' cannot be built: f32 rows are multiplied exactly, without tensor cores
// BIAS: kernel 'gemm' requires a bias of f32 or of the type of b
// TWICE: module already has a symbol 'gemm'
gpu.module @m [#nvvm.target<chip = "sm_80">] {}

// RUN: not moe-opt %s --pass-pipeline='builtin.module(gpu.module(cta-build-gemm-kernel{family=wgmma n=64 k=60 block=64}))' 2>&1 | FileCheck %s --check-prefix=WGMMA
