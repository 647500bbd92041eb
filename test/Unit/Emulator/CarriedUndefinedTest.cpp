//===- CarriedUndefinedTest.cpp - rows that nobody wrote, copied -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/Emulator.h"

#include "gtest/gtest.h"

using namespace mlir::moe::emulator;

namespace {
/// Runs a kernel of one warp whose threads have 4 bytes each of `in`, which
/// nobody wrote, and of `out`.
class CarriedUndefined : public testing::Test {
protected:
  static constexpr uint32_t kBytes = 128;

  Report run(const std::string &body, const std::string &shared = "") {
    Launch launch;
    launch.module = Module::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n" + shared +
        ".visible .entry k(.param .u64 in, .param .u64 out)\n"
        "{\n.reg .b32 %r<8>, %t, %s;\n.reg .b64 %q<4>, %in, %out;\n"
        ".reg .pred %p;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
        "mov.u32 %t, %tid.x;\nmul.wide.u32 %q0, %t, 4;\n"
        "add.u64 %in, %in, %q0;\nadd.u64 %out, %out, %q0;\n" +
        body + "ret;\n}\n");
    launch.entry = "k";
    launch.block[0] = 32;
    launch.threads = 1;
    launch.carriesUndefined = carries;
    launch.setParameter(0, in);
    launch.setParameter(1, out);
    return mlir::moe::emulator::run(launch, memory);
  }

  static bool reportsUndefined(const Report &report) {
    return !report.clean() && report.hazards[0].kind == HazardKind::Undefined;
  }

  Memory memory;
  void *in = memory.allocate(kBytes, "in");
  void *out = memory.allocate(kBytes, "out");
  bool carries = true;
};
} // namespace

static const char *const kCopy = "ld.global.u32 %r1, [%in];\n"
                                 "xor.b32 %r2, %r1, 5;\n"
                                 "st.global.u32 [%out], %r2;\n";

TEST_F(CarriedUndefined, PassesFromMemoryToMemory) {
  EXPECT_TRUE(run(kCopy).clean());
  EXPECT_FALSE(memory.isDefined(out, 4));
  memory.markDefined(in, kBytes);
  EXPECT_TRUE(run(kCopy).clean());
  EXPECT_TRUE(memory.isDefined(out, kBytes));
}

TEST_F(CarriedUndefined, IsForLaunchesThatSaySo) {
  carries = false;
  EXPECT_TRUE(reportsUndefined(run(kCopy)));
}

TEST_F(CarriedUndefined, AddressesAndBranchesAreReported) {
  EXPECT_TRUE(reportsUndefined(run("ld.global.u32 %r1, [%in];\n"
                                   "and.b32 %r1, %r1, 0;\n"
                                   "cvt.u64.u32 %q1, %r1;\n"
                                   "add.u64 %q1, %q1, %out;\n"
                                   "st.global.u32 [%q1], %t;\n")));
  EXPECT_TRUE(reportsUndefined(run("ld.global.u32 %r1, [%in];\n"
                                   "setp.eq.u32 %p, %r1, 0;\n"
                                   "@%p st.global.u32 [%out], %t;\n")));
}

TEST_F(CarriedUndefined, RegistersThatNobodyWroteAreReported) {
  EXPECT_TRUE(reportsUndefined(run("setp.lt.u32 %p, %t, 7;\n"
                                   "@%p ld.global.u32 %r1, [%in];\n"
                                   "st.global.u32 [%out], %r1;\n")));
}

TEST_F(CarriedUndefined, SharedMemoryThatNobodyWroteIsReported) {
  EXPECT_TRUE(reportsUndefined(run("mov.u32 %s, memory;\n"
                                   "ld.shared.u32 %r1, [%s];\n"
                                   "st.global.u32 [%out], %r1;\n",
                                   ".shared .align 16 .b8 memory[64];\n")));
}
