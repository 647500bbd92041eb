//===- BulkCopyTest.cpp - bulk copies of bytes that follow each other -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopyKernels.h"

using namespace mlir::moe::emulator;

TEST(BulkCopy, Load) {
  KernelRunner kernel;
  kernel.runClean(
      kInit + expects(1024) +
      "@%p0 cp.async.bulk.shared::cluster.global."
      "mbarrier::complete_tx::bytes [%s], [%in+64], 1024, [%r31];\n" +
      kWait + dumps(256));
  for (uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(kernel.out[i], i + 16);
}

TEST(BulkCopy, LoadIsUndefinedBeforeTheWait) {
  KernelRunner().runHazard(
      HazardKind::Undefined, "stored in global memory",
      kInit + fills() + "bar.sync 0;\n" + expects(128) +
          "@%p0 cp.async.bulk.shared::cluster.global."
          "mbarrier::complete_tx::bytes [%s], [%in], 128, [%r31];\n" +
          dumps(32) + kWait);
}

TEST(BulkCopy, Store) {
  KernelRunner kernel;
  kernel.runClean(kInit + fills(100) + kFence +
                  "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                  "[%out+16], [%s], 128;\n" +
                  kGroup);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(kernel.out[i + 4], i + 100);
}

TEST(BulkCopy, StoreWithoutProxyFence) {
  std::string store = "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                      "[%out], [%s+128], 128;\n";
  KernelRunner().runHazard(
      HazardKind::MissingProxyFence,
      "reads byte 128 of shared memory, which warp 1 has written",
      kInit + std::string("setp.eq.u32 %p2, %w, 0;\n@%p2 bra skip;\n") +
          fills() + "skip:\nbar.sync 0;\n" + store + kGroup,
      64);
  // A fence of the thread that stores does as well; one before the write, or
  // of the global proxy, does not.
  KernelRunner().runClean(
      kInit + fills() + "bar.sync 0;\nfence.proxy.async;\n" + store + kGroup,
      64);
  for (const char *fence : {"fence.proxy.async.global;\n", ""})
    KernelRunner().runHazard(
        HazardKind::MissingProxyFence, "warp 1",
        kInit + std::string("fence.proxy.async.shared::cta;\n") + fills() +
            fence + "bar.sync 0;\n" + store + kGroup,
        64);
}

TEST(BulkCopy, StoreWithoutBarrier) {
  KernelRunner().runHazard(
      HazardKind::Race, "without a barrier in between",
      kInit + std::string("setp.eq.u32 %p2, %w, 0;\n@%p2 bra store;\n") +
          fills() +
          "fence.proxy.async.shared::cta;\nbra end;\n"
          "store:\n"
          // Give the other warp time.
          "nanosleep.u32 100;\nnanosleep.u32 100;\n"
          "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], "
          "[%s+128], 128;\n" +
          kGroup + "end:\n",
      64);
}

TEST(BulkCopy, SourceIsWrittenBeforeItWasRead) {
  std::string start = kInit + fills() + kFence +
                      "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                      "[%out], [%s], 128;\n"
                      "@%p0 cp.async.bulk.commit_group;\n";
  std::string read = "@%p0 cp.async.bulk.wait_group.read 0;\nbar.sync 0;\n";
  KernelRunner().runHazard(HazardKind::Race, "is not done with byte",
                           start + fills(50) + read);
  KernelRunner kernel;
  kernel.runClean(start + read + fills(50));
  EXPECT_EQ(kernel.out[3], 3u);
}

TEST(BulkCopy, BlockEndsBeforeItsSharedMemoryWasRead) {
  KernelRunner().runHazard(HazardKind::CopyInFlight,
                           "cp.async.bulk.wait_group.read is missing",
                           kInit + fills() + kFence +
                               "@%p0 cp.async.bulk.global.shared::cta."
                               "bulk_group [%out], [%s], 128;\n"
                               "@%p0 cp.async.bulk.commit_group;\n");
}

TEST(BulkCopy, BlockEndsBeforeALoadHasCome) {
  KernelRunner().runHazard(
      HazardKind::CopyInFlight, "nobody waits for its mbarrier",
      kInit + expects(16) +
          "@%p0 cp.async.bulk.shared::cluster.global."
          "mbarrier::complete_tx::bytes [%s], [%in], 16, [%r31];\n");
}

TEST(BulkCopy, StoreOfUndefinedData) {
  KernelRunner().runHazard(HazardKind::Undefined, "stored in global memory",
                           kInit + fills() + kFence +
                               "@%p0 cp.async.bulk.global.shared::cta."
                               "bulk_group [%out], [%s], 144;\n" +
                               kGroup);
}

TEST(BulkCopy, GroupsAreWaitedForInOrder) {
  // The second store may still be on its way.
  KernelRunner kernel;
  kernel.runClean(kInit + fills() + kFence +
                  "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                  "[%out], [%s], 16;\n"
                  "@%p0 cp.async.bulk.commit_group;\n"
                  "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                  "[%out+64], [%s+16], 16;\n"
                  "@%p0 cp.async.bulk.commit_group;\n"
                  "@%p0 cp.async.bulk.wait_group 1;\n"
                  "@%p0 ld.global.u32 %r1, [%out+12];\n"
                  "@%p0 st.global.u32 [%out+128], %r1;\n"
                  "@%p0 cp.async.bulk.wait_group.read 0;\n");
  EXPECT_EQ(kernel.out[32], 3u);
  EXPECT_EQ(kernel.out[16], 4u);
}

TEST(BulkCopy, Reductions) {
  KernelRunner kernel;
  auto *floats = reinterpret_cast<float *>(kernel.out);
  for (uint32_t i = 0; i < 4; ++i)
    kernel.out[i] = 10 * i;
  floats[4] = 1.5f;
  floats[5] = 2.5f;
  floats[6] = 3.5f;
  floats[7] = 4.5f;
  kernel.memory.markDefined(kernel.out, 32);
  Report report = kernel.run(
      kInit + fills(15) +
      "cvt.rn.f32.u32 %f0, %t;\n"
      "setp.gt.u32 %p2, %t, 3;\n@%p2 st.shared.f32 [%r21], %f0;\n" +
      kFence +
      "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 "
      "[%out], [%s], 16;\n"
      "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
      "[%out+16], [%s+16], 16;\n" +
      kGroup);
  for (const Hazard &hazard : report.hazards)
    ADD_FAILURE() << hazard.format();
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel.out[i], std::min(10 * i, i + 15));
    EXPECT_EQ(floats[i + 4], 1.5f + float(i) + float(i + 4));
  }
}

