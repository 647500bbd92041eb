//===- KernelRunner.h - small kernels, written as PTX -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TEST_UNIT_EMULATOR_KERNELRUNNER_H
#define MOE_TEST_UNIT_EMULATOR_KERNELRUNNER_H

#include "moe/Emulator/Emulator.h"
#include "moe/Emulator/TensorMap.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace mlir::moe::emulator {

/// An entry whose body is given. It has parameters `in` and `out`, addresses in
/// %in and %out, `map`, a tensor map, whose address is %map, 16 KiB of shared
/// memory from %smem (64 bits; its shared address: %s) on, 1024-byte aligned;
/// the numbers of the thread %t, the warp %w and the block %b; and registers
/// %r0.. (32 bits), %q0.. (64 bits), %h0.. (16 bits), %f0.. and %p0...
class KernelRunner {
public:
  static constexpr uint32_t kWords = 4096;

  KernelRunner() {
    in = static_cast<uint32_t *>(memory.allocate(4 * kWords, "in"));
    out = static_cast<uint32_t *>(memory.allocate(4 * kWords, "out"));
    memory.markDefined(in, 4 * kWords);
    for (uint32_t i = 0; i < kWords; ++i)
      in[i] = i;
    map.address = in;
  }

  /// A matrix of 32-bit words in `in`, and the box that copies move.
  void setMap(uint32_t columns, uint32_t rows, uint32_t boxColumns,
              uint32_t boxRows, uint32_t swizzle = 0) {
    map.type = ElementType::UInt32;
    map.rank = 2;
    map.extents[0] = columns;
    map.extents[1] = rows;
    map.strides[0] = uint64_t(columns) * 4;
    map.box[0] = boxColumns;
    map.box[1] = boxRows;
    map.swizzle = swizzle;
  }

  Report run(const std::string &body, uint32_t threads = 32,
             uint32_t blocks = 1, uint64_t seed = 0) {
    Launch launch;
    launch.module = Module::parse(textOf(body, blocks));
    launch.entry = "k";
    launch.block[0] = threads;
    launch.grid[0] = blocks;
    launch.cluster[0] = blocks;
    launch.seed = seed;
    launch.threads = 1;
    launch.maxInstructions = 1 << 20;
    uint8_t encoded[kTensorMapBytes] = {};
    if (map.rank)
      map.encode(encoded);
    launch.setParameter(0, static_cast<const void *>(&in), 8);
    launch.setParameter(1, static_cast<const void *>(&out), 8);
    launch.setParameter(2, encoded, kTensorMapBytes);
    return emulator::run(launch, memory);
  }

  /// Nothing is wrong, whatever the order.
  void runClean(const std::string &body, uint32_t threads = 32,
                uint32_t blocks = 1) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Report report = run(body, threads, blocks, seed);
      for (const Hazard &hazard : report.hazards)
        ADD_FAILURE() << "seed " << seed << ": " << hazard.format();
    }
  }

  /// There is a hazard of this kind whose message has `text`, in round-robin
  /// order.
  void runHazard(HazardKind kind, const std::string &text,
                 const std::string &body, uint32_t threads = 32,
                 uint32_t blocks = 1) {
    Report report = run(body, threads, blocks);
    std::string all;
    for (const Hazard &hazard : report.hazards) {
      all += hazard.format() + "\n";
      if (hazard.kind == kind && hazard.message.find(text) != std::string::npos)
        return;
    }
    ADD_FAILURE() << "no hazard \"" << nameOf(kind) << "\" with \"" << text
                  << "\" but:\n"
                  << all;
  }

  Memory memory;
  uint32_t *in, *out;
  TensorMap map;

private:
  static std::string textOf(const std::string &body, uint32_t blocks) {
    return ".version 8.3\n.target sm_90a\n.address_size 64\n"
           ".shared .align 1024 .b8 memory[16384];\n"
           ".visible .entry k(.param .u64 in, .param .u64 out,\n"
           "  .param .align 64 .b8 map[128])\n" +
           (blocks > 1 ? ".explicitcluster .reqnctapercluster " +
                             std::to_string(blocks) + ", 1, 1\n"
                       : std::string()) +
           "{\n.reg .b32 %r<32>, %t, %w, %b, %s;\n"
           ".reg .b64 %q<32>, %in, %out, %map, %smem;\n"
           ".reg .b16 %h<8>;\n.reg .f32 %f<8>;\n.reg .pred %p<8>;\n"
           "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
           "mov.b64 %map, map;\ncvta.param.u64 %map, %map;\n"
           "mov.u64 %smem, memory;\ncvt.u32.u64 %s, %smem;\n"
           "mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\n"
           "mov.u32 %b, %ctaid.x;\n" +
           body + "\nret;\n}\n";
  }
};

} // namespace mlir::moe::emulator

#endif // MOE_TEST_UNIT_EMULATOR_KERNELRUNNER_H
