//===- MmaSyncTest.cpp - mma.sync against a plain matrix product -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixKernels.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;

namespace {
struct MmaForm {
  ElementKind a, b;
  uint32_t k;
  const char *sum;

  uint32_t aRegisters() const { return 16 * k * a.bits / 1024; }
  uint32_t bRegisters() const { return 8 * k * b.bits / 1024; }
  uint32_t sumRegisters() const { return sum[1] == '1' ? 2 : 4; }
};

/// Row, or column, and place in k of element `index` of a lane's fragment.
struct Place {
  uint32_t line, k;
};
} // namespace

/// As the ISA lists them for each shape: elements that share a register are
/// neighbours in k, the lanes of a quad follow one another, then come the other
/// 8 rows of A, then the other half of k.
static Place placeOfA(const MmaForm &form, uint32_t lane, uint32_t index) {
  uint32_t each = 32 / form.a.bits, quad = 4 * each;
  bool lower = index / each % 2 == 1;
  return {lane / 4 + (lower ? 8 : 0),
          lane % 4 * each + index % each + index / (2 * each) * quad};
}
static Place placeOfB(const MmaForm &form, uint32_t lane, uint32_t index) {
  uint32_t each = 32 / form.b.bits, quad = 4 * each;
  return {lane / 4, lane % 4 * each + index % each + index / each * quad};
}

/// Writes fragments to words of `in`, registers of a lane next to each other.
template <typename PlaceOf>
static void pack(uint32_t *to, const TestMatrix &matrix,
                 const ElementKind &kind, uint32_t registers,
                 const MmaForm &form, PlaceOf placeOf) {
  uint32_t each = 32 / kind.bits;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t r = 0; r < registers; ++r) {
      uint32_t word = 0;
      for (uint32_t j = 0; j < each; ++j) {
        Place place = placeOf(form, lane, r * each + j);
        word |= encode(kind, matrix(place.line, place.k)) << (kind.bits * j);
      }
      to[lane * registers + r] = word;
    }
}

static std::string loads(const char *prefix, uint32_t count, uint32_t offset) {
  std::string text =
      "mad.wide.u32 %q0, %t, " + std::to_string(4 * count) + ", %in;\n";
  for (uint32_t r = 0; r < count; ++r)
    text += "ld.global.u32 " + std::string(prefix) + std::to_string(r) +
            ", [%q0+" + std::to_string(offset + 4 * r) + "];\n";
  return text;
}

static std::string stores(uint32_t count) {
  std::string text =
      "mad.wide.u32 %q0, %t, " + std::to_string(4 * count) + ", %out;\n";
  for (uint32_t r = 0; r < count; ++r)
    text += "st.global.u32 [%q0+" + std::to_string(4 * r) + "], %d" +
            std::to_string(r) + ";\n";
  return text;
}

static std::string opcodeOf(const MmaForm &form) {
  return "mma.sync.aligned.m16n8k" + std::to_string(form.k) + ".row.col." +
         form.sum + "." + form.a.name + "." + form.b.name + "." + form.sum;
}

static void check(const MmaForm &form) {
  SCOPED_TRACE(opcodeOf(form));
  KernelRunner kernel;
  TestMatrix a(16, form.k, form.a, 1), b(8, form.k, form.b, 2);
  uint32_t na = form.aRegisters(), nb = form.bRegisters();
  uint32_t nc = form.sumRegisters();
  pack(kernel.in, a, form.a, na, form, placeOfA);
  pack(kernel.in + 32 * na, b, form.b, nb, form, placeOfB);
  // C is 3 everywhere.
  ElementKind sumKind = form.sum[0] == 's'   ? ElementKind{"s32", 32}
                        : form.sum[1] == '1' ? kF16
                                             : kTF32;
  uint32_t three = form.sum[0] == 's' ? 3 : encode(sumKind, 3);
  if (nc == 2)
    three |= three << 16;
  std::fill_n(kernel.in + 32 * (na + nb), 32 * nc, three);
  kernel.runClean(".reg .b32 %a<8>, %c<8>, %d<8>, %e<8>;\n" +
                  loads("%a", na, 0) + loads("%e", nb, 128 * na) +
                  loads("%c", nc, 128 * (na + nb)) + opcodeOf(form) + " " +
                  registerList("%d", nc) + ", " + registerList("%a", na) +
                  ", " + registerList("%e", nb) + ", " +
                  registerList("%c", nc) + ";\n" + stores(nc));
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t r = 0; r < 4; ++r) {
      uint32_t m = lane / 4 + r / 2 * 8, n = lane % 4 * 2 + r % 2;
      EXPECT_EQ(sumAt(form.sum, kernel.out + lane * nc, r), dot(a, b, m, n) + 3)
          << "row " << m << ", column " << n;
    }
}

