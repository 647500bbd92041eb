//===- ArrayTest.cpp - arrays, conversions, comparisons -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/Array.h"
#include "moe/Data/Float.h"
#include "moe/Execution/Compare.h"
#include "moe/Execution/RandomInputs.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::moe;
using llvm::APFloat;

static uint16_t roundByAPFloat(double value,
                               const llvm::fltSemantics &semantics) {
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
}

/// Values around every boundary between two neighbours of a 16-bit format.
template <typename Widen, typename Check>
static void forBoundaries(Widen widen, Check check) {
  for (uint32_t bits = 0; bits < 0xffffu; ++bits) {
    double low = widen(bits), high = widen(bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high))
      continue;
    double middle = (low + high) / 2;
    for (double value : {low, middle, std::nextafter(middle, low),
                         std::nextafter(middle, high)})
      check(value);
  }
}

TEST(FloatTest, EveryF16WidensExactly) {
  for (uint32_t bits = 0; bits <= 0xffffu; ++bits) {
    float value = f16ToFloat(bits);
    APFloat expected(APFloat::IEEEhalf(), llvm::APInt(16, bits));
    if (expected.isNaN()) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(value))));
      continue;
    }
    EXPECT_EQ(value, expected.convertToFloat());
    EXPECT_EQ(floatToF16(value), bits);
  }
}

TEST(FloatTest, F16RoundsOnceToNearestEven) {
  forBoundaries(f16ToFloat, [](double value) {
    EXPECT_EQ(doubleToF16(value), roundByAPFloat(value, APFloat::IEEEhalf()))
        << value;
  });
}

TEST(FloatTest, BF16RoundsOnceToNearestEven) {
  forBoundaries(bf16ToFloat, [](double value) {
    EXPECT_EQ(doubleToBF16(value), roundByAPFloat(value, APFloat::BFloat()))
        << value;
  });
}

TEST(FloatTest, F8WidensExactlyAndRoundsOnce) {
  struct Format {
    const llvm::fltSemantics &semantics;
    double (*widen)(uint8_t);
    uint8_t (*round)(double);
  };
  for (const Format &format :
       {Format{APFloat::Float8E4M3FN(), f8E4M3FNToDouble, doubleToF8E4M3FN},
        Format{APFloat::Float8E5M2(), f8E5M2ToDouble, doubleToF8E5M2}}) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      double value = format.widen(bits);
      APFloat expected(format.semantics, llvm::APInt(8, bits));
      EXPECT_EQ(std::isnan(value), expected.isNaN());
      if (std::isnan(value))
        continue;
      EXPECT_EQ(value, expected.convertToDouble());
      EXPECT_EQ(format.round(value), bits);
      double next = format.widen((bits + 1) & 0xff);
      double middle = std::isfinite(next) ? (value + next) / 2 : value * 1.0625;
      for (double between : {middle, std::nextafter(middle, 0.0),
                             std::nextafter(middle, 2 * middle), -middle})
        EXPECT_EQ(format.round(between),
                  roundByAPFloat(between, format.semantics))
            << between;
    }
    for (double value : {1e300, -1e300, 1e-300, -0.0, 464.0, 465.0, 61440.0,
                         std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()})
      EXPECT_EQ(format.round(value), roundByAPFloat(value, format.semantics))
          << value;
  }
}

TEST(FloatTest, OverflowAndNaN) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(doubleToBF16(1e300), 0x7f80);
  EXPECT_EQ(doubleToBF16(-infinity), 0xff80);
  EXPECT_EQ(doubleToF16(65519.999), 0x7bff);
  EXPECT_EQ(doubleToF16(65520), 0x7c00);
  EXPECT_EQ(doubleToF16(1e-300), 0);
  EXPECT_EQ(doubleToF16(-1e-300), 0x8000);
  // A NaN whose payload is below the 16 bits must not become infinity.
  EXPECT_EQ(floatToBF16(floatOfBits(0x7f800001)), 0x7fc0);
  EXPECT_EQ(floatToF16(floatOfBits(0x7f800001)), 0x7e00);
}

static Array make(ElementKind kind, llvm::ArrayRef<double> values) {
  Array array = llvm::cantFail(
      Array::create(kind, {static_cast<int64_t>(values.size())}));
  for (auto [i, value] : llvm::enumerate(values))
    array.setFloat(i, value);
  return array;
}

TEST(ArrayTest, RefusesExtentsWithoutMemory) {
  int64_t huge = std::numeric_limits<int64_t>::max();
  for (const llvm::SmallVector<int64_t> &shape :
       {llvm::SmallVector<int64_t>{huge, huge},
        {huge / 8},
        {huge, 0, 2},
        {-1}}) {
    llvm::Expected<Array> array = Array::create(ElementKind::F32, shape);
    EXPECT_FALSE(static_cast<bool>(array));
    llvm::consumeError(array.takeError());
  }
}

