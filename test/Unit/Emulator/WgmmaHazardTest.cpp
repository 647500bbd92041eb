//===- WgmmaHazardTest.cpp - what kernels with wgmma get wrong -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopyKernels.h"
#include "WgmmaKernels.h"

using namespace mlir::moe::emulator;

static std::string filled() {
  return kFillShared + std::string(kProxyFence) + kBarrier + smallOperands();
}

static void expectHazard(HazardKind kind, const std::string &text,
                         const std::string &body) {
  KernelRunner().runHazard(kind, text, body, 128);
}

TEST(WgmmaHazards, NoneInTheUsualOrder) {
  KernelRunner().runClean(filled() + kMatrixFence + smallProduct() +
                              smallProduct() + kCommit + smallProduct() +
                              kCommit + "wgmma.wait_group.sync.aligned 1;\n" +
                              kWaitGroup + kStoreSums,
                          128);
}

TEST(WgmmaHazards, SumsAreReadOrWrittenInFlight) {
  const char *text = "touches a register of D";
  std::string issue = filled() + kMatrixFence + smallProduct();
  expectHazard(HazardKind::MatrixInFlight, text,
               issue + kCommit + "mov.b32 %r1, %d2;\n" + kWaitGroup);
  expectHazard(HazardKind::MatrixInFlight, text,
               issue + kCommit + "mov.b32 %d1, 0;\n" + kWaitGroup);
  expectHazard(HazardKind::MatrixInFlight, text,
               issue + kCommit + "wgmma.wait_group.sync.aligned 1;\n" +
                   kStoreSums);
  // A product that is in no group is waited for by nobody.
  expectHazard(HazardKind::MatrixInFlight, text,
               issue + kWaitGroup + kStoreSums);
  // Other registers may be used all the time.
  KernelRunner().runClean(
      issue + kCommit + "mov.b32 %e0, 0;\n" + kWaitGroup + kStoreSums, 128);
}

TEST(WgmmaHazards, RegistersOfAInFlight) {
  std::string issue =
      filled() +
      "mov.b32 %e0, 0;\nmov.b32 %e1, 0;\nmov.b32 %e2, 0;\n"
      "mov.b32 %e3, 0;\n" +
      kMatrixFence +
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, "
      "%d3}, {%e0, %e1, %e2, %e3}, %q2, %p6, 1, 1, 0;\n" +
      kCommit;
  KernelRunner().runClean(issue + kWaitGroup + "mov.b32 %e3, 7;\n", 128);
  expectHazard(HazardKind::MatrixInFlight, "touches a register of A",
               issue + "mov.b32 %e3, 7;\n" + kWaitGroup);
  expectHazard(HazardKind::MatrixInFlight, "uses as A",
               issue + smallProduct("%e") + kCommit + kWaitGroup);
}

TEST(WgmmaHazards, MissingMatrixFence) {
  expectHazard(HazardKind::MatrixInFlight, "before its first wgmma",
               filled() + smallProduct() + kCommit + kWaitGroup);
  std::string first =
      filled() + kMatrixFence + smallProduct() + kCommit + kWaitGroup;
  std::string second = smallProduct() + kCommit + kWaitGroup;
  KernelRunner().runClean(first + second, 128);
  for (const char *touch : {"mov.b32 %d1, 0;\n", "mov.b32 %r1, %d1;\n"}) {
    expectHazard(HazardKind::MatrixInFlight,
                 "register 1 of D is one that ordinary instructions",
                 first + touch + second);
    KernelRunner().runClean(first + touch + kMatrixFence + second, 128);
  }
}

TEST(WgmmaHazards, AnotherShapeNeedsAFence) {
  std::string other = "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 "
                      "{%d0, %d1, %d2, %d3}, %q1, %q2, %p6, 1, 1, 0, 0;\n";
  std::string end = other + kCommit + kWaitGroup;
  std::string begin = filled() + kMatrixFence + smallProduct();
  expectHazard(HazardKind::MatrixInFlight, "of another shape", begin + end);
  KernelRunner().runClean(begin + kCommit + kWaitGroup + kMatrixFence + end,
                          128);
}

TEST(WgmmaHazards, MissingProxyFence) {
  std::string product =
      smallOperands() + kMatrixFence + smallProduct() + kCommit + kWaitGroup;
  expectHazard(HazardKind::MissingProxyFence, "a matrix product reads byte",
               kFillShared + std::string(kBarrier) + product);
  expectHazard(HazardKind::Race, "a matrix product reads byte",
               kFillShared + std::string(kProxyFence) + product);
}

TEST(WgmmaHazards, TilesAreOverwritten) {
  std::string issue = filled() + kMatrixFence + smallProduct() + kCommit;
  std::string one = "setp.eq.u32 %p1, %t, 0;\n@%p1 ";
  std::string store = one + "st.shared.u32 [%s+8192], 0;\n";
  std::string elsewhere = one + "st.shared.u32 [%s+12288], 0;\n";
  expectHazard(HazardKind::Race, "without a wgmma.wait_group",
               issue + store + kWaitGroup);
  KernelRunner().runClean(issue + elsewhere + kWaitGroup + kBarrier + store,
                          128);
}