TEST(MmaSync, Halves) {
  for (uint32_t k : {8, 16}) {
    check({kF16, kF16, k, "f32"});
    check({kF16, kF16, k, "f16"});
    check({kBF16, kBF16, k, "f32"});
  }
}

TEST(MmaSync, TF32) {
  check({kTF32, kTF32, 4, "f32"});
  check({kTF32, kTF32, 8, "f32"});
}

TEST(MmaSync, Bytes) {
  for (const ElementKind &x : {kS8, kU8})
    for (const ElementKind &y : {kS8, kU8})
      for (uint32_t k : {16, 32})
        check({x, y, k, "s32"});
  for (const ElementKind &x : {kE4M3, kE5M2})
    for (const ElementKind &y : {kE4M3, kE5M2})
      check({x, y, 32, "f32"});
}

TEST(MmaSync, UndefinedElementsSpreadOverTheirRow) {
  // Lane 5 holds row 1 of A: lanes 4 to 7 of D are undefined, others are not.
  std::string body =
      ".reg .b32 %a<4>, %d<4>;\n"
      "setp.ne.u32 %p0, %t, 5;\n@%p0 mov.b32 %a0, 0;\n"
      "mov.b32 %a1, 0;\nmov.b32 %r0, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, "
      "%d3}, {%a0, %a1}, {%r0}, {%r0, %r0, %r0, %r0};\n"
      "shr.u32 %r1, %t, 2;\n";
  std::string store = "st.global.u32 [%out], %d0;\n";
  KernelRunner().runClean(body + "setp.ne.u32 %p1, %r1, 1;\n@%p1 " + store +
                          "st.global.u32 [%out+4], %d2;\n");
  KernelRunner().runHazard(HazardKind::Undefined, "stored",
                           body + "setp.eq.u32 %p1, %r1, 1;\n@%p1 " + store);
}

TEST(MmaSync, NeedsAllLanes) {
  KernelRunner().runHazard(
      HazardKind::Divergence, "",
      "setp.eq.u32 %p0, %t, 3;\n@%p0 ret;\nmov.b32 %r0, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%r1, %r2, %r3, "
      "%r4}, {%r0, %r0}, {%r0}, {%r0, %r0, %r0, %r0};\n");
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix
//===----------------------------------------------------------------------===//

/// Words 0 to 127 of shared memory hold their number; row i of the matrices is
/// at 16 * (31 - i).
static const char *const kRows = "shl.b32 %r0, %t, 4;\nadd.u32 %r1, %s, %r0;\n"
                                 "shl.b32 %r2, %t, 2;\nadd.u32 %r3, %r2, 1;\n"
                                 "add.u32 %r4, %r2, 2;\nadd.u32 %r5, %r2, 3;\n"
                                 "st.shared.v4.u32 [%r1], {%r2, %r3, %r4, "
                                 "%r5};\nbar.warp.sync -1;\n"
                                 "sub.u32 %r6, 496, %r0;\n"
                                 "add.u32 %r6, %r6, %s;\n";

TEST(MatrixLoad, LoadsRows) {
  for (uint32_t count : {1, 2, 4}) {
    KernelRunner kernel;
    kernel.runClean(".reg .b32 %d<4>;\n" + std::string(kRows) +
                    "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                    ".shared.b16 " + registerList("%d", count) + ", [%r6];\n" +
                    stores(count));
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t m = 0; m < count; ++m)
        EXPECT_EQ(kernel.out[lane * count + m],
                  4 * (31 - (8 * m + lane / 4)) + lane % 4);
  }
}

