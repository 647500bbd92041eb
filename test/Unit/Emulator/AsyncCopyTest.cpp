//===- AsyncCopyTest.cpp - cp.async and its groups -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"

using namespace mlir::moe::emulator;

/// %q0: where in `in` a thread's 16 bytes are; %r0: where in shared memory.
static const char *const kPlaces = "mul.wide.u32 %q1, %t, 16;\n"
                                   "add.u64 %q0, %in, %q1;\n"
                                   "cvt.u32.u64 %r0, %q1;\n"
                                   "add.u32 %r0, %r0, %s;\n"
                                   "add.u64 %q2, %out, %q1;\n";
/// Stores what the thread has copied.
static const char *const kStore =
    "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];\n"
    "st.global.v4.u32 [%q2], {%r1, %r2, %r3, %r4};\n";

TEST(AsyncCopy, GroupsLandInOrder) {
  KernelRunner kernel;
  kernel.runClean(
      std::string(kPlaces) +
      "cp.async.cg.shared.global [%r0], [%q0], 16;\n"
      "cp.async.commit_group;\n"
      "cp.async.cg.shared.global.L2::128B [%r0+512], [%q0+512], 16;\n"
      "cp.async.commit_group;\n"
      "cp.async.wait_group 1;\n" +
      kStore);
  for (uint32_t i = 0; i < 128; ++i)
    EXPECT_EQ(kernel.out[i], i);
}

TEST(AsyncCopy, SizesAndZeroFill) {
  KernelRunner kernel;
  kernel.runClean(std::string(kPlaces) +
                  "mov.u32 %r5, 0;\n"
                  "mov.u32 %r6, 6;\n"
                  "cp.async.ca.shared.global [%r0], [%q0], 4;\n"
                  "cp.async.ca.shared::cta.global [%r0+4], [%q0+4], 4, %r5;\n"
                  "cp.async.ca.shared.global [%r0+8], [%q0+8], 8, %r6;\n"
                  "cp.async.wait_all;\n" +
                  kStore);
  EXPECT_EQ(kernel.out[4], 4u);
  EXPECT_EQ(kernel.out[5], 0u);
  EXPECT_EQ(kernel.out[6], 6u);
  EXPECT_EQ(kernel.out[7], 7u);
  // 6 of the bytes 6, 0, 0, 0, 0x107, ...
  kernel.in[7] = 0x01020304;
  kernel.runClean(std::string(kPlaces) +
                  "mov.u32 %r6, 6;\n"
                  "cp.async.ca.shared.global [%r0+8], [%q0+8], 8, %r6;\n"
                  "cp.async.ca.shared.global [%r0], [%q0], 8;\n"
                  "cp.async.wait_all;\n" +
                  kStore);
  EXPECT_EQ(kernel.out[7], 0x0304u);
}

TEST(AsyncCopy, NothingIsReadWhereTheSizeIsZero) {
  // An address that is nowhere.
  KernelRunner().runClean(std::string(kPlaces) +
                          "mov.u32 %r5, 0;\n"
                          "mov.b64 %q0, 64;\n"
                          "cp.async.cg.shared.global [%r0], [%q0], 16, %r5;\n"
                          "cp.async.wait_all;\n" +
                          kStore);
}

TEST(AsyncCopy, PredicateThatIgnoresTheSource) {
  KernelRunner kernel;
  kernel.runClean(std::string(kPlaces) +
                  "setp.lt.u32 %p3, %t, 2;\n"
                  "cp.async.cg.shared.global [%r0], [%q0], 16, %p3;\n"
                  "cp.async.wait_all;\n" +
                  kStore);
  EXPECT_EQ(kernel.out[7], 0u);
  EXPECT_EQ(kernel.out[8], 8u);
}

TEST(AsyncCopy, MissingWait) {
  KernelRunner().runHazard(HazardKind::Undefined, "stored in global memory",
                           std::string(kPlaces) +
                               "cp.async.cg.shared.global [%r0], [%q0], 16;\n"
                               "cp.async.commit_group;\n" +
                               kStore);
}

TEST(AsyncCopy, WaitForTooFewGroups) {
  KernelRunner().runHazard(HazardKind::Undefined, "stored in global memory",
                           std::string(kPlaces) +
                               "cp.async.cg.shared.global [%r0], [%q0], 16;\n"
                               "cp.async.commit_group;\n"
                               "cp.async.wait_group 1;\n" +
                               kStore);
}

