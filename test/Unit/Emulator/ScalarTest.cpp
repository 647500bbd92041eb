//===- ScalarTest.cpp - ordinary instructions beside their values -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of instructions are compared with those that a GPU recorded
// (test/Emulator/vectors); here is what these do not hold.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"

using namespace mlir::moe::emulator;

static const char *const kStore = "mul.wide.u32 %q2, %t, 4;\n"
                                  "add.u64 %q2, %q2, %out;\n"
                                  "st.global.b32 [%q2], %r0;\n";

/// A word of shared memory that nobody wrote.
static std::string undefined(const std::string &name) {
  return "ld.shared.b32 " + name + ", [%s];\n";
}

static const char *const kTable = "mov.b32 %r0, 5;\n"
                                  "$table: .branchtargets $a, $b;\n";
static const char *const kTargets = "bra $end;\n"
                                    "$a: add.u32 %r0, %r0, 1;\n"
                                    "bra $end;\n"
                                    "$b: add.u32 %r0, %r0, 2;\n"
                                    "$end:\n";

TEST(IndexedBranch, ThreadsWithoutTheGuardGoOnBelow) {
  KernelRunner kernel;
  kernel.runClean(std::string(kTable) +
                  "and.b32 %r1, %t, 1;\nsetp.lt.u32 %p0, %t, 8;\n"
                  "@%p0 brx.idx %r1, $table;\nadd.u32 %r0, %r0, 100;\n" +
                  kTargets + kStore);
  EXPECT_EQ(kernel.out[0], 6u);
  EXPECT_EQ(kernel.out[1], 7u);
  EXPECT_EQ(kernel.out[8], 105u);
}

TEST(IndexedBranch, ANumberOfNoTargetTraps) {
  KernelRunner kernel;
  kernel.runHazard(HazardKind::Trap, "trapped",
                   std::string(kTable) + "brx.idx %t, $table;\n" + kTargets +
                       kStore);
}

TEST(IndexedBranch, ItsTableHasToBeAbove) {
  KernelRunner kernel;
  EXPECT_THROW(kernel.run("$a: brx.idx %t, $a;"), Error);
}

TEST(Poison, ReachesSumsThroughTheCarry) {
  KernelRunner kernel;
  kernel.runHazard(HazardKind::Undefined, "stored",
                   undefined("%r1") +
                       "add.cc.u32 %r2, %r1, 1;\n"
                       "addc.u32 %r0, 0, 0;\n" +
                       kStore);
  kernel.runClean("add.cc.u32 %r2, %t, -4;\naddc.u32 %r0, 0, 0;\n" +
                  std::string(kStore));
  EXPECT_EQ(kernel.out[3], 0u);
  EXPECT_EQ(kernel.out[4], 1u);
}

TEST(Poison, ReachesFieldsThroughTheirLength) {
  KernelRunner kernel;
  kernel.runHazard(HazardKind::Undefined, "stored",
                   undefined("%r1") + "bfi.b32 %r0, %t, 0, 0, %r1;\n" + kStore);
}

TEST(Poison, ReachesPredicatesOfLookUps) {
  KernelRunner kernel;
  kernel.runHazard(HazardKind::Undefined, "condition",
                   undefined("%r1") +
                       "setp.eq.u32 %p1, %t, 0;\nmov.b32 %r0, 0;\n"
                       "lop3.or.b32 _|%p0, %t, %r1, 0, 0x3c, %p1;\n"
                       "@%p0 mov.b32 %r0, 1;\n" +
                       kStore);
}

TEST(LookUp, MayKeepThePredicateAlone) {
  KernelRunner kernel;
  kernel.runClean("setp.eq.u32 %p1, %t, 0;\n"
                  "lop3.or.b32 _|%p0, %t, 4, 0, 0xc0, %p1;\n"
                  "selp.b32 %r0, 1, 0, %p0;\n" +
                  std::string(kStore));
  EXPECT_EQ(kernel.out[0], 1u);
  EXPECT_EQ(kernel.out[3], 0u);
  EXPECT_EQ(kernel.out[4], 1u);
}

TEST(Atomic, VectorsGiveTheOldValues) {
  KernelRunner kernel;
  kernel.runClean("mov.b32 %f0, 0f3f800000;\nmov.b32 %f1, 0f40000000;\n"
                  "setp.eq.u32 %p0, %t, 0;\n@!%p0 bra end;\n"
                  "st.global.v2.f32 [%out], {%f0, %f1};\n"
                  "atom.global.v2.f32.add {%f2, %f3}, [%out], {%f1, %f1};\n"
                  "st.global.v2.f32 [%out+8], {%f2, %f3};\nend:\n");
  EXPECT_EQ(kernel.out[0], 0x40400000u);
  EXPECT_EQ(kernel.out[1], 0x40800000u);
  EXPECT_EQ(kernel.out[2], 0x3f800000u);
  EXPECT_EQ(kernel.out[3], 0x40000000u);
}

TEST(Atomic, VectorsAreAlignedAsAWhole) {
  KernelRunner kernel;
  kernel.runHazard(HazardKind::Misaligned, "",
                   "mov.b32 %f0, 0f3f800000;\n"
                   "red.global.v2.f32.add [%out+4], {%f0, %f0};\n");
}

TEST(BarrierVote, CountsTheThreadsOfItsBarrier) {
  KernelRunner kernel;
  // Two warps each vote twice at barriers of their own.
  kernel.runClean("shr.u32 %r1, %w, 1;\nadd.u32 %r1, %r1, 1;\n"
                  "setp.lt.u32 %p0, %t, 70;\n"
                  "bar.red.popc.u32 %r0, %r1, 64, %p0;\n"
                  "bar.red.popc.u32 %r2, %r1, 64, !%p0;\n"
                  "mad.lo.u32 %r0, %r2, 100, %r0;\n" +
                      std::string(kStore),
                  128);
  EXPECT_EQ(kernel.out[0], 64u);
  EXPECT_EQ(kernel.out[127], 5806u);
}

TEST(BarrierVote, UndefinedPredicatesAreReported) {
  KernelRunner kernel;
  kernel.runHazard(HazardKind::Undefined, "predicate of a barrier",
                   undefined("%r1") +
                       "setp.eq.u32 %p0, %r1, 0;\n"
                       "bar.red.popc.u32 %r0, 0, %p0;\n" +
                       kStore);
}

TEST(Constants, DecimalFloatsHave64Bits) {
  KernelRunner kernel;
  kernel.runClean("mov.b64 %q0, 1.5;\nshr.u64 %q0, %q0, 32;\n"
                  "cvt.u32.u64 %r0, %q0;\n" +
                  std::string(kStore));
  EXPECT_EQ(kernel.out[0], 0x3ff80000u);
  EXPECT_THROW(kernel.run("mov.b32 %r0, 1.5;"), Error);
}

TEST(Modifiers, ThatAnInstructionDoesNotHaveAreErrors) {
  KernelRunner kernel;
  for (const char *text :
       {"add.sat.u32 %r0, %t, 1;", "min.relu.u32 %r0, %t, 1;",
        "mul24.lo.s16 %h0, %h0, %h0;", "add.cc.u16 %h0, %h0, %h0;",
        "cvt.ftz.f64.f64 %q0, %q0;", "set.lt.u16.f32 %h0, %f0, %f0;",
        "shf.l.b32 %r0, %t, %t, 1;", "atom.shared.v2.f32.add %f0, [%s], %f0;",
        "lop3.b32 %r0, %t, %t, %t, 256;", "fma.rn.oob.f32 %f0, %f0, %f0, %f0;"})
    EXPECT_THROW(kernel.run(text), Error) << text;
}
