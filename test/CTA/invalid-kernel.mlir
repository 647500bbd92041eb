// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of cta.plan, cta.ring, the ring's users, cta.roles and
// cta.tile_loop.

func.func @plan_threads() {
  // expected-error @+1 {{requires threads to be a multiple of 32 in [32, 1024], but got 48 (C1)}}
  cta.plan threads 48 limit 1024 []
  return
}

// -----

llvm.func @plan_kernel() attributes {nvvm.reqntid = array<i32: 64, 2, 1>} {
  // expected-error @+1 {{states 256 threads, but the kernel has 128 (C1)}}
  cta.plan threads 256 limit 1024 []
  llvm.return
}

// -----

func.func @plan_results() {
  // expected-error @+1 {{has 0 buffers, but 1 results (C2)}}
  %0 = cta.plan threads 128 limit 1024 [] : !llvm.ptr<3>
  return
}

// -----

func.func @plan_align() {
  // expected-error @+1 {{requires align to be a power of two up to 1024 that divides the offset}}
  %0 = cta.plan threads 128 limit 1024 [#cta.buffer<"a", offset = 8, bytes = 8, align = 16>] : !llvm.ptr<3>
  return
}

// -----

func.func @plan_overlap() {
  // expected-error @+1 {{overlaps the ones before it, which end at 64 (C4)}}
  %0:2 = cta.plan threads 128 limit 1024 [#cta.buffer<"a", offset = 0, bytes = 64, align = 16>, #cta.buffer<"b", offset = 32, bytes = 64, align = 16>] : !llvm.ptr<3>, !llvm.ptr<3>
  return
}

// -----

func.func @plan_limit() {
  // expected-error @+1 {{needs 2048 bytes of shared memory, but the limit is 1024 (C5): 'a' 2048; use fewer stages or a smaller tile}}
  %0 = cta.plan threads 128 limit 1024 [#cta.buffer<"a", offset = 0, bytes = 2048, align = 16>] : !llvm.ptr<3>
  return
}

// -----

// expected-error @+1 {{ring requires 2 to 16 stages, but got 1}}
func.func private @ring_stages(!cta.ring<1 stages of 1024 bytes, groups>)

// -----

// expected-error @+1 {{ring requires stages of a positive multiple of 1024 bytes, but got 1000}}
func.func private @ring_bytes(!cta.ring<2 stages of 1000 bytes, groups>)

// -----

func.func @ring_counts(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires 'full' and 'empty' exactly with 'mbarrier' completion (C1)}}
  %r = cta.ring %s full 128 empty 4 : !cta.ring<2 stages of 1024 bytes, groups>
  return
}

// -----

func.func @ring_count_zero(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires positive arrival counts (C1)}}
  %r = cta.ring %s full 0 empty 4 : !cta.ring<2 stages of 1024 bytes, mbarrier>
  return
}

// -----

func.func @ring_storage(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires its storage to be a buffer of 'cta.plan' (C2)}}
  %r = cta.ring %s : !cta.ring<2 stages of 1024 bytes, groups>
  return
}

// -----

