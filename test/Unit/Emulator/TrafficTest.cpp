//===- TrafficTest.cpp - sectors and bank conflicts -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"

using namespace mlir::moe::emulator;

/// %q0: `stride` bytes from thread to thread of `in`; %r0: of shared memory.
static std::string placesOf(uint32_t stride) {
  return "mul.lo.u32 %r0, %t, " + std::to_string(stride) +
         ";\n"
         "cvt.u64.u32 %q0, %r0;\n"
         "add.u64 %q0, %q0, %in;\n"
         "add.u32 %r0, %r0, %s;\n";
}

static Counts countsOf(const std::string &body) {
  KernelRunner kernel;
  return kernel.run(body).counts;
}

static uint64_t sectorsOf(uint32_t stride, const std::string &access) {
  return countsOf(placesOf(stride) + access).sectors;
}

static uint64_t conflictsOf(uint32_t stride, const std::string &access) {
  return countsOf(placesOf(stride) + access).bankConflicts;
}

TEST(Traffic, SectorsOfStrides) {
  const std::string load = "ld.global.u32 %r1, [%q0];\n";
  EXPECT_EQ(sectorsOf(0, load), 1u);
  EXPECT_EQ(sectorsOf(4, load), 4u);
  EXPECT_EQ(sectorsOf(8, load), 8u);
  EXPECT_EQ(sectorsOf(128, load), 32u);
  EXPECT_EQ(sectorsOf(4, "ld.global.u32 %r1, [%q0+4];\n"), 5u);
  EXPECT_EQ(sectorsOf(16, "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q0];\n"),
            16u);
  EXPECT_EQ(sectorsOf(4, "st.global.u32 [%q0], %t;\n"), 4u);
  EXPECT_EQ(sectorsOf(4, "ld.shared.u32 %r1, [%r0];\n"), 0u);
}

TEST(Traffic, SectorsOfLanesInAnyOrder) {
  // Every second lane in the same place; lanes backwards; some lanes alone.
  EXPECT_EQ(countsOf("and.b32 %r0, %t, 1;\nmul.wide.u32 %q0, %r0, 64;\n"
                     "add.u64 %q0, %q0, %in;\nld.global.u32 %r1, [%q0];\n")
                .sectors,
            2u);
  EXPECT_EQ(countsOf("sub.u32 %r0, 31, %t;\nmul.wide.u32 %q0, %r0, 4;\n"
                     "add.u64 %q0, %q0, %in;\nld.global.u32 %r1, [%q0];\n")
                .sectors,
            4u);
  EXPECT_EQ(sectorsOf(4, "setp.lt.u32 %p0, %t, 3;\n"
                         "@%p0 ld.global.u32 %r1, [%q0];\n"),
            1u);
}

TEST(Traffic, BankConflictsOfStrides) {
  const std::string store = "st.shared.u32 [%r0], %t;\n";
  EXPECT_EQ(conflictsOf(4, store), 0u);
  EXPECT_EQ(conflictsOf(8, store), 1u);
  EXPECT_EQ(conflictsOf(12, store), 0u);
  EXPECT_EQ(conflictsOf(128, store), 31u);
  EXPECT_EQ(conflictsOf(132, store), 0u);
  EXPECT_EQ(conflictsOf(128, "ld.shared.u32 %r1, [%r0];\n"), 31u);
  EXPECT_EQ(conflictsOf(128, "st.global.u32 [%q0], %t;\n"), 0u);
  // One word for all, and halves of a word, are given to all at once.
  EXPECT_EQ(conflictsOf(0, "ld.shared.u32 %r1, [%r0];\n"), 0u);
  EXPECT_EQ(conflictsOf(2, "ld.shared.u16 %h1, [%r0];\n"), 0u);
}

TEST(Traffic, BankConflictsOfVectors) {
  const std::string pairs = "st.shared.v2.u32 [%r0], {%t, %t};\n";
  const std::string quads = "st.shared.v4.u32 [%r0], {%t, %t, %t, %t};\n";
  EXPECT_EQ(conflictsOf(8, pairs), 0u);
  // Of each half, two lanes in each bank.
  EXPECT_EQ(conflictsOf(16, pairs), 2u);
  EXPECT_EQ(conflictsOf(16, quads), 0u);
  // Of each quarter, all eight lanes in the same four banks.
  EXPECT_EQ(conflictsOf(128, quads), 28u);
  EXPECT_EQ(conflictsOf(144, quads), 0u);
}

TEST(Traffic, BankConflictsOfMatrixLoads) {
  const std::string rows =
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];\n";
  EXPECT_EQ(conflictsOf(16, rows), 0u);
  EXPECT_EQ(conflictsOf(128, rows), 28u);
  EXPECT_EQ(conflictsOf(144, rows), 0u);
}