TEST(AsyncCopy, CopiesBehindTheLastCommitAreNotAwaited) {
  KernelRunner().runHazard(HazardKind::Undefined, "stored in global memory",
                           std::string(kPlaces) +
                               "cp.async.commit_group;\n"
                               "cp.async.cg.shared.global [%r0], [%q0], 16;\n"
                               "cp.async.wait_group 0;\n" +
                               kStore);
}

TEST(AsyncCopy, WhatWasThereIsGoneAtOnce) {
  KernelRunner().runHazard(HazardKind::Undefined, "stored in global memory",
                           std::string(kPlaces) +
                               "st.shared.v4.u32 [%r0], {%t, %t, %t, %t};\n"
                               "cp.async.cg.shared.global [%r0], [%q0], 16;\n" +
                               kStore);
}

TEST(AsyncCopy, MBarrierArrivesBehindTheCopies) {
  for (const char *arrive : {"cp.async.mbarrier.arrive.noinc.shared.b64",
                             "cp.async.mbarrier.arrive.shared::cta.b64"}) {
    // Without .noinc the arrival is one more than the barrier expects, and
    // announces itself.
    bool counted = std::string(arrive).find("noinc") != std::string::npos;
    KernelRunner kernel;
    kernel.runClean(std::string(kPlaces) +
                        "setp.eq.u32 %p0, %t, 0;\n"
                        "@%p0 mbarrier.init.shared.b64 [%s+8192], " +
                        (counted ? "64" : "1") +
                        ";\nbar.sync 0;\n"
                        "cp.async.cg.shared.global [%r0], [%q0], 16;\n" +
                        arrive + " [%s+8192];\n" +
                        (counted ? ""
                                 : "bar.sync 0;\n"
                                   "@%p0 mbarrier.arrive.shared.b64 %q3, "
                                   "[%s+8192];\n") +
                        "wait:\n"
                        "mbarrier.try_wait.parity.shared.b64 %p1, [%s+8192], "
                        "0;\n"
                        "@!%p1 bra wait;\n"
                        "xor.b32 %r0, %r0, 512;\n"
                        "xor.b64 %q1, %q1, 512;\n"
                        "add.u64 %q2, %out, %q1;\n" +
                        kStore,
                    64);
    for (uint32_t i = 0; i < 256; ++i)
      EXPECT_EQ(kernel.out[i], i);
  }
}

TEST(AsyncCopy, MoreBytesThanTheCopyHas) {
  KernelRunner().runHazard(
      HazardKind::InvalidValue, "a copy of 8 bytes reads 9",
      std::string(kPlaces) +
          "mov.u32 %r5, 9;\n"
          "cp.async.ca.shared.global [%r0], [%q0], 8, %r5;\n");
}

TEST(AsyncCopy, AlignmentAndBounds) {
  KernelRunner().runHazard(
      HazardKind::Misaligned, "no multiple of 16",
      std::string(kPlaces) + "cp.async.cg.shared.global [%r0], [%q0+8], 16;\n");
  KernelRunner().runHazard(
      HazardKind::OutOfBounds, "\"in\" of 16384 bytes",
      std::string(kPlaces) +
          "cp.async.cg.shared.global [%r0], [%q0+16384], 16;\n");
  KernelRunner().runHazard(
      HazardKind::OutOfBounds, "of shared memory, which has 16384 bytes",
      std::string(kPlaces) +
          "cp.async.cg.shared.global [%r0+16000], [%q0], 16;\n");
}

TEST(AsyncCopy, UndefinedDataIsCarried) {
  KernelRunner kernel;
  kernel.memory.markUndefined(kernel.in + 4, 16);
  std::string copy = std::string(kPlaces) +
                     "cp.async.cg.shared.global [%r0], [%q0], 16;\n"
                     "cp.async.wait_all;\n";
  kernel.runClean(copy);
  kernel.runHazard(HazardKind::Undefined, "stored in global memory",
                   copy + kStore);
}

TEST(AsyncCopy, FormsThatDoNotExist) {
  for (const char *text :
       {"cp.async.cg.shared.global [%s], [%in], 12;\n",
        "cp.async.shared.global [%s], [%in], 16;\n",
        "cp.async.cg.shared.global.relaxed [%s], [%in], 16;\n"})
    EXPECT_THROW(KernelRunner().run(text), Error) << text;
}