func.func @ring_small() {
  %s = cta.plan threads 128 limit 4096 [#cta.buffer<"a", offset = 0, bytes = 2048, align = 1024>] : !llvm.ptr<3>
  // expected-error @+1 {{requires a buffer of 2080 bytes aligned to 1024}}
  %r = cta.ring %s full 128 empty 4 : !cta.ring<2 stages of 1024 bytes, mbarrier>
  return
}

// -----

llvm.func @ring_full() {
  %c0 = arith.constant 0 : i32
  %s = cta.plan threads 256 limit 4096 [#cta.buffer<"a", offset = 0, bytes = 4096, align = 1024>] : !llvm.ptr<3>
  // expected-error @+1 {{requires 'full' to count 128 committing threads and 0 bulk copy, but got 1 (C3)}}
  %r = cta.ring %s full 1 empty 4 : !cta.ring<2 stages of 1024 bytes, mbarrier>
  cta.roles producer {
    cta.commit %r[%c0] : !cta.ring<2 stages of 1024 bytes, mbarrier>
    cta.yield
  } consumers 1 {
    cta.yield
  }
  llvm.return
}

// -----

llvm.func @ring_empty() {
  %c0 = arith.constant 0 : i32
  %s = cta.plan threads 384 limit 4096 [#cta.buffer<"a", offset = 0, bytes = 4096, align = 1024>] : !llvm.ptr<3>
  // expected-error @+1 {{requires 'empty' to count 8 releasing warps, but got 4 (C4)}}
  %r = cta.ring %s full 128 empty 4 : !cta.ring<2 stages of 1024 bytes, mbarrier>
  cta.roles producer {
    cta.yield
  } consumers 2 {
    cta.release %r[%c0] : !cta.ring<2 stages of 1024 bytes, mbarrier>
    cta.yield
  }
  llvm.return
}

// -----

func.func @acquire_groups(%r: !cta.ring<2 stages of 1024 bytes, groups>, %i: i32) {
  // expected-error @+1 {{requires a ring with 'mbarrier' completion}}
  %0 = cta.acquire %r[%i, %i] : !cta.ring<2 stages of 1024 bytes, groups>
  return
}

// -----

func.func @acquire_role(%r: !cta.ring<2 stages of 1024 bytes, mbarrier>, %i: i32) {
  // expected-error @+1 {{must be in the producer region of 'cta.roles' (C2)}}
  %0 = cta.acquire %r[%i, %i] : !cta.ring<2 stages of 1024 bytes, mbarrier>
  return
}

// -----

func.func @await_role(%r: !cta.ring<2 stages of 1024 bytes, mbarrier>, %i: i32) {
  // expected-error @+1 {{must be in the consumer region of 'cta.roles' (C1)}}
  %0 = cta.await %r[%i, %i] : !cta.ring<2 stages of 1024 bytes, mbarrier>
  return
}

// -----

func.func @release_groups(%r: !cta.ring<2 stages of 1024 bytes, groups>, %i: i32) {
  // expected-error @+1 {{requires a ring with 'mbarrier' completion}}
  cta.release %r[%i] : !cta.ring<2 stages of 1024 bytes, groups>
  return
}

// -----

func.func @release_role(%r: !cta.ring<2 stages of 1024 bytes, mbarrier>, %i: i32) {
  // expected-error @+1 {{must be in the consumer region of 'cta.roles' (C2)}}
  cta.release %r[%i] : !cta.ring<2 stages of 1024 bytes, mbarrier>
  return
}

// -----

func.func @drain(%r: !cta.ring<2 stages of 1024 bytes, mbarrier>) {
  // expected-error @+1 {{requires a ring with 'groups' completion}}
  cta.drain %r : !cta.ring<2 stages of 1024 bytes, mbarrier>
  return
}

// -----

llvm.func @roles_threads() {
  cta.plan threads 256 limit 1024 []
  // expected-error @+1 {{has 1 + 2 warpgroups, 384 threads, but the plan has 256 (C1)}}
  cta.roles producer { cta.yield } consumers 2 { cta.yield }
  llvm.return
}

// -----

func.func @roles_one_budget() {
  // expected-error @+1 {{requires both register budgets or none (C2)}}
  cta.roles producer registers 40 { cta.yield } consumers 2 { cta.yield }
  return
}

// -----

func.func @roles_budget() {
  // expected-error @+1 {{requires register budgets to be multiples of 8 in [24, 256], but got 20 and 232 (C2)}}
  cta.roles producer registers 20 { cta.yield } consumers 2 registers 232 { cta.yield }
  return
}

// -----

llvm.func @roles_total() attributes {nvvm.minctasm = 2 : i32} {
  // expected-error @+1 {{budgets take 71680 registers of a multiprocessor, but it has 65536 (C3)}}
  cta.roles producer registers 40 { cta.yield } consumers 1 registers 240 { cta.yield }
  llvm.return
}

// -----

func.func @roles_nested() {
  cta.roles producer {
    // expected-error @+1 {{must not be nested in another 'cta.roles' (C4)}}
    cta.roles producer { cta.yield } consumers 1 { cta.yield }
    cta.yield
  } consumers 1 { cta.yield }
  return
}

// -----

// C5.
gpu.module @roles_chip [#nvvm.target<chip = "sm_80">] {
  llvm.func @f() {
    // expected-error @+1 {{'cta.roles' op is not supported on sm_80}}
    cta.roles producer { cta.yield } consumers 1 { cta.yield }
    llvm.return
  }
}

// -----

func.func @warpgroup() {
  // expected-error @+1 {{must be in the consumer region of 'cta.roles' (C1)}}
  %0 = cta.warpgroup
  return
}

// -----

func.func @loop_group(%n: i32) {
  // expected-error @+1 {{requires positive column tiles and group, but got 4 and 0 (C1)}}
  cta.tile_loop %n by 4 group 0 {
  ^bb0(%a: i32, %b: i32):
    cta.yield
  }
  return
}

// -----

func.func @loop_arguments(%n: i32) {
  // expected-error @+1 {{requires a body with 2 i32 arguments (C2)}}
  cta.tile_loop %n by 4 group 1 {
  ^bb0(%a: i32):
    cta.yield
  }
  return
}

// -----

func.func @loop_yield(%n: i32) {
  // expected-error @+1 {{requires its body to yield the carried values (C2)}}
  %0 = cta.tile_loop %n by 4 group 1 iter(%n) : i32 {
  ^bb0(%a: i32, %b: i32, %c: i32):
    cta.yield
  }
  return
}
