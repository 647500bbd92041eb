//===- BulkCopyKernels.h - pieces of kernels with bulk copies -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TEST_UNIT_EMULATOR_BULKCOPYKERNELS_H
#define MOE_TEST_UNIT_EMULATOR_BULKCOPYKERNELS_H

#include "KernelRunner.h"

namespace mlir::moe::emulator {

/// Thread 0 (%p0) initialises the mbarrier at byte 8192; %r31 is its address.
constexpr const char *kInit = "setp.eq.u32 %p0, %t, 0;\n"
                              "add.u32 %r31, %s, 8192;\n"
                              "@%p0 mbarrier.init.shared.b64 [%r31], 1;\n"
                              "@%p0 fence.mbarrier_init.release.cluster;\n"
                              "bar.sync 0;\n";

inline std::string expects(uint32_t bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 %q0, [%r31], " +
         std::to_string(bytes) + ";\n";
}

constexpr const char *kWait =
    "wait:\n"
    "mbarrier.try_wait.parity.shared.b64 %p1, [%r31], 0;\n"
    "@!%p1 bra wait;\n";

/// All threads copy `words` words of shared memory, from byte 0, to `out`.
inline std::string dumps(uint32_t words) {
  return "mov.u32 %r20, %t;\n"
         "mov.u32 %r23, %ntid.x;\n"
         "dump:\n"
         "setp.ge.u32 %p5, %r20, " +
         std::to_string(words) +
         ";\n@%p5 bra dumped;\n"
         "shl.b32 %r21, %r20, 2;\n"
         "add.u32 %r22, %r21, %s;\n"
         "ld.shared.u32 %r22, [%r22];\n"
         "cvt.u64.u32 %q20, %r21;\n"
         "add.u64 %q20, %q20, %out;\n"
         "st.global.u32 [%q20], %r22;\n"
         "add.u32 %r20, %r20, %r23;\n"
         "bra dump;\n"
         "dumped:\n";
}

/// Threads fill shared memory, from byte 0, with their numbers plus `first`.
inline std::string fills(uint32_t first = 0) {
  return "add.u32 %r20, %t, " + std::to_string(first) +
         ";\nshl.b32 %r21, %t, 2;\n"
         "add.u32 %r21, %r21, %s;\n"
         "st.shared.u32 [%r21], %r20;\n";
}

constexpr const char *kFence = "fence.proxy.async.shared::cta;\n"
                               "bar.sync 0;\n";
constexpr const char *kGroup = "@%p0 cp.async.bulk.commit_group;\n"
                               "@%p0 cp.async.bulk.wait_group 0;\n";

} // namespace mlir::moe::emulator

#endif // MOE_TEST_UNIT_EMULATOR_BULKCOPYKERNELS_H
