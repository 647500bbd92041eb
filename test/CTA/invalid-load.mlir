// RUN: moe-opt %s --verify-diagnostics --split-input-file

// Every rule of the loads.

func.func @source_rows_count(%p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{requires rows to be a multiple of 16 and a result of rows / 16, but got 32 rows and 1 (C1)}}
  %0 = cta.source_rows %p[%i] below %i rows 32 pitch 64 divisor 1 : !llvm.ptr<1> -> !cta.source_rows<1>
  return
}

// -----

func.func @source_rows_divisor(%p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{requires a positive divisor, 1 when sorted, but got 2 (C2)}}
  %0 = cta.source_rows %p[%i] below %i rows 16 pitch 64 divisor 2 sorted : !llvm.ptr<1> -> !cta.source_rows<1>
  return
}

// -----

func.func @source_rows_pitch(%p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{requires pitch to be a positive multiple of 4 bytes, but got 26 (C3)}}
  %0 = cta.source_rows %p[%i] below %i rows 16 pitch 26 divisor 1 : !llvm.ptr<1> -> !cta.source_rows<1>
  return
}

// -----

func.func @gather_extent(%r: !cta.source_rows<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires extent to be positive, but got 0 (C1)}}
  cta.gather_load %r[%i] to %s extent 0 : !cta.source_rows<1>, !llvm.ptr<3>
  return
}

// -----

func.func @tile_rows(%p: !llvm.ptr<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires rows to be a multiple of 16 * parts, but got 48 rows in 2 parts (C1)}}
  cta.tile_load %p[%i, %i] to %s rows 48 limit 8 pitch 64 extent 8 parts 2 partStride 8 rowStride 1 : !llvm.ptr<1>, !llvm.ptr<3>
  return
}

// -----

func.func @tile_extent(%p: !llvm.ptr<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires extent to be positive, but got 0 (C2)}}
  cta.tile_load %p[%i, %i] to %s rows 64 limit 8 pitch 64 extent 0 : !llvm.ptr<1>, !llvm.ptr<3>
  return
}

// -----

func.func @tile_pitch(%p: !llvm.ptr<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires pitch to be a multiple of 16 bytes that holds the extent of 128, but got 64 (C2)}}
  cta.tile_load %p[%i, %i] to %s rows 64 limit 8 pitch 64 extent 64 : !llvm.ptr<1>, !llvm.ptr<3>
  return
}

// -----

func.func @tile_strides(%p: !llvm.ptr<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires positive limit, parts and strides (C3)}}
  cta.tile_load %p[%i, %i] to %s rows 64 limit 8 pitch 64 extent 8 parts 2 partStride 0 rowStride 1 : !llvm.ptr<1>, !llvm.ptr<3>
  return
}

// -----

func.func @tma_coordinates(%m: !llvm.ptr, %i: i32, %s: !llvm.ptr<3>, %r: !cta.ring<2 stages of 16384 bytes, mbarrier>) {
  // expected-error @+1 {{requires one coordinate for each of 2 to 5 box dimensions, but got 1 and 2 (C1)}}
  cta.tma_load %m[%i] to %s, %r[%i] box [64, 8] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 16384 bytes, mbarrier>
  return
}

// -----

func.func @tma_swizzle(%m: !llvm.ptr, %i: i32, %s: !llvm.ptr<3>, %r: !cta.ring<2 stages of 16384 bytes, mbarrier>) {
  // expected-error @+1 {{requires an innermost box dimension of 128 bytes, the swizzle span, but got 64 (C2)}}
  cta.tma_load %m[%i, %i] to %s, %r[%i] box [32, 8] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 16384 bytes, mbarrier>
  return
}

// -----

func.func @tma_box(%m: !llvm.ptr, %i: i32, %s: !llvm.ptr<3>, %r: !cta.ring<2 stages of 65536 bytes, mbarrier>) {
  // expected-error @+1 {{requires box dimensions in [1, 256], but got 512 (C2)}}
  cta.tma_load %m[%i, %i] to %s, %r[%i] box [64, 512] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 65536 bytes, mbarrier>
  return
}

// -----

func.func @tma_bytes(%m: !llvm.ptr, %i: i32, %s: !llvm.ptr<3>, %r: !cta.ring<2 stages of 16384 bytes, mbarrier>) {
  // expected-error @+1 {{requires a box of a multiple of 8 rows that fits in a stage of 16384 bytes, but got 32768 bytes (C3)}}
  cta.tma_load %m[%i, %i] to %s, %r[%i] box [64, 256] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 16384 bytes, mbarrier>
  return
}

// -----

func.func @tma_ring(%m: !llvm.ptr, %i: i32, %s: !llvm.ptr<3>, %r: !cta.ring<2 stages of 16384 bytes, groups>) {
  // expected-error @+1 {{requires a ring with 'mbarrier' completion (C4)}}
  cta.tma_load %m[%i, %i] to %s, %r[%i] box [64, 8] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 16384 bytes, groups>
  return
}

// -----

func.func @tma_role(%m: !llvm.ptr, %i: i32, %s: !llvm.ptr<3>, %r: !cta.ring<2 stages of 16384 bytes, mbarrier>) {
  // expected-error @+1 {{must be in the producer region of 'cta.roles' (C5)}}
  cta.tma_load %m[%i, %i] to %s, %r[%i] box [64, 8] element_bytes 2 : !llvm.ptr, !llvm.ptr<3>, !cta.ring<2 stages of 16384 bytes, mbarrier>
  return
}

// -----

func.func @gather_align(%r: !cta.source_rows<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires align to be 4, 8 or 16 bytes, but got 2 (C2)}}
  cta.gather_load %r[%i] to %s extent 12 {align = 2 : i64} : !cta.source_rows<1>, !llvm.ptr<3>
  return
}

// -----

func.func @tile_align(%p: !llvm.ptr<1>, %i: i32, %s: !llvm.ptr<3>) {
  // expected-error @+1 {{requires align to be 4, 8 or 16 bytes, but got 32 (C4)}}
  cta.tile_load %p[%i, %i] to %s rows 64 limit 8 pitch 64 extent 8 {align = 32 : i64} : !llvm.ptr<1>, !llvm.ptr<3>
  return
}