TEST(ArrayTest, UnwrittenIsNaNOrMinusOne) {
  for (ElementKind kind :
       {ElementKind::F64, ElementKind::F32, ElementKind::F16, ElementKind::BF16,
        ElementKind::F8E4M3FN, ElementKind::F8E5M2})
    EXPECT_TRUE(std::isnan(
        llvm::cantFail(Array::createUnwritten(kind, {3})).floatAt(2)));
  for (ElementKind kind :
       {ElementKind::I64, ElementKind::I32, ElementKind::I16, ElementKind::I8})
    EXPECT_EQ(llvm::cantFail(Array::createUnwritten(kind, {3})).intAt(2), -1);
}

TEST(ArrayTest, MovingLeavesAnEmptyArray) {
  Array array = make(ElementKind::F32, {1, 2});
  Array moved = std::move(array);
  // What a move leaves behind is the point here.
  EXPECT_EQ(array.size(), 0); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.floatAt(1), 2);
}

TEST(ArrayTest, ConvertRefusesIntegersThatDoNotFit) {
  Array array = make(ElementKind::I64, {1, 70000});
  llvm::Expected<Array> narrow = array.convert(ElementKind::I16);
  EXPECT_FALSE(static_cast<bool>(narrow));
  llvm::consumeError(narrow.takeError());
  EXPECT_EQ(llvm::cantFail(array.convert(ElementKind::I32)).intAt(1), 70000);
}

TEST(CompareTest, ToleranceOfTheType) {
  // Relative error 1e-3: fine for bf16 and f16, not for f32.
  for (auto [kind, agrees] :
       {std::pair(ElementKind::F32, false), std::pair(ElementKind::F64, false)})
    EXPECT_EQ(compare(make(kind, {1.001, 1}), make(kind, {1, 1})).agrees(),
              agrees);
  EXPECT_TRUE(compare(make(ElementKind::F16, {1.001, 1}),
                      make(ElementKind::F16, {1, 1}))
                  .agrees());
  EXPECT_FALSE(compare(make(ElementKind::BF16, {1.0078125}),
                       make(ElementKind::BF16, {1}))
                   .agrees());
  Comparison result =
      compare(make(ElementKind::F32, {3, 4}), make(ElementKind::F32, {3, 5}));
  EXPECT_EQ(result.maxAbs, 1);
  EXPECT_NEAR(result.relativeL2, 1 / std::sqrt(34.0), 1e-12);
}

TEST(CompareTest, SpecialValues) {
  double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  auto agree = [](double a, double b) {
    return compare(make(ElementKind::F32, {a, 1}),
                   make(ElementKind::F32, {b, 1}))
        .agrees();
  };
  EXPECT_TRUE(agree(nan, nan));
  EXPECT_FALSE(agree(nan, 0));
  EXPECT_FALSE(agree(0, nan));
  EXPECT_TRUE(agree(-infinity, -infinity));
  EXPECT_FALSE(agree(infinity, -infinity));
  EXPECT_FALSE(agree(1, infinity));
  // Anything is infinitely far from zero; zero is not.
  EXPECT_FALSE(
      compare(make(ElementKind::F32, {1e-30}), make(ElementKind::F32, {0}))
          .agrees());
  EXPECT_TRUE(
      compare(make(ElementKind::F32, {-0.0}), make(ElementKind::F32, {0}))
          .agrees());
}

TEST(CompareTest, IntegersAndShapes) {
  EXPECT_FALSE(compare(make(ElementKind::I32, {100000, 1}),
                       make(ElementKind::I32, {100000, 2}))
                   .agrees());
  EXPECT_FALSE(compare(make(ElementKind::I32, {1}), make(ElementKind::I64, {1}))
                   .agrees());
  EXPECT_FALSE(
      compare(make(ElementKind::F32, {1}), make(ElementKind::F32, {1, 1}))
          .agrees());
}

TEST(CompareTest, RowsLeftOut) {
  Array actual = make(ElementKind::F32, {1, 2, 9, 9}),
        expected = make(ElementKind::F32, {1, 2, 3, 4});
  actual.reshape({2, 2});
  expected.reshape({2, 2});
  EXPECT_FALSE(compare(actual, expected).agrees());
  llvm::BitVector leftOut(2);
  leftOut.set(1);
  Comparison result = compare(actual, expected, leftOut);
  EXPECT_TRUE(result.agrees());
  EXPECT_EQ(result.rowsLeftOut, 1);
  EXPECT_EQ(result.elements, 2);
}

TEST(RandomInputsTest, DistinctIdsAndStreams) {
  EXPECT_NE(randomBits(0, 0, 1), randomBits(0, 1, 0));
  EXPECT_NE(randomBits(1, 0, 0), randomBits(0, 1, 0));
  Array ids = llvm::cantFail(
      randomArray(InputRole::Ids, 8, ElementKind::I32, {50, 8}, 1, 0));
  for (int64_t t = 0; t < 50; ++t) {
    unsigned seen = 0;
    for (int64_t j = 0; j < 8; ++j)
      seen |= 1u << ids.intAt(t * 8 + j);
    EXPECT_EQ(seen, 0xffu);
  }
}
