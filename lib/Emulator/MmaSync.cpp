//===- MmaSync.cpp - mma.sync: products of a warp -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m16n8kK, A by rows and B by columns. With e = 32 / (bits of an element), g =
// lane / 4 and t = lane % 4, register i of A holds row g + 8 (i % 2), columns
// t e + 4 e (i / 2) and on; register i of B column g, rows t e + 4 e i and on;
// C and D rows g and g + 8, columns 2 t and 2 t + 1.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Lanes.h"
#include "MatrixMath.h"
#include "Numbers.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;

static constexpr uint32_t kM = 16;
static constexpr uint32_t kN = 8;
static constexpr uint32_t kMaxK = 32;

namespace {
/// What Instruction::immediate holds.
struct Shape {
  uint8_t k;
  Element a, b;
  /// Accumulators are f32, packed f16 or s32.
  enum Sum : uint8_t { F32, F16, S32 } sum;
  bool saturate;
  uint8_t aRegisters() const {
    return static_cast<uint8_t>(kM * k * bitsOf(a) / 32 / kLanes);
  }
  uint8_t bRegisters() const {
    return static_cast<uint8_t>(kN * k * bitsOf(b) / 32 / kLanes);
  }
  uint8_t sumRegisters() const { return sum == F16 ? 2 : 4; }
};
static_assert(sizeof(Shape) <= sizeof(int64_t));

/// The registers of one instruction: D, A, B, C in this order in its list.
struct Fragments {
  const Operand *d, *a, *b, *c;
};
} // namespace

static Shape shapeOf(const Instruction &i) {
  Shape shape;
  std::memcpy(&shape, &i.immediate, sizeof(shape));
  return shape;
}

static Fragments fragmentsOf(const Warp &warp, const Instruction &i,
                             const Shape &shape) {
  const Operand *list = &warp.block->cluster->grid.program.lists[i.list];
  const Operand *a = list + shape.sumRegisters();
  const Operand *b = a + shape.aRegisters();
  return {list, a, b, b + shape.bRegisters()};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

// E elements share a register: a constant, so that copies are moves.

template <uint32_t E>
static void readA(const Warp &warp, const Shape &shape, const Operand *list,
                  float a[kM][kMaxK]) {
  for (uint32_t i = 0; i < shape.aRegisters(); ++i) {
    alignas(64) float expanded[kLanes * E];
    expandElements(shape.a, warp.read<uint32_t>(list[i]), expanded, kLanes * E);
    float *to = &a[8 * (i % 2)][4 * E * (i / 2)];
    // The four lanes of a row follow each other.
    for (uint32_t row = 0; row < 8; ++row)
      std::memcpy(to + row * kMaxK, expanded + row * 4 * E,
                  4 * E * sizeof(float));
  }
}

template <uint32_t E>
static void readB(const Warp &warp, const Shape &shape, const Operand *list,
                  float b[kMaxK][kN]) {
  for (uint32_t i = 0; i < shape.bRegisters(); ++i) {
    alignas(64) float expanded[kLanes * E];
    expandElements(shape.b, warp.read<uint32_t>(list[i]), expanded, kLanes * E);
    for (uint32_t k = 0; k < 4 * E; ++k)
      for (uint32_t column = 0; column < kN; ++column)
        b[4 * E * i + k][column] = expanded[column * 4 * E + k];
  }
}

template <uint32_t E>
static void readFactors(const Warp &warp, const Shape &shape,
                        const Fragments &fragments, float a[kM][kMaxK],
                        float b[kMaxK][kN]) {
  readA<E>(warp, shape, fragments.a, a);
  readB<E>(warp, shape, fragments.b, b);
}

static void readFactors(const Warp &warp, const Shape &shape,
                        const Fragments &fragments, float a[kM][kMaxK],
                        float b[kMaxK][kN]) {
  switch (bitsOf(shape.a)) {
  case 8:
    return readFactors<4>(warp, shape, fragments, a, b);
  case 16:
    return readFactors<2>(warp, shape, fragments, a, b);
  default:
    return readFactors<1>(warp, shape, fragments, a, b);
  }
}

/// Element r (0 to 3) of a lane's accumulators: its row and column.
static uint32_t rowOf(uint32_t lane, uint32_t r) {
  return lane / 4 + r / 2 * 8;
}
static uint32_t columnOf(uint32_t lane, uint32_t r) {
  return lane % 4 * 2 + r % 2;
}

template <typename T>
static void readSums(const Warp &warp, const Shape &shape, const Operand *list,
                     T sums[kM][kN]) {
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      T &to = sums[rowOf(lane, r)][columnOf(lane, r)];
      if (shape.sum == Shape::F16)
        to = T(f16ToFloat(uint16_t(warp.read<uint32_t>(list[r / 2])[lane] >>
                                   (16 * (r % 2)))));
      else
        to = warp.read<T>(list[r])[lane];
    }
}