TEST(WgmmaHazards, ABarrierHasToTellOtherWarps) {
  // Warps 4 to 7 overwrite what warps 0 to 3 read.
  std::string product = kMatrixFence + smallProduct() + kCommit;
  std::string begin = ".reg .pred %g;\nsetp.ge.u32 %g, %w, 4;\n"
                      "@%g bra filled;\n" +
                      std::string(kFillShared) + kProxyFence + "filled:\n" +
                      kBarrier + smallOperands() + "@%g bra other;\n";
  KernelRunner().runClean(begin + product + kWaitGroup +
                              "bar.sync 1, 256;\nret;\nother:\n"
                              "bar.sync 1, 256;\n"
                              "setp.eq.u32 %p1, %t, 128;\n"
                              "@%p1 st.shared.u32 [%s+8192], 0;\n",
                          256);
  KernelRunner().runHazard(HazardKind::Race, "of warps 0 to 3 reads",
                           begin + product + "bar.sync 1, 256;\n" + kWaitGroup +
                               "ret;\nother:\nbar.sync 1, 256;\n"
                               "st.shared.u32 [%s+8192], 0;\n",
                           256);
}

TEST(WgmmaHazards, ACopyComesBehindTheIssue) {
  // B is not where the mbarrier is.
  std::string begin =
      kFillShared + std::string(kProxyFence) + kBarrier + kInit + kProxyFence +
      kBarrier + smallOperands() + alongK(12288, 128).descriptor("%q2") +
      expects(8192) +
      "@%p0 cp.async.bulk.shared::cluster.global."
      "mbarrier::complete_tx::bytes [%s], [%in], 8192, [%r31];\n";
  std::string product = kMatrixFence + smallProduct() + kCommit;
  KernelRunner().runClean(begin + kWait + product + kWaitGroup, 128);
  expectHazard(HazardKind::Race, "was written between its issue",
               begin + product + kWait + kWaitGroup);
}

TEST(WgmmaHazards, WarpsOfTheGroupRunTheSame) {
  std::string end = kCommit + std::string(kWaitGroup);
  expectHazard(HazardKind::Divergence, "another matrix descriptor",
               filled() + "cvt.u64.u32 %q3, %w;\nadd.u64 %q2, %q2, %q3;\n" +
                   kMatrixFence + smallProduct() + end);
  expectHazard(HazardKind::Divergence, "another scale-d",
               filled() + "setp.eq.u32 %p6, %w, 1;\n" + kMatrixFence +
                   smallProduct() + end);
  expectHazard(HazardKind::Divergence, "ends without it",
               filled() + kMatrixFence +
                   "setp.eq.u32 %p1, %w, 2;\n@%p1 ret;\n" + smallProduct());
  for (uint32_t threads : {96, 112})
    KernelRunner().runHazard(HazardKind::Divergence, "four whole warps",
                             kMatrixFence, threads);
}

TEST(WgmmaHazards, TilesOutsideOfSharedMemory) {
  expectHazard(HazardKind::OutOfBounds, "",
               filled() + alongK(16384 - 512, 128).descriptor("%q2") +
                   kMatrixFence + smallProduct() + kCommit + kWaitGroup);
}

TEST(WgmmaHazards, UndefinedTilesReachTheSums) {
  expectHazard(HazardKind::Undefined, "stored in global memory",
               smallOperands() + kMatrixFence + smallProduct() + kCommit +
                   kWaitGroup + kStoreSums);
}

TEST(WgmmaHazards, AMulticastOverwritesAnotherBlock) {
  // Block 0 copies to both blocks while block 1 may still read its A.
  std::string begin =
      kFillShared + std::string(kProxyFence) + kBarrier + kInit + kProxyFence +
      kBarrier + smallOperands() +
      // B is not where the mbarrier is.
      alongK(12288, 128).descriptor("%q2") + expects(8192) +
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  std::string product = kMatrixFence + smallProduct() + kCommit;
  std::string sync = "barrier.cluster.arrive.aligned;\n"
                     "barrier.cluster.wait.aligned;\n";
  std::string copy =
      "setp.eq.u32 %p2, %b, 0;\n@!%p2 bra copied;\n"
      "mov.b16 %h0, 3;\n"
      "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
      "multicast::cluster [%s], [%in], 8192, [%r31], %h0;\ncopied:\n";
  KernelRunner().runClean(begin + product + kWaitGroup + sync + copy + kWait,
                          128, 2);
  KernelRunner().runHazard(
      HazardKind::Race, "of warps 0 to 3 reads",
      begin + product + "setp.ne.u32 %p3, %b, 0;\n@%p3 bra later;\n" +
          kWaitGroup + "later:\n" + sync + copy + kWaitGroup + kWait,
      128, 2);
}
