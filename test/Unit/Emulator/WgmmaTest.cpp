//===- WgmmaTest.cpp - wgmma against a plain matrix product -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaKernels.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;

namespace {
struct WgmmaForm {
  ElementKind a, b;
  const char *sum;
  uint32_t n;
  TileLayout tileA, tileB;
  bool aInRegisters = false;
  bool accumulate = true;
  int scaleA = 1, scaleB = 1;

  uint32_t k() const { return 256 / a.bits; }
  bool isInteger() const { return sum[0] == 's'; }
  uint32_t sumRegisters() const { return sum[1] == '1' ? n / 4 : n / 2; }
  std::string opcode() const {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" +
           std::to_string(k()) + "." + sum + "." + a.name + "." + b.name;
  }
  std::string instruction() const {
    std::string text = opcode() + " " + registerList("%d", sumRegisters()) +
                       ", " + (aInRegisters ? "{%a0, %a1, %a2, %a3}" : "%q1") +
                       ", %q2, %p6";
    if (!isInteger())
      text += ", " + std::to_string(scaleA) + ", " + std::to_string(scaleB);
    if (a.bits == 16) {
      if (!aInRegisters)
        text += tileA.transposed ? ", 1" : ", 0";
      text += tileB.transposed ? ", 1" : ", 0";
    }
    return text + ";\n";
  }
};
} // namespace

/// Loads fragments of A from where the matrix, row by row, is in `in`.
static std::string loadsOfA() {
  std::string text = ".reg .b32 %a<4>;\n";
  for (uint32_t r = 0; r < 4; ++r) {
    // Row 16 w + lane / 4 + 8 (r % 2); byte 4 (lane % 4) + 16 (r / 2) of 32.
    text += "and.b32 %r0, %t, 31;\nshr.u32 %r1, %r0, 2;\n"
            "mad.lo.u32 %r1, %w, 16, %r1;\nadd.u32 %r1, %r1, " +
            std::to_string(8 * (r % 2)) +
            ";\nand.b32 %r2, %r0, 3;\nshl.b32 %r2, %r2, 2;\n"
            "mad.lo.u32 %r1, %r1, 32, %r2;\ncvt.u64.u32 %q0, %r1;\n"
            "add.u64 %q0, %q0, %in;\nld.global.u32 %a" +
            std::to_string(r) + ", [%q0+" + std::to_string(16 * (r / 2)) +
            "];\n";
  }
  return text;
}

static std::string kernelOf(const WgmmaForm &form, uint32_t two) {
  uint32_t count = form.sumRegisters();
  std::string text = kFillShared + std::string(kProxyFence) + kBarrier +
                     form.tileB.descriptor("%q2") + ".reg .b32 %d<" +
                     std::to_string(count) + ">;\n";
  text += form.aInRegisters ? loadsOfA() : form.tileA.descriptor("%q1");
  for (uint32_t r = 0; r < count; ++r)
    text +=
        "mov.b32 %d" + std::to_string(r) + ", " + std::to_string(two) + ";\n";
  text += "setp.eq.u32 %p6, " + std::string(form.accumulate ? "0" : "1") +
          ", 0;\n" + kMatrixFence + form.instruction() + kCommit + kWaitGroup;
  text += "mad.wide.u32 %q0, %t, " + std::to_string(4 * count) + ", %out;\n";
  for (uint32_t r = 0; r < count; ++r)
    text += "st.global.u32 [%q0+" + std::to_string(4 * r) + "], %d" +
            std::to_string(r) + ";\n";
  return text;
}

static void check(const WgmmaForm &form) {
  SCOPED_TRACE(form.opcode() + " swizzles " +
               std::to_string(form.tileA.swizzle) + ", " +
               std::to_string(form.tileB.swizzle) + " transposed " +
               std::to_string(form.tileA.transposed) +
               std::to_string(form.tileB.transposed) +
               (form.aInRegisters ? " A in registers" : ""));
  KernelRunner kernel;
  TestMatrix a(64, form.k(), form.a, 3), b(form.n, form.k(), form.b, 4);
  auto *shared = reinterpret_cast<uint8_t *>(kernel.in);
  std::fill(kernel.in, kernel.in + KernelRunner::kWords, 0x7f7f7f7fu);
  if (form.aInRegisters) // 64 rows of 32 bytes
    for (uint32_t m = 0; m < 64; ++m)
      for (uint32_t k = 0; k < form.k(); ++k) {
        uint32_t bits = encode(form.a, a(m, k)), bytes = form.a.bits / 8;
        std::memcpy(shared + 32 * m + bytes * k, &bits, bytes);
      }
  else
    form.tileA.store(shared, a, form.a);
  form.tileB.store(shared, b, form.b);
  uint32_t two = form.isInteger() ? 2 : encode(kTF32, 2);
  if (form.sum[1] == '1')
    two = encode(kF16, 2) * 0x10001u;
  kernel.runClean(kernelOf(form, two), 128);
  int sign = form.scaleA * form.scaleB;
  uint32_t wrong = 0;
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t r = 0; r < form.n / 2; ++r) {
      uint32_t lane = thread % 32;
      uint32_t m = thread / 32 * 16 + lane / 4 + r / 2 % 2 * 8;
      uint32_t n = r / 4 * 8 + lane % 4 * 2 + r % 2;
      double expected = sign * dot(a, b, m, n) + (form.accumulate ? 2 : 0);
      wrong += sumAt(form.sum, kernel.out + thread * form.sumRegisters(), r) !=
               expected;
    }
  EXPECT_EQ(wrong, 0u) << "of " << 64 * form.n;
}

