//===- MBarrierTest.cpp - barriers in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"

using namespace mlir::moe::emulator;

/// Thread 0 initialises the mbarrier at byte 0 for `count` arrivals, and the
/// block waits for that.
static std::string initialised(const std::string &count) {
  return "setp.eq.u32 %p0, %t, 0;\n"
         "@%p0 mbarrier.init.shared.b64 [%s], " +
         count + ";\nbar.sync 0;\n";
}

/// A loop that waits for a phase of the mbarrier at byte 0.
static std::string waits(const std::string &parity,
                         const std::string &label = "wait") {
  return label + ":\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%s], " +
         parity + ";\n@!%p1 bra " + label + ";\n";
}

/// Warp 1 hands over a word by which warp 0 fills `out`.
static const char *const kSend = "setp.eq.u32 %p2, %w, 0;\n"
                                 "@%p2 bra receive;\n"
                                 "st.shared.u32 [%s+64], 7;\n";
static const char *const kReceive = "ld.shared.u32 %r1, [%s+64];\n"
                                    "st.global.u32 [%out], %r1;\n";

TEST(MBarrier, ArrivalsOfThreadsEndThePhase) {
  KernelRunner kernel;
  kernel.runClean(initialised("32") + kSend +
                      "mbarrier.arrive.shared.b64 %q0, [%s];\nret;\n"
                      "receive:\n" +
                      waits("0") + kReceive,
                  64);
  EXPECT_EQ(kernel.out[0], 7u);
}

TEST(MBarrier, StateTellsThePhaseThatIsAwaited) {
  KernelRunner kernel;
  kernel.runClean(initialised("64") +
                      "mbarrier.arrive.release.cta.shared::cta.b64 %q0, [%s];\n"
                      "wait:\n"
                      "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p1, "
                      "[%s], %q0, 1000;\n"
                      "@!%p1 bra wait;\n"
                      "mbarrier.arrive.shared.b64 %q0, [%s];\n"
                      "again:\n"
                      "mbarrier.test_wait.shared.b64 %p1, [%s], %q0;\n"
                      "@!%p1 bra again;\n"
                      "@%p0 st.global.u32 [%out], 3;\n",
                  64);
  EXPECT_EQ(kernel.out[0], 3u);
}

TEST(MBarrier, PendingCountIsThatBeforeTheArrival) {
  KernelRunner kernel;
  kernel.runClean(initialised("5") +
                  "@!%p0 ret;\n"
                  "mbarrier.arrive.noComplete.shared.b64 %q0, [%s], 3;\n"
                  "mbarrier.arrive.shared.b64 %q1, [%s], 1;\n"
                  "mbarrier.pending_count.b64 %r0, %q0;\n"
                  "mbarrier.pending_count.b64 %r1, %q1;\n"
                  "st.global.v2.u32 [%out], {%r0, %r1};\n");
  EXPECT_EQ(kernel.out[0], 5u);
  EXPECT_EQ(kernel.out[1], 2u);
}

TEST(MBarrier, DroppedArrivalsAreNotExpectedAgain) {
  KernelRunner kernel;
  kernel.runClean(initialised("3") +
                  "@!%p0 ret;\n"
                  "mbarrier.arrive_drop.shared.b64 %q0, [%s], 2;\n"
                  "mbarrier.arrive.shared.b64 %q0, [%s];\n" +
                  waits("0") + "mbarrier.arrive.shared.b64 %q0, [%s];\n" +
                  waits("1", "second") + "st.global.u32 [%out], 1;\n");
  EXPECT_EQ(kernel.out[0], 1u);
}

TEST(MBarrier, BytesAndArrivalsEndThePhaseTogether) {
  KernelRunner kernel;
  kernel.runClean(initialised("1") +
                  "@!%p0 ret;\n"
                  "mbarrier.arrive.expect_tx.shared.b64 %q0, [%s], 48;\n"
                  "mbarrier.test_wait.parity.shared.b64 %p2, [%s], 0;\n"
                  "selp.u32 %r0, 1, 0, %p2;\n"
                  "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 16;\n"
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], 8;\n"
                  "mbarrier.complete_tx.shared::cta.b64 [%s], 40;\n"
                  "mbarrier.test_wait.parity.shared.b64 %p2, [%s], 0;\n"
                  "selp.u32 %r1, 1, 0, %p2;\n"
                  "st.global.v2.u32 [%out], {%r0, %r1};\n");
  EXPECT_EQ(kernel.out[0], 0u);
  EXPECT_EQ(kernel.out[1], 1u);
}

