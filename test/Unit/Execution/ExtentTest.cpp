//===- ExtentTest.cpp - extents that hang on a free one ---------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Extent.h"

#include "gtest/gtest.h"
#include <limits>

using namespace mlir::moe;

namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
const Extent t = Extent::symbol(3), u = Extent::symbol(4);

TEST(Extent, CountsWithNumbers) {
  EXPECT_EQ(add(Extent(2), 3)->number(), 5);
  EXPECT_EQ(subtract(Extent(2), 3)->number(), -1);
  EXPECT_EQ(multiply(Extent(2), 3)->number(), 6);
  EXPECT_EQ(divideExactly(Extent(6), 3)->number(), 2);
  EXPECT_FALSE(divideExactly(Extent(7), 3));
}

TEST(Extent, KeepsOneSymbol) {
  Extent sum = *add(*multiply(t, 8), 5);
  EXPECT_EQ(sum.factor(), 8);
  EXPECT_EQ(sum.symbol(), 3u);
  EXPECT_EQ(sum.offset(), 5);
  EXPECT_FALSE(sum.number());
  EXPECT_EQ(*multiply(2, t), *add(t, t));
  EXPECT_EQ(*subtract(sum, 5), *multiply(t, 8));
  EXPECT_EQ(subtract(sum, sum)->number(), 0);
  EXPECT_EQ(*divideExactly(*multiply(t, 8), 8), t);
  EXPECT_NE(t, u);
}

TEST(Extent, IsNothingElse) {
  EXPECT_FALSE(add(t, u));
  EXPECT_FALSE(multiply(t, u));
  EXPECT_FALSE(multiply(t, t));
  EXPECT_FALSE(divideExactly(t, 2));
  EXPECT_FALSE(divideExactly(*add(*multiply(t, 4), 2), 4));
  EXPECT_FALSE(divideExactly(Extent(4), 0));
  EXPECT_FALSE(divideExactly(Extent(kSmallest), -1));
}

TEST(Extent, StaysIn64Bits) {
  EXPECT_FALSE(add(Extent(kLargest), 1));
  EXPECT_FALSE(subtract(Extent(0), kSmallest));
  EXPECT_FALSE(multiply(*multiply(t, int64_t(1) << 40), int64_t(1) << 40));
  EXPECT_FALSE(multiply(*add(t, kLargest), 2));
}

} // namespace