TEST(Wgmma, TypesAndSwizzles) {
  for (uint32_t swizzle : {0, 32, 64, 128}) {
    TileLayout a = alongK(0, swizzle), b = alongK(8192, swizzle);
    for (const char *sum : {"f32", "f16"})
      check({kF16, kF16, sum, 24, a, b});
    check({kBF16, kBF16, "f32", 16, a, b});
    check({kTF32, kTF32, "f32", 8, a, b});
    for (const ElementKind &x : {kE4M3, kE5M2})
      for (const ElementKind &y : {kE4M3, kE5M2})
        check({x, y, swizzle % 64 ? "f16" : "f32", 16, a, b});
    for (const ElementKind &x : {kS8, kU8})
      for (const ElementKind &y : {kS8, kU8})
        check({x, y, "s32", 16, a, b});
  }
}

TEST(Wgmma, Shapes) {
  for (uint32_t n = 8; n <= 64; n += 8)
    check({kBF16, kBF16, "f32", n, alongK(0, 128), alongK(8192, 128)});
}

TEST(Wgmma, RegistersOfA) {
  for (const ElementKind &kind : {kF16, kBF16, kTF32, kE4M3, kE5M2})
    check({kind, kind, "f32", 16, {}, alongK(8192, 128), true});
  check({kS8, kU8, "s32", 16, {}, alongK(8192, 64), true});
}

TEST(Wgmma, TransposedTiles) {
  for (uint32_t swizzle : {0, 32, 64, 128}) {
    // Pieces along m, or n, of one swizzle; two groups of 8 of k.
    uint32_t width = swizzle ? swizzle : 16;
    uint32_t group = 8 * width, piece = 2 * group;
    TileLayout a{0, piece, group, swizzle, true};
    if (swizzle == 0)
      a = {0, group, piece, 0, true};
    TileLayout b = a;
    b.offset = 8192;
    uint32_t n = 64;
    check({kBF16, kBF16, "f32", n, a, b});
    check({kF16, kF16, "f16", n, a, alongK(8192, 64)});
    check({kBF16, kBF16, "f32", n, alongK(0, 32), b});
    check({kF16, kF16, "f32", n, {}, b, true});
  }
}

TEST(Wgmma, BaseOffset) {
  // Rows of the pattern that begin anywhere.
  for (uint32_t swizzle : {32, 64, 128})
    for (uint32_t base = 0; base < 8; ++base) {
      TileLayout b = alongK(8192 + 128 * base, swizzle);
      b.base = base;
      check({kBF16, kBF16, "f32", 16, alongK(0, 128), b});
    }
}

TEST(Wgmma, Scales) {
  TileLayout a = alongK(0, 128), b = alongK(8192, 128);
  for (int scaleA : {1, -1})
    for (int scaleB : {1, -1})
      for (bool accumulate : {false, true}) {
        check(
            {kBF16, kBF16, "f32", 8, a, b, false, accumulate, scaleA, scaleB});
        check(
            {kE4M3, kE4M3, "f32", 8, a, b, false, accumulate, scaleA, scaleB});
      }
  check({kS8, kS8, "s32", 8, a, b, false, false});
}

TEST(Wgmma, RefusesWhatDoesNotExist) {
  for (const char *name : {"m64n12k16.f32.bf16.bf16", "m64n8k8.f32.bf16.bf16",
                           "m64n8k16.f32.f16.e4m3", "m64n8k16.s32.bf16.bf16"})
    EXPECT_THROW(KernelRunner().run(".reg .b32 %d<4>;\n"
                                    "wgmma.mma_async.sync.aligned." +
                                        std::string(name) +
                                        " {%d0, %d1, %d2, %d3}, %q1, %q2, "
                                        "%p6, 1, 1, 0, 0;\n",
                                    128),
                 Error)
        << name;
}