TEST(MBarrier, ArrivalsFromAnotherBlock) {
  KernelRunner kernel;
  kernel.runClean(initialised("1") +
                      "fence.mbarrier_init.release.cluster;\n"
                      "barrier.cluster.arrive.aligned;\n"
                      "barrier.cluster.wait.aligned;\n"
                      "setp.eq.u32 %p2, %b, 0;\n"
                      "@%p2 bra receive;\n"
                      "mapa.shared::cluster.u32 %r0, %s, 0;\n"
                      "@%p0 st.shared::cluster.u32 [%r0+64], 9;\n"
                      "@%p0 mbarrier.arrive.release.cluster.shared::cluster."
                      "b64 _, [%r0];\n"
                      "bra end;\n"
                      "receive:\n" +
                      waits("0") + kReceive +
                      "end:\n"
                      "barrier.cluster.arrive.aligned;\n"
                      "barrier.cluster.wait.aligned;\n",
                  32, 2);
  EXPECT_EQ(kernel.out[0], 9u);
}

TEST(MBarrier, MoreArrivalsThanExpected) {
  KernelRunner().runHazard(
      HazardKind::BarrierMisuse, "expects 2 arrivals a phase",
      initialised("2") + "@!%p0 ret;\n"
                         "mbarrier.arrive.shared.b64 %q0, [%s], 3;\n");
}

TEST(MBarrier, NoCompleteThatCompletes) {
  KernelRunner().runHazard(
      HazardKind::BarrierMisuse, ".noComplete rules out",
      initialised("2") +
          "@!%p0 ret;\n"
          "mbarrier.arrive.noComplete.shared.b64 %q0, [%s], 2;\n");
}

TEST(MBarrier, UseBeforeInit) {
  KernelRunner().runHazard(HazardKind::BarrierMisuse, "was not initialised",
                           "mbarrier.arrive.shared.b64 %q0, [%s];\n");
}

TEST(MBarrier, UseAfterInval) {
  KernelRunner().runHazard(HazardKind::BarrierMisuse, "was not initialised",
                           initialised("1") +
                               "@!%p0 ret;\n"
                               "mbarrier.inval.shared.b64 [%s];\n"
                               "mbarrier.arrive.shared.b64 %q0, [%s];\n");
}

TEST(MBarrier, InitOverALiveOne) {
  KernelRunner().runHazard(HazardKind::BarrierMisuse, "is initialised again",
                           initialised("1") + initialised("1"));
  KernelRunner().runClean(initialised("1") +
                          "@%p0 mbarrier.inval.shared.b64 [%s];\n" +
                          initialised("1"));
}

TEST(MBarrier, UseWithoutABarrierBehindInit) {
  KernelRunner().runHazard(HazardKind::Race,
                           "without a barrier behind its initialisation",
                           "setp.eq.u32 %p0, %t, 0;\n"
                           "@%p0 mbarrier.init.shared.b64 [%s], 64;\n"
                           "mbarrier.arrive.shared.b64 %q0, [%s];\n",
                           64);
}

TEST(MBarrier, StoreOverTheBarrier) {
  KernelRunner().runHazard(HazardKind::BarrierMisuse, "was overwritten",
                           initialised("32") +
                               "@%p0 st.shared.u32 [%s+4], 1;\n"
                               "mbarrier.arrive.shared.b64 %q0, [%s];\n");
}

TEST(MBarrier, MoreBytesThanItCanCount) {
  KernelRunner().runHazard(HazardKind::BarrierMisuse, "the limit is 2^20 - 1",
                           initialised("1") +
                               "@!%p0 ret;\n"
                               "mbarrier.expect_tx.shared.b64 [%s], 1048575;\n"
                               "mbarrier.expect_tx.shared.b64 [%s], 1;\n");
}

TEST(MBarrier, ParityThatNeverComes) {
  KernelRunner().runHazard(
      HazardKind::Deadlock,
      "0 phases ended, and the next one lacks 1 arrival of 33",
      initialised("33") + "mbarrier.arrive.shared.b64 %q0, [%s];\n" +
          waits("0"));
  KernelRunner().runHazard(
      HazardKind::Deadlock, "1 phase ended, and the next one lacks 32 arrivals",
      initialised("32") + "mbarrier.arrive.shared.b64 %q0, [%s];\n" +
          waits("1"));
}