TEST(BulkCopy, ReductionOfHalves) {
  KernelRunner kernel;
  // 1, 2 and 0.5 of bf16.
  std::fill(kernel.out, kernel.out + 4, 0x3f804000u);
  kernel.memory.markDefined(kernel.out, 16);
  Report report =
      kernel.run(kInit +
                 std::string("@%p0 st.shared.v4.u32 [%s], {0x3f003f00, "
                             "0x3f003f00, 0x3f003f00, 0x3f003f00};\n") +
                 kFence +
                 "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group."
                 "add.noftz.bf16 [%out], [%s], 16;\n" +
                 kGroup);
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(kernel.out[0], 0x3fc04020u);
}

TEST(BulkCopy, BetweenBlocks) {
  KernelRunner kernel;
  kernel.runClean(kInit +
                      std::string("barrier.cluster.arrive.aligned;\n"
                                  "barrier.cluster.wait.aligned;\n"
                                  "setp.eq.u32 %p2, %b, 0;\n"
                                  "@%p2 bra receive;\n") +
                      fills(1000) + kFence +
                      "mapa.shared::cluster.u32 %r1, %s, 0;\n"
                      "mapa.shared::cluster.u32 %r2, %r31, 0;\n"
                      "@%p0 cp.async.bulk.shared::cluster.shared::cta."
                      "mbarrier::complete_tx::bytes [%r1], [%s], 128, [%r2];\n"
                      "bra end;\n"
                      "receive:\n" +
                      expects(128) + kWait + dumps(32) +
                      "end:\nbarrier.cluster.arrive.aligned;\n"
                      "barrier.cluster.wait.aligned;\n",
                  32, 2);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(kernel.out[i], i + 1000);
}

TEST(BulkCopy, Multicast) {
  KernelRunner kernel;
  kernel.runClean(
      kInit + expects(64) +
          "barrier.cluster.arrive.aligned;\n"
          "barrier.cluster.wait.aligned;\n"
          "setp.eq.u32 %p3, %b, 1;\n"
          "and.pred %p3, %p3, %p0;\n"
          "mov.b16 %h0, 3;\n"
          "@%p3 cp.async.bulk.shared::cluster.global."
          "mbarrier::complete_tx::bytes.multicast::cluster [%s+64], [%in], "
          "64, [%r31], %h0;\n" +
          kWait +
          "ld.shared.u32 %r1, [%s+80];\n"
          "mul.wide.u32 %q1, %b, 4;\n"
          "add.u64 %q1, %q1, %out;\n"
          "st.global.u32 [%q1], %r1;\n"
          "barrier.cluster.arrive.aligned;\n"
          "barrier.cluster.wait.aligned;\n",
      32, 2);
  EXPECT_EQ(kernel.out[0], 4u);
  EXPECT_EQ(kernel.out[1], 4u);
  kernel.runHazard(HazardKind::InvalidValue, "block 2 of a cluster of 2",
                   kInit +
                       std::string("barrier.cluster.arrive.aligned;\n"
                                   "barrier.cluster.wait.aligned;\n"
                                   "mov.b16 %h0, 5;\n"
                                   "@%p0 cp.async.bulk.shared::cluster.global."
                                   "mbarrier::complete_tx::bytes."
                                   "multicast::cluster [%s], [%in], 64, "
                                   "[%r31], %h0;\n"),
                   32, 2);
}

TEST(BulkCopy, SizeAndAlignment) {
  const char *load = "@%p0 cp.async.bulk.shared::cluster.global."
                     "mbarrier::complete_tx::bytes ";
  KernelRunner().runHazard(HazardKind::Misaligned, "a copy of 24 bytes",
                           kInit + std::string(load) +
                               "[%s], [%in], 24, [%r31];\n");
  KernelRunner().runHazard(HazardKind::Misaligned, "no multiple of 16",
                           kInit + std::string(load) +
                               "[%s+8], [%in], 16, [%r31];\n");
  KernelRunner().runHazard(HazardKind::Misaligned, "no multiple of 16",
                           kInit + std::string(load) +
                               "[%s], [%in+4], 16, [%r31];\n");
  KernelRunner().runHazard(HazardKind::OutOfBounds, "\"in\" of 16384 bytes",
                           kInit + std::string(load) +
                               "[%s], [%in+16368], 32, [%r31];\n");
  KernelRunner().runHazard(HazardKind::BarrierMisuse, "was not initialised",
                           kInit + std::string(load) +
                               "[%s], [%in], 16, [%r31+8];\n");
}

TEST(BulkCopy, WrongNumberOfBytes) {
  KernelRunner().runHazard(HazardKind::Deadlock, "lacks 0 arrivals of 1 and 32",
                           kInit + expects(96) +
                               "@%p0 cp.async.bulk.shared::cluster.global."
                               "mbarrier::complete_tx::bytes [%s], [%in], 64, "
                               "[%r31];\n" +
                               kWait);
}
