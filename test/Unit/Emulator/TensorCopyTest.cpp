//===- TensorCopyTest.cpp - bulk copies by tensor map -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopyKernels.h"

using namespace mlir::moe::emulator;

static std::string loads2D(const std::string &x, const std::string &y) {
  return "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile."
         "mbarrier::complete_tx::bytes [%s], [%map, {" +
         x + ", " + y + "}], [%r31];\n";
}

TEST(TensorCopy, LoadWithEdges) {
  // 5 x 20 words; the box begins 4 columns and 1 row before the tensor.
  KernelRunner kernel;
  kernel.setMap(20, 5, 8, 8);
  kernel.runClean(kInit + expects(256) + loads2D("-4", "-1") + kWait +
                  dumps(64));
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      bool inside = column >= 4 && row >= 1 && row <= 5;
      uint32_t value = inside ? uint32_t((row - 1) * 20 + column - 4) : 0;
      EXPECT_EQ(kernel.out[row * 8 + column], value) << row << ", " << column;
    }
}

TEST(TensorCopy, Swizzles) {
  // Rows of 32, 64 or 128 bytes: piece p of row r goes to where the bits of the
  // address from 7 on are added to those from 4 on.
  for (uint32_t swizzle : {32, 64, 128}) {
    KernelRunner kernel;
    uint32_t columns = swizzle / 4, words = columns * 32;
    kernel.setMap(columns, 32, columns, 32, swizzle);
    kernel.runClean(kInit + expects(words * 4) + loads2D("0", "0") + kWait +
                    dumps(words));
    for (uint32_t word = 0; word < words; ++word) {
      uint32_t byte = word * 4, mask = swizzle / 16 - 1;
      uint32_t place = byte ^ ((byte / 128 & mask) * 16);
      EXPECT_EQ(kernel.out[place / 4], word) << swizzle << ", " << word;
    }
  }
}

TEST(TensorCopy, RowsThatAreNarrowerThanTheSwizzle) {
  // Rows of 32 bytes, 128 bytes apart.
  KernelRunner kernel;
  kernel.setMap(8, 4, 8, 4, 128);
  kernel.runClean(kInit + fills(100) + kFence + expects(128) +
                      loads2D("0", "0") + kWait + dumps(128),
                  128);
  for (uint32_t word = 0; word < 128; ++word) {
    uint32_t row = word / 32, piece = (word / 4 % 8) ^ row;
    EXPECT_EQ(kernel.out[word],
              piece < 2 ? row * 8 + piece * 4 + word % 4 : word + 100);
  }
}

TEST(TensorCopy, SwizzleFollowsTheAddress) {
  KernelRunner kernel;
  kernel.setMap(32, 8, 32, 8, 128);
  kernel.runClean(kInit + expects(1024) + "add.u32 %s, %s, 128;\n" +
                  loads2D("0", "0") + "sub.u32 %s, %s, 128;\n" + kWait +
                  "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%s+144];\n"
                  "st.global.u32 [%out], %r1;\n");
  // Row 0 is in the second 128 bytes: its piece 0 is in place 1.
  EXPECT_EQ(kernel.out[0], 0u);
}

TEST(TensorCopy, StoreWritesWhatIsInside) {
  KernelRunner kernel;
  kernel.setMap(8, 4, 8, 4);
  kernel.map.address = kernel.out;
  std::fill(kernel.out, kernel.out + 32, 77u);
  kernel.memory.markDefined(kernel.out, 128);
  std::string store = "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile."
                      "bulk_group [%map, ";
  kernel.runClean(kInit + fills() + kFence + store + "{4, 2}], [%s];\n" +
                  kGroup);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t column = 0; column < 8; ++column)
      EXPECT_EQ(kernel.out[row * 8 + column],
                row >= 2 && column >= 4 ? (row - 2) * 8 + column - 4 : 77u);
  kernel.runHazard(HazardKind::TensorMap, "only loads may begin before",
                   kInit + fills() + kFence + store + "{0, -1}], [%s];\n");
}

TEST(TensorCopy, BoxThatBeginsBetweenPieces) {
  KernelRunner kernel;
  kernel.setMap(16, 8, 8, 4);
  kernel.runHazard(HazardKind::TensorMap, "begins 8 bytes into a row",
                   kInit + loads2D("2", "0"));
  kernel.runHazard(HazardKind::TensorMap, "begins -4 bytes into a row",
                   kInit + loads2D("-1", "0"));
}

TEST(TensorCopy, Reduction) {
  KernelRunner kernel;
  kernel.setMap(4, 4, 4, 2);
  kernel.map.address = kernel.out;
  std::fill(kernel.out, kernel.out + 16, 100u);
  kernel.memory.markDefined(kernel.out, 64);
  Report report =
      kernel.run(kInit + fills() + kFence +
                 "@%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add."
                 "tile.bulk_group [%map, {0, 3}], [%s];\n" +
                 kGroup);
  EXPECT_TRUE(report.clean());
  for (uint32_t i = 0; i < 16; ++i)
    EXPECT_EQ(kernel.out[i], i < 12 ? 100u : 100 + i - 12);
}

TEST(TensorCopy, FiveDimensionsWithStridesOfElements) {
  KernelRunner kernel;
  TensorMap &map = kernel.map;
  map.type = ElementType::UInt32;
  map.rank = 5;
  for (uint32_t i = 0; i < 5; ++i) {
    map.extents[i] = 4;
    map.box[i] = i == 0 ? 4 : 2;
    if (i < 4)
      map.strides[i] = 16u << (2 * i);
  }
  // Elements 0 and 2 of dimension 1.
  map.box[1] = 4;
  map.elementStrides[1] = 2;
  kernel.runClean(kInit + expects(256) +
                  "@%p0 cp.async.bulk.tensor.5d.shared::cluster.global."
                  "mbarrier::complete_tx::bytes [%s], [%map, {0, 0, 1, 2, 3}], "
                  "[%r31];\n" +
                  kWait + dumps(64));
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t x = i % 4, y = i / 4 % 2 * 2, z = i / 8 % 2 + 1,
             u = i / 16 % 2 + 2, v = i / 32 + 3;
    EXPECT_EQ(kernel.out[i],
              v < 4 ? x + 4 * y + 16 * z + 64 * u + 256 * v : 0u);
  }
}

