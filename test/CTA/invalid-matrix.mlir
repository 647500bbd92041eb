// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of fragments, matrix instructions, epilogue and store.

// expected-error @+1 {{fragment requires 1 or 2 parts, but got 3}}
func.func private @parts(!cta.fragment<16 x 192, mma_sync, parts = 3>)

// -----

// expected-error @+1 {{wgmma fragment requires 64 rows, but got 128}}
func.func private @wgmma_rows(!cta.fragment<128 x 64, wgmma>)

// -----

// expected-error @+1 {{fragment requires a positive multiple of 16 rows, but got 8}}
func.func private @rows(!cta.fragment<8 x 64, mma_sync>)

// -----

// expected-error @+1 {{fragment requires a positive multiple of 64 columns, but got 96}}
func.func private @cols(!cta.fragment<16 x 96, mma_sync, parts = 2>)

// -----

func.func @zero() {
  // expected-error @+1 {{requires a fragment of mma_sync, but got '!cta.fragment<64 x 64, wgmma>' (C1)}}
  %0 = cta.zero : !cta.fragment<64 x 64, wgmma>
  return
}

// -----

func.func @mma_kind(%s: !llvm.ptr<3>, %f: !cta.fragment<64 x 64, wgmma>) {
  // expected-error @+1 {{requires a fragment of mma_sync, but got '!cta.fragment<64 x 64, wgmma>' (C1)}}
  %0 = cta.mma_sync %s, %s, %f element bf16 : !llvm.ptr<3>, !llvm.ptr<3>, !cta.fragment<64 x 64, wgmma>
  return
}

// -----

func.func @mma_columns(%s: !llvm.ptr<3>, %f: !cta.fragment<16 x 32, mma_sync>) {
  // expected-error @+1 {{requires a multiple of 64 columns in every part, 16 for each of 4 warps, but got}}
  %0 = cta.mma_sync %s, %s, %f element bf16 : !llvm.ptr<3>, !llvm.ptr<3>, !cta.fragment<16 x 32, mma_sync>
  return
}

// -----

func.func @mma_registers(%s: !llvm.ptr<3>, %f: !cta.fragment<64 x 512, mma_sync>) {
  // expected-error @+1 {{accumulator takes 256 registers of a thread, more than 128 (C3)}}
  %0 = cta.mma_sync %s, %s, %f element bf16 : !llvm.ptr<3>, !llvm.ptr<3>, !cta.fragment<64 x 512, mma_sync>
  return
}

// -----

func.func @wgmma_kind(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires a fragment of wgmma, but got '!cta.fragment<16 x 64, mma_sync>' (C1)}}
  %0 = cta.wgmma %s, %s element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<16 x 64, mma_sync>
  return
}

// -----

func.func @wgmma_columns(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires 8 to 256 columns, but got 512 (C2)}}
  %0 = cta.wgmma %s, %s element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 512, wgmma>
  return
}

// -----

func.func @wgmma_made(%s: !llvm.ptr<3>, %f: !cta.fragment<64 x 64, wgmma>) {
  // expected-error @+1 {{requires the accumulator to be the fragment of a wgmma of the same type; the first one of a tile has no accumulator (C3)}}
  %0 = cta.wgmma %s, %s, %f : !cta.fragment<64 x 64, wgmma> element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 64, wgmma>
  return
}

// -----

func.func @wgmma_made_loop(%s: !llvm.ptr<3>, %f: !cta.fragment<64 x 64, wgmma>, %i: index) {
  %r = scf.for %k = %i to %i step %i iter_args(%a = %f) -> !cta.fragment<64 x 64, wgmma> {
    // expected-error @+1 {{requires the accumulator to be the fragment of a wgmma of the same type; the first one of a tile has no accumulator (C3)}}
    %0 = cta.wgmma %s, %s, %a : !cta.fragment<64 x 64, wgmma> element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 64, wgmma>
    scf.yield %0 : !cta.fragment<64 x 64, wgmma>
  }
  return
}

// -----

func.func @wgmma_role(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{must be in the consumer region of 'cta.roles' (C4)}}
  %0 = cta.wgmma %s, %s element bf16 : !llvm.ptr<3>, !llvm.ptr<3> -> !cta.fragment<64 x 64, wgmma>
  return
}

// -----

func.func @wait_kind(%f: !cta.fragment<16 x 64, mma_sync>) {
  // expected-error @+1 {{requires a fragment of wgmma}}
  %0 = cta.wgmma_wait %f pending 0 : !cta.fragment<16 x 64, mma_sync>
  return
}

// -----

func.func @wait_pending(%f: !cta.fragment<64 x 64, wgmma>) {
  // expected-error @+1 {{requires pending to be 0 or 1, but got 2 (C2)}}
  %0 = cta.wgmma_wait %f pending 2 : !cta.fragment<64 x 64, wgmma>
  return
}

// -----