TEST(MBarrier, BytesThatNobodyAnnounced) {
  KernelRunner().runHazard(
      HazardKind::Deadlock, "got 16 bytes that nothing announced",
      initialised("1") +
          "@!%p0 ret;\n"
          "mbarrier.complete_tx.shared.b64 [%s], 32;\n"
          "mbarrier.arrive.expect_tx.shared.b64 %q0, [%s], 16;\n" +
          waits("0"));
}

TEST(MBarrier, WaitWithATimeLimitMayEndWithoutThePhase) {
  KernelRunner kernel;
  std::string wait = "mbarrier.try_wait.parity.shared.b64 %p1, [%s], 0, 20;\n";
  kernel.runClean(initialised("1") + wait +
                  "selp.u32 %r0, 1, 2, %p1;\n"
                  "st.global.u32 [%out], %r0;\n");
  EXPECT_EQ(kernel.out[0], 2u);
  // Who asks again and again is stuck all the same.
  kernel.runHazard(HazardKind::Deadlock, "lacks 1 arrival of 1",
                   initialised("1") + "again:\n" + wait + "@!%p1 bra again;\n");
}

/// Block 0 starts %r6 = block 1's %s, %r7 = block 1's mbarrier, and block 1
/// waits for 128 bytes.
static std::string remote(const std::string &send, const std::string &receive) {
  return initialised("1") +
         "@%p0 mbarrier.arrive.expect_tx.shared.b64 %q0, [%s], 128;\n"
         "mad.lo.u32 %r5, %t, 4, %s;\n"
         "st.shared.u32 [%r5+1024], 5;\n"
         "barrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\n"
         "setp.eq.u32 %p2, %b, 1;\n"
         "@%p2 bra receive;\n"
         "mapa.shared::cluster.u32 %r6, %r5, 1;\n"
         "mapa.shared::cluster.u32 %r7, %s, 1;\n" +
         send + "bra end;\nreceive:\n" + waits("0") + receive +
         "end:\nbarrier.cluster.arrive.aligned;\n"
         "barrier.cluster.wait.aligned;\n";
}

TEST(MBarrier, StoresAndReductionsThatTellIt) {
  std::string receive = "ld.shared.u32 %r1, [%r5+1024];\n"
                        "mul.wide.u32 %q1, %t, 4;\n"
                        "add.u64 %q1, %q1, %out;\n"
                        "st.global.u32 [%q1], %r1;\n";
  KernelRunner kernel;
  kernel.runClean(remote("st.async.shared::cluster.mbarrier::complete_tx::bytes"
                         ".b32 [%r6+1024], %t, [%r7];\n",
                         receive),
                  32, 2);
  EXPECT_EQ(kernel.out[9], 9u);
  kernel.runClean(remote("red.async.relaxed.cluster.shared::cluster."
                         "mbarrier::complete_tx::bytes.add.u32 [%r6+1024], %t, "
                         "[%r7];\n",
                         receive),
                  32, 2);
  EXPECT_EQ(kernel.out[9], 14u);
}

TEST(Cluster, RankOfAnAddress) {
  KernelRunner kernel;
  kernel.runClean("mapa.shared::cluster.u32 %r0, %s, 1;\n"
                  "getctarank.shared::cluster.u32 %r1, %r0;\n"
                  "getctarank.shared::cluster.u32 %r2, %s;\n"
                  "cvta.shared.u64 %q0, %smem;\n"
                  "mapa.u64 %q0, %q0, 1;\n"
                  "getctarank.u64 %r3, %q0;\n"
                  "setp.eq.u32 %p0, %t, 0;\n"
                  "mul.wide.u32 %q1, %b, 16;\n"
                  "add.u64 %q1, %q1, %out;\n"
                  "@%p0 st.global.v2.u32 [%q1], {%r1, %r2};\n"
                  "@%p0 st.global.u32 [%q1+8], %r3;\n",
                  32, 2);
  EXPECT_EQ(kernel.out[0], 1u);
  EXPECT_EQ(kernel.out[1], 0u);
  EXPECT_EQ(kernel.out[2], 1u);
  EXPECT_EQ(kernel.out[4], 1u);
  EXPECT_EQ(kernel.out[5], 1u);
}