TEST(MatrixLoad, Transposes) {
  KernelRunner kernel;
  kernel.runClean(".reg .b32 %d<4>;\n" + std::string(kRows) +
                  "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%d0, %d1, "
                  "%d2, %d3}, [%r6];\n" +
                  stores(4));
  // Element (i, j) of matrix m is half j of row 8 m + i.
  auto element = [](uint32_t m, uint32_t i, uint32_t j) {
    uint32_t word = 4 * (31 - (8 * m + i)) + j / 2;
    return j % 2 ? word >> 16 : word & 0xffff;
  };
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t m = 0; m < 4; ++m) {
      uint32_t i = lane % 4 * 2, j = lane / 4;
      EXPECT_EQ(kernel.out[lane * 4 + m],
                element(m, i, j) | element(m, i + 1, j) << 16);
    }
}

TEST(MatrixLoad, StoresWhatIsLoaded) {
  for (const char *turn : {"", ".trans"}) {
    KernelRunner kernel;
    std::string what = std::string(turn) + ".shared.b16 ";
    kernel.runClean(".reg .b32 %d<4>;\n" + std::string(kRows) +
                    "ldmatrix.sync.aligned.m8n8.x2" + what +
                    "{%d0, %d1}, [%r6];\nbar.warp.sync -1;\n"
                    "stmatrix.sync.aligned.m8n8.x2" +
                    what +
                    "[%r1+1024], {%d0, %d1};\nbar.warp.sync -1;\n"
                    "add.u32 %r7, %r2, %s;\n"
                    "ld.shared.u32 %d0, [%r7+1024];\n"
                    "ld.shared.u32 %d1, [%r7+1152];\n" +
                    stores(2));
    for (uint32_t word = 0; word < 64; ++word)
      EXPECT_EQ(kernel.out[word % 32 * 2 + word / 32],
                4 * (31 - word / 4) + word % 4);
  }
}

TEST(MatrixLoad, MovesOnlyWithinRegisters) {
  // Element (i, j) is 8 i + j.
  KernelRunner kernel;
  kernel.runClean("shl.b32 %r0, %t, 1;\nadd.u32 %r1, %r0, 1;\n"
                  "shl.b32 %r1, %r1, 16;\nor.b32 %r0, %r0, %r1;\n"
                  "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;\n"
                  "mad.wide.u32 %q0, %t, 4, %out;\n"
                  "st.global.u32 [%q0], %r0;\n");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t i = lane / 4, j = lane % 4 * 2;
    EXPECT_EQ(kernel.out[lane], (8 * j + i) | (8 * (j + 1) + i) << 16);
  }
}

TEST(MatrixLoad, UndefinedBytesAreCarried) {
  std::string body = "mov.b32 %r9, 0;\nst.shared.u32 [%s], %r9;\n"
                     "bar.warp.sync -1;\nand.b32 %r0, %t, 7;\n"
                     "shl.b32 %r0, %r0, 4;\nadd.u32 %r0, %r0, %s;\n"
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];\n";
  // Only the first word of row 0 was written: that of lane 0.
  KernelRunner().runClean(body + "setp.eq.u32 %p0, %t, 0;\n"
                                 "@%p0 st.global.u32 [%out], %r1;\n");
  KernelRunner().runHazard(HazardKind::Undefined, "stored",
                           body + "setp.eq.u32 %p0, %t, 1;\n"
                                  "@%p0 st.global.u32 [%out], %r1;\n");
}

TEST(MatrixLoad, AddressesAreChecked) {
  const char *load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];\n";
  KernelRunner().runHazard(HazardKind::Misaligned, "",
                           std::string("add.u32 %r0, %s, 8;\n") + load);
  KernelRunner().runHazard(HazardKind::OutOfBounds, "",
                           std::string("add.u32 %r0, %s, 16384;\n") + load);
}