func.func @wait_use(%f: !cta.fragment<64 x 64, wgmma>) -> !cta.fragment<64 x 64, wgmma> {
  // expected-error @+1 {{leaves a group in flight, so its result may only go to another wgmma or around a loop (C3)}}
  %0 = cta.wgmma_wait %f pending 1 : !cta.fragment<64 x 64, wgmma>
  // expected-note @+1 {{used here}}
  return %0 : !cta.fragment<64 x 64, wgmma>
}

// -----

func.func @rows_count(%i: i32) {
  // expected-error @+1 {{requires a result of 4 rows, but got 2 (C1)}}
  %0 = cta.fragment_rows [%i] below %i rows 32 mma_sync -> !cta.row_ids<2>
  return
}

// -----

func.func @rows_rows(%i: i32) {
  // expected-error @+1 {{requires 64 rows with wgmma and a multiple of 16 with mma_sync, but got 32 (C2)}}
  %0 = cta.fragment_rows [%i] below %i rows 32 wgmma -> !cta.row_ids<2>
  return
}

// -----

func.func @epilogue_body(%f: !cta.fragment<16 x 64, mma_sync>, %r: !cta.row_ids<2>, %i: i32) {
  // expected-error @+1 {{requires a body from 1 f32 and two i32 to one f32 (C1)}}
  %0 = cta.epilogue %f rows %r column %i columns 64 : !cta.fragment<16 x 64, mma_sync>, !cta.row_ids<2> -> !cta.fragment<16 x 64, mma_sync> {
  ^bb0(%x: f32, %y: f32, %row: i32, %col: i32):
    cta.yield %x : f32
  }
  return
}

// -----

func.func @epilogue_result(%f: !cta.fragment<16 x 128, mma_sync, parts = 2>, %r: !cta.row_ids<2>, %i: i32) {
  // expected-error @+1 {{requires a result of 16 x 64 in one part, but got '!cta.fragment<16 x 128, mma_sync>' (C2)}}
  %0 = cta.epilogue %f rows %r column %i columns 64 : !cta.fragment<16 x 128, mma_sync, parts = 2>, !cta.row_ids<2> -> !cta.fragment<16 x 128, mma_sync> {
  ^bb0(%x: f32, %y: f32, %row: i32, %col: i32):
    cta.yield %x : f32
  }
  return
}

// -----

func.func @epilogue_rows(%f: !cta.fragment<16 x 64, mma_sync>, %r: !cta.row_ids<4>, %i: i32) {
  // expected-error @+1 {{requires the 2 rows a thread holds}}
  %0 = cta.epilogue %f rows %r column %i columns 64 : !cta.fragment<16 x 64, mma_sync>, !cta.row_ids<4> -> !cta.fragment<16 x 64, mma_sync> {
  ^bb0(%x: f32, %row: i32, %col: i32):
    cta.yield %x : f32
  }
  return
}

// -----

func.func @epilogue_ops(%f: !cta.fragment<16 x 64, mma_sync>, %r: !cta.row_ids<2>, %i: i32) {
  // expected-error @+1 {{requires a body without cta ops (C4)}}
  %0 = cta.epilogue %f rows %r column %i columns 64 : !cta.fragment<16 x 64, mma_sync>, !cta.row_ids<2> -> !cta.fragment<16 x 64, mma_sync> {
  ^bb0(%x: f32, %row: i32, %col: i32):
    // expected-note @+1 {{found here}}
    %u = cta.uniform %row
    cta.yield %x : f32
  }
  return
}

// -----

func.func @store_parts(%f: !cta.fragment<16 x 128, mma_sync, parts = 2>, %r: !cta.row_ids<2>, %p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{requires a fragment of one part}}
  cta.store %f rows %r to %p column %i columns 64 element bf16 : !cta.fragment<16 x 128, mma_sync, parts = 2>, !cta.row_ids<2>, !llvm.ptr<1>
  return
}

// -----

func.func @store_rows(%f: !cta.fragment<32 x 64, mma_sync>, %r: !cta.row_ids<2>, %p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{requires the 4 rows a thread holds}}
  cta.store %f rows %r to %p column %i columns 64 element bf16 : !cta.fragment<32 x 64, mma_sync>, !cta.row_ids<2>, !llvm.ptr<1>
  return
}

// -----

func.func @store_staging(%f: !cta.fragment<64 x 64, wgmma>, %r: !cta.row_ids<2>, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %i: i32) {
  // expected-error @+1 {{with staging requires wgmma, a 2-byte element}}
  cta.store %f rows %r to %p column %i staging %s : !llvm.ptr<3> columns 60 element bf16 : !cta.fragment<64 x 64, wgmma>, !cta.row_ids<2>, !llvm.ptr<1>
  return
}

// -----

// wgmma is for sm_90a alone; sm_90 lacks it.
gpu.module @chip [#nvvm.target<chip = "sm_90">] {
  func.func @f(%f: !cta.fragment<64 x 64, wgmma>) {
    // expected-error @+1 {{'cta.wgmma_wait' op is not supported on sm_90}}
    %0 = cta.wgmma_wait %f pending 0 : !cta.fragment<64 x 64, wgmma>
    return
  }
}
