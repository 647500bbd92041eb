//===- TargetTest.cpp - the table of chips ----------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Target/Target.h"

#include "gtest/gtest.h"

using namespace mlir::moe;

TEST(Target, LooksUpByName) {
  for (const Target &row : allTargets())
    EXPECT_EQ(lookupTarget(row.arch), &row);
  EXPECT_EQ(lookupTarget("sm_100"), nullptr);
  EXPECT_EQ(lookupTarget("sm_9"), nullptr);
  EXPECT_EQ(lookupTarget(""), nullptr);
}

TEST(Target, NamesTheSupported) {
  EXPECT_EQ(supportedArchs(), "sm_80, sm_89, sm_90, sm_90a");
}

TEST(Target, RowsAreConsistent) {
  for (const Target &row : allTargets()) {
    SCOPED_TRACE(row.arch.str());
    // A block's shared memory and its reserved part fit the multiprocessor.
    EXPECT_LE(row.sharedPerBlock + row.sharedReserved, row.sharedPerSM);
    EXPECT_LE(row.sharedStatic, row.sharedPerBlock);
    EXPECT_LE(row.threadsPerBlock, row.threadsPerSM);
    // What an instruction needs exists: wgmma comes with TMA and a rate.
    EXPECT_TRUE(!row.hasWgmma || row.hasTma);
    EXPECT_EQ(row.hasWgmma, row.wgmmaFlopsPerClock > 0);
    EXPECT_EQ(row.hasMmaBF16, row.mmaSyncFlopsPerClock > 0);
    EXPECT_GT(row.dramEfficiency, 0.5);
    EXPECT_LT(row.dramEfficiency, 1.0);
  }
}

TEST(Target, PeaksMatchTheDataSheets) {
  auto tera = [](const Target *row, int64_t flopsPerClock) {
    return 1e-12 * row->numSMs * row->clockHz * flopsPerClock;
  };
  const Target *a100 = lookupTarget("sm_80"), *l40s = lookupTarget("sm_89");
  const Target *h200 = lookupTarget("sm_90a");
  EXPECT_NEAR(tera(a100, a100->mmaSyncFlopsPerClock), 312, 3);
  EXPECT_NEAR(tera(l40s, l40s->mmaSyncFlopsPerClock), 362, 6);
  EXPECT_NEAR(tera(h200, h200->wgmmaFlopsPerClock), 989, 3);
  EXPECT_NEAR(tera(h200, h200->wgmmaFP8FlopsPerClock), 1979, 6);
}