template <typename T>
static void writeSums(Warp &warp, const Shape &shape, const Operand *list,
                      const T sums[kM][kN]) {
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      T from = sums[rowOf(lane, r)][columnOf(lane, r)];
      if (shape.sum != Shape::F16) {
        warp.write<T>(list[r])[lane] = from;
        continue;
      }
      uint32_t &pair = warp.write<uint32_t>(list[r / 2])[lane];
      uint32_t half = floatToF16(float(from)), shift = 16 * (r % 2);
      pair = (pair & ~(0xffffu << shift)) | half << shift;
    }
}

//===----------------------------------------------------------------------===//
// Undefined values
//===----------------------------------------------------------------------===//

/// Bits of rows (of A) or columns (of B) with an undefined element.
static uint32_t undefinedLines(const Warp &warp, const Operand *list,
                               uint32_t count, bool isA) {
  uint32_t lines = 0;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t lanes = warp.poisonedLanes(list[i], 4); lanes;
         lanes &= lanes - 1)
      lines |= 1u << (firstLane(lanes) / 4 + (isA ? 8 * (i % 2) : 0));
  return lines;
}

static void spreadPoison(Warp &warp, const Shape &shape,
                         const Fragments &fragments) {
  uint32_t rows = undefinedLines(warp, fragments.a, shape.aRegisters(), true);
  uint32_t columns =
      undefinedLines(warp, fragments.b, shape.bRegisters(), false);
  uint32_t undefined[4];
  for (uint32_t r = 0; r < 4; ++r) {
    Operand c = fragments.c[shape.sum == Shape::F16 ? r / 2 : r];
    undefined[r] = warp.poisonedLanes(c, 4);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      if ((rows >> rowOf(lane, r) | columns >> columnOf(lane, r)) & 1)
        undefined[r] |= 1u << lane;
  }
  for (uint32_t r = 0; r < shape.sumRegisters(); ++r)
    warp.setPoison(fragments.d[r], 4,
                   shape.sum == Shape::F16
                       ? undefined[2 * r] | undefined[2 * r + 1]
                       : undefined[r]);
}

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

static void multiply(Warp &warp, const Instruction &i) {
  if (!warp.converge(i))
    return;
  if (warp.active != kAllLanes)
    warp.stop(i, HazardKind::Divergence, warp.active,
              "the warp has fewer than 32 threads");
  Shape shape = shapeOf(i);
  Fragments fragments = fragmentsOf(warp, i, shape);
  if (warp.poisoned)
    spreadPoison(warp, shape, fragments);
  alignas(64) float a[kM][kMaxK], b[kMaxK][kN];
  readFactors(warp, shape, fragments, a, b);
  warp.block->cluster->counts.matrixMultiplyAdds += kM * kN * shape.k;
  if (shape.sum == Shape::S32) {
    int32_t sums[kM][kN];
    readSums(warp, shape, fragments.c, sums);
    multiplyAddIntegers(&sums[0][0], kN, &a[0][0], kMaxK, &b[0][0], kN, kM, kN,
                        shape.k, shape.saturate);
    return writeSums(warp, shape, fragments.d, sums);
  }
  alignas(64) float sums[kM][kN];
  readSums(warp, shape, fragments.c, sums);
  multiplyAdd(&sums[0][0], kN, &a[0][0], kMaxK, &b[0][0], kN, kM, kN, shape.k);
  writeSums(warp, shape, fragments.d, sums);
}

static bool hasShape(const Shape &shape) {
  switch (bitsOf(shape.a)) {
  case 16:
    return shape.k == 8 || shape.k == 16;
  case 32:
    return shape.k == 4 || shape.k == 8;
  default:
    return shape.k == 16 || shape.k == 32;
  }
}

static void decodeMma(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::Matrix;
  out.poison = Poison::Own;
  context.needOneOf({"sync"});
  context.needOneOf({"aligned"});
  std::string_view name =
      context.needOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  context.needOneOf({"row"});
  context.needOneOf({"col"});
  Shape shape;
  shape.k = static_cast<uint8_t>(std::stoi(std::string(name.substr(6))));
  shape.saturate = context.take("satfinite");
  // Types of D, A, B and C, in this order.
  std::string_view d = context.needOneOf({"f32", "f16", "s32"});
  shape.a = takeElement(context);
  shape.b = takeElement(context);
  std::string_view c = context.needOneOf({d});
  shape.sum = d == "f32" ? Shape::F32 : d == "f16" ? Shape::F16 : Shape::S32;
  bool integers = shape.a == Element::S8 || shape.a == Element::U8;
  if (!hasShape(shape) || integers != (shape.sum == Shape::S32) ||
      bitsOf(shape.a) != bitsOf(shape.b) || c.empty())
    context.fail("these types do not go together");
  context.needOperands(4);
  context.appendVector(0, 32, 1);
  context.appendVector(1, 32, 2);
  context.appendVector(2, 32, 2);
  context.appendVector(3, 32, 2);
  uint32_t expected =
      2u * shape.sumRegisters() + shape.aRegisters() + shape.bRegisters();
  if (out.count != expected)
    context.fail("has " + std::to_string(out.count) + " registers, but needs " +
                 std::to_string(expected));
  std::memcpy(&out.immediate, &shape, sizeof(shape));
  context.run(multiply);
}

void mlir::moe::emulator::addMmaSyncInstructions(InstructionTable &table) {
  table.add("mma", decodeMma);
}
