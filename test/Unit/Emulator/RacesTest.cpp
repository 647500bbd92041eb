//===- RacesTest.cpp - unordered accesses and contracts -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"

using namespace mlir::moe::emulator;

/// %q5: the thread's word of shared memory; %q6: that of its mirror image among
/// `threads`.
static std::string mirrored(const std::string &between, uint32_t threads) {
  return "mul.wide.u32 %q4, %t, 4;\nadd.u64 %q5, %smem, %q4;\n"
         "sub.u64 %q6, %smem, %q4;\nst.shared.u32 [%q5], %t;\n" +
         between + "ld.shared.u32 %r1, [%q6+" +
         std::to_string(4 * (threads - 1)) +
         "];\nadd.u64 %q7, %out, %q4;\nst.global.u32 [%q7], %r1;\n";
}

TEST(Races, WarpsNeedABarrier) {
  KernelRunner kernel;
  kernel.runClean(mirrored("bar.sync 0;\n", 64), 64);
  EXPECT_EQ(kernel.out[5], 58u);
  kernel.runHazard(HazardKind::Race, "without a barrier", mirrored("", 64), 64);
  // A barrier of one warp each orders nobody.
  kernel.runHazard(HazardKind::Race, "without a barrier",
                   mirrored("bar.sync %w, 32;\n", 64), 64);
}

TEST(Races, LanesNeedASync) {
  KernelRunner kernel;
  kernel.runClean(mirrored("bar.warp.sync -1;\n", 32), 32);
  kernel.runHazard(HazardKind::Race, "without a bar.warp.sync",
                   mirrored("", 32), 32);
  // Halves of a word belong to two lanes.
  kernel.runClean("mul.wide.u32 %q4, %t, 2;\nadd.u64 %q5, %smem, %q4;\n"
                  "cvt.u16.u32 %h0, %t;\nst.shared.u16 [%q5], %h0;\n"
                  "ld.shared.u16 %h1, [%q5];\n"
                  "st.shared.u16 [%q5], %h1;\n",
                  64);
}

TEST(Races, WritesAreOrderedBehindReads) {
  KernelRunner kernel;
  std::string zero = "mov.u32 %r0, 0;\nsetp.eq.u32 %p0, %t, 0;\n"
                     "@%p0 st.shared.u32 [%smem], %r0;\nbar.sync 0;\n"
                     "ld.shared.u32 %r1, [%smem];\n";
  std::string one = "@%p0 st.shared.u32 [%smem], %t;\n";
  kernel.runClean(zero + "bar.sync 0;\n" + one, 64);
  kernel.runHazard(HazardKind::Race, "without a barrier", zero + one, 64);
}

TEST(Races, AtomicsDoNotRace) {
  KernelRunner kernel;
  kernel.runClean("mov.u32 %r0, 0;\nsetp.eq.u32 %p0, %t, 0;\n"
                  "@%p0 st.shared.u32 [%smem], %r0;\nbar.sync 0;\n"
                  "atom.shared.add.u32 %r1, [%smem], 1;\n"
                  "red.shared.add.u32 [%smem], 1;\n",
                  96);
}

/// A grid of blocks that are no cluster, each of 32 threads, with buffer `out`
/// of 64 words.
static Report runBlocks(const std::string &body, uint32_t blocks,
                        const BufferContract &contract = {}) {
  Memory memory;
  void *out = memory.allocate(256, "out");
  Launch launch;
  launch.module = Module::parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n"
      ".reg .b64 %q<8>;\nld.param.u64 %q0, [out];\nmov.u32 %r0, %tid.x;\n"
      "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %q1, %r0, 4;\n"
      "add.u64 %q1, %q1, %q0;\n" +
      body + "ret;\n}\n");
  launch.entry = "k";
  launch.grid[0] = blocks;
  launch.block[0] = 32;
  launch.setParameter(0, static_cast<const void *>(&out), 8);
  if (!contract.name.empty()) {
    launch.contracts.push_back(contract);
    launch.contracts[0].data = out;
    launch.contracts[0].bytes = 256;
  }
  return run(launch, memory);
}

static void expectHazard(const Report &report, HazardKind kind,
                         const std::string &text) {
  for (const Hazard &hazard : report.hazards)
    if (hazard.kind == kind && hazard.message.find(text) != std::string::npos)
      return;
  ADD_FAILURE() << report.hazards.size() << " hazards, none with " << text;
}

static const char *const kOwnHalf = "mul.wide.u32 %q2, %r1, 128;\n"
                                    "add.u64 %q1, %q1, %q2;\n"
                                    "st.global.u32 [%q1], %r0;\n";

TEST(Races, BlocksHaveNoOrder) {
  EXPECT_TRUE(runBlocks(kOwnHalf, 2).clean());
  expectHazard(runBlocks("st.global.u32 [%q1], %r0;\n", 2), HazardKind::Race,
               "blocks of one launch have no order");
  EXPECT_TRUE(runBlocks("atom.global.exch.b32 %r2, [%q1], %r0;\n", 2).clean());
}

TEST(Contracts, EachByteOnce) {
  BufferContract contract;
  contract.name = "out";
  contract.once = contract.complete = true;
  EXPECT_TRUE(runBlocks(kOwnHalf, 2, contract).clean());
  expectHazard(runBlocks(kOwnHalf, 1, contract), HazardKind::Contract,
               "bytes 128 to 255 of \"out\" were not written");
  expectHazard(runBlocks(kOwnHalf + std::string("st.global.u32 [%q1], %r0;\n"),
                         2, contract),
               HazardKind::Contract, "has written before");
  contract.untouched = {{128, 256}};
  EXPECT_TRUE(runBlocks(kOwnHalf, 1, contract).clean());
  expectHazard(runBlocks(kOwnHalf, 2, contract), HazardKind::Contract,
               "not to be touched");
}

TEST(Contracts, CountsPieces) {
  BufferContract contract;
  contract.name = "out";
  contract.pieces = 4;
  Report report = runBlocks(
      kOwnHalf + std::string("ld.global.u32 %r2, [%q1];\n"), 1, contract);
  ASSERT_EQ(report.buffers.size(), 1u);
  EXPECT_EQ(report.buffers[0].bytesWritten, 128u);
  EXPECT_EQ(report.buffers[0].piecesRead,
            (std::vector<uint64_t>{64, 64, 0, 0}));
  contract.mayRead = false;
  expectHazard(runBlocks("ld.global.u32 %r2, [%q1];\n", 1, contract),
               HazardKind::Contract, "not to be read");
  contract.untouched = {{0, 257}};
  EXPECT_THROW(runBlocks(kOwnHalf, 1, contract), Error);
}
