//===- WgmmaKernels.h - kernels with wgmma -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TEST_UNIT_EMULATOR_WGMMAKERNELS_H
#define MOE_TEST_UNIT_EMULATOR_WGMMAKERNELS_H

#include "MatrixKernels.h"

namespace mlir::moe::emulator {

/// Copies `in` to all of shared memory; 128 threads.
constexpr const char *kFillShared =
    "mov.u32 %r20, 0;\n"
    "fill:\n"
    "shl.b32 %r21, %r20, 11;\nshl.b32 %r22, %t, 4;\n"
    "add.u32 %r21, %r21, %r22;\ncvt.u64.u32 %q20, %r21;\n"
    "add.u64 %q20, %q20, %in;\nadd.u32 %r21, %r21, %s;\n"
    "ld.global.v4.u32 {%r23, %r24, %r25, %r26}, [%q20];\n"
    "st.shared.v4.u32 [%r21], {%r23, %r24, %r25, %r26};\n"
    "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p7, %r20, 8;\n@%p7 bra fill;\n";
constexpr const char *kProxyFence = "fence.proxy.async.shared::cta;\n";
constexpr const char *kBarrier = "bar.sync 0;\n";
constexpr const char *kMatrixFence = "wgmma.fence.sync.aligned;\n";
constexpr const char *kCommit = "wgmma.commit_group.sync.aligned;\n";
constexpr const char *kWaitGroup = "wgmma.wait_group.sync.aligned 0;\n";

/// How a tile lies in shared memory: swizzle 0, 32, 64 or 128.
struct TileLayout {
  uint32_t offset, leading, stride, swizzle;
  bool transposed = false;
  uint32_t base = 0;

  /// Code that puts its descriptor into a register; %r30 is used.
  std::string descriptor(const std::string &to) const {
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle ? 3 : 0;
    uint64_t rest = uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
                    uint64_t(base) << 49 | mode << 62;
    return "add.u32 %r30, %s, " + std::to_string(offset) +
           ";\nand.b32 %r30, %r30, 262143;\nshr.u32 %r30, %r30, 4;\n"
           "cvt.u64.u32 " +
           to + ", %r30;\nor.b64 " + to + ", " + to + ", " +
           std::to_string(int64_t(rest)) + ";\n";
  }

  /// Where a byte is, by the definition of the layouts: rows of `swizzle` bytes
  /// in groups of 8, whose 16-byte pieces are permuted by the row's number.
  uint32_t place(uint32_t outer, uint32_t innerByte) const {
    if (swizzle == 0)
      return offset + outer / 8 * (transposed ? leading : stride) +
             innerByte / 16 * (transposed ? stride : leading) + outer % 8 * 16 +
             innerByte % 16;
    uint32_t row = outer % 8, piece = innerByte % swizzle / 16;
    piece ^= row * swizzle / 128;
    return offset + outer / 8 * stride + innerByte / swizzle * leading +
           row * swizzle + piece * 16 + innerByte % 16;
  }

  /// Element (row, k) of a K-major tile, or of one with rows contiguous.
  uint32_t placeOf(uint32_t row, uint32_t k, uint32_t bytes) const {
    return transposed ? place(k, row * bytes) : place(row, k * bytes);
  }

  void store(uint8_t *shared, const TestMatrix &matrix,
             const ElementKind &kind) const {
    for (uint32_t row = 0; row < matrix.rows; ++row)
      for (uint32_t k = 0; k < matrix.columns; ++k) {
        uint32_t bits = encode(kind, matrix(row, k));
        std::memcpy(shared + placeOf(row, k, kind.bits / 8), &bits,
                    kind.bits / 8);
      }
  }
};

/// The dense layout of a tile whose rows along k are one swizzle wide.
inline TileLayout alongK(uint32_t offset, uint32_t swizzle) {
  if (swizzle == 0)
    return {offset, 128, 256, 0};
  return {offset, 16, 8 * swizzle, swizzle};
}

/// bf16, m64n8k16, sums in f32: %d0 to %d3; A at byte 0, B at 8192.
inline std::string smallProduct(const char *d = "%d") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 " +
         registerList(d, 4) + ", %q1, %q2, %p6, 1, 1, 0, 0;\n";
}
/// Descriptors, accumulators that are zero, and scale-d for it.
inline std::string smallOperands() {
  return ".reg .b32 %d<4>, %e<4>;\n" + alongK(0, 128).descriptor("%q1") +
         alongK(8192, 128).descriptor("%q2") +
         "setp.eq.u32 %p6, 0, 0;\n"
         "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\n"
         "mov.b32 %d3, 0;\n";
}
constexpr const char *kStoreSums =
    "shl.b32 %r0, %t, 4;\ncvt.u64.u32 %q0, %r0;\n"
    "add.u64 %q0, %q0, %out;\n"
    "st.global.v4.u32 [%q0], {%d0, %d1, %d2, "
    "%d3};\n";

} // namespace mlir::moe::emulator

#endif // MOE_TEST_UNIT_EMULATOR_WGMMAKERNELS_H