TEST(TensorCopy, FillWithNaN) {
  KernelRunner kernel;
  kernel.setMap(8, 4, 8, 4);
  kernel.map.type = ElementType::Float32;
  kernel.map.fillNaN = true;
  kernel.runClean(kInit + expects(128) + loads2D("4", "0") + kWait + dumps(8));
  EXPECT_EQ(kernel.out[3], 7u);
  // The pattern that an H200 writes.
  EXPECT_EQ(kernel.out[4], 0x7ff77ff7u);
}

TEST(TensorCopy, PrefetchesCheckTheirOperands) {
  KernelRunner kernel;
  kernel.setMap(8, 4, 8, 4);
  kernel.runClean("prefetch.tensormap [%map];\n"
                  "cp.async.bulk.prefetch.L2.global [%in], 64;\n"
                  "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map, "
                  "{0, 0}];\n");
  kernel.runHazard(HazardKind::TensorMap, "of rank 2 where 3 is needed",
                   "cp.async.bulk.prefetch.tensor.3d.L2.global [%map, "
                   "{0, 0, 0}];\n");
}

TEST(TensorCopy, MapOfAnotherRank) {
  KernelRunner kernel;
  kernel.setMap(8, 4, 8, 4);
  kernel.runHazard(HazardKind::TensorMap, "of rank 2 where 3 is needed",
                   kInit +
                       std::string("@%p0 cp.async.bulk.tensor.3d.shared::"
                                   "cluster.global.mbarrier::complete_tx::"
                                   "bytes [%s], [%map, {0, 0, 0}], [%r31];\n"));
}

TEST(TensorCopy, BytesThatAreNoTensorMap) {
  KernelRunner().runHazard(HazardKind::TensorMap, "no tensor map",
                           kInit + loads2D("0", "0"));
}

TEST(TensorCopy, DestinationIsAligned) {
  KernelRunner kernel;
  kernel.setMap(8, 4, 8, 4);
  kernel.runHazard(HazardKind::Misaligned, "no multiple of 128",
                   kInit + std::string("add.u32 %s, %s, 64;\n") +
                       loads2D("0", "0"));
}

TEST(TensorCopy, TensorLargerThanItsMemory) {
  KernelRunner kernel;
  kernel.setMap(64, 1000, 64, 16);
  // The first rows are there.
  kernel.runClean(kInit + expects(4096) + loads2D("0", "0") + kWait);
  kernel.runHazard(HazardKind::OutOfBounds, "\"in\" of 16384 bytes",
                   kInit + loads2D("0", "60"));
}

//===----------------------------------------------------------------------===//
// Rules of tensor maps
//===----------------------------------------------------------------------===//

TEST(TensorMapRules, EachIsChecked) {
  KernelRunner kernel;
  kernel.setMap(64, 32, 32, 8, 128);
  const TensorMap good = kernel.map;
  EXPECT_EQ(good.problem(), "");
  auto problem = [&](auto change) {
    TensorMap map = good;
    change(map);
    uint8_t bytes[kTensorMapBytes];
    EXPECT_THROW(map.encode(bytes), Error);
    return map.problem();
  };
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(problem([](TensorMap &map) { map.rank = 6; }), "1 to 5");
  has(problem([](TensorMap &map) {
        map.address = static_cast<uint8_t *>(map.address) + 8;
      }),
      "multiple of 16");
  has(problem([](TensorMap &map) { map.strides[0] = 264; }), "multiple of 16");
  has(problem([](TensorMap &map) { map.strides[0] = uint64_t(1) << 40; }),
      "below 2^40");
  has(problem([](TensorMap &map) { map.extents[1] = 0; }), "1 to 2^32");
  has(problem([](TensorMap &map) { map.extents[1] = (1ull << 32) + 1; }),
      "1 to 2^32");
  has(problem([](TensorMap &map) { map.box[1] = 257; }), "1 to 256");
  has(problem([](TensorMap &map) { map.box[0] = 3; }), "multiple of 16");
  has(problem([](TensorMap &map) { map.box[0] = 36; }), "swizzle of 128");
  has(problem([](TensorMap &map) { map.swizzle = 48; }), "0, 32, 64 and 128");
  has(problem([](TensorMap &map) { map.elementStrides[1] = 9; }), "1 to 8");
  has(problem([](TensorMap &map) { map.fillNaN = true; }), "NaN");
}

TEST(TensorMapRules, LimitsSurviveTheEncoding) {
  KernelRunner kernel;
  kernel.setMap(64, 32, 64, 256);
  kernel.map.extents[1] = uint64_t(1) << 32;
  kernel.map.strides[0] = (uint64_t(1) << 40) - 16;
  uint8_t bytes[kTensorMapBytes];
  kernel.map.encode(bytes);
  TensorMap map;
  ASSERT_TRUE(TensorMap::decode(bytes, map));
  EXPECT_EQ(map.extents[1], kernel.map.extents[1]);
  EXPECT_EQ(map.strides[0], kernel.map.strides[0]);
  EXPECT_EQ(map.box[1], 256u);
  EXPECT_EQ(map.address, kernel.in);
  bytes[0] ^= 1;
  EXPECT_FALSE(TensorMap::decode(bytes, map));
}
