//===- Wgmma.cpp - wgmma: products of four warps -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D (64 x N) = A (64 x K) * B (K x N) + D. Warp w of the warpgroup holds rows
// 16 w to 16 w + 15 of D, register i of lane t row t / 4 + 8 (i / 2 % 2),
// column 8 (i / 4) + 2 (t % 4) + i % 2; with f16 sums two columns share a
// register. A comes from registers, 16 rows a warp as for mma.sync, or from
// shared memory as B always does.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "MatrixProducts.h"
#include "MatrixTile.h"
#include "Numbers.h"

#include <algorithm>
#include <charconv>

using namespace mlir::moe;
using namespace mlir::moe::emulator;

static void multiplyAsync(Warp &warp, const Instruction &i);

static constexpr uint32_t kRows = 16;
static constexpr uint32_t kMaxN = 256;
static constexpr uint32_t kMaxK = 32;
static constexpr uint32_t kARegisters = 4;

namespace {
/// What Instruction::secondImmediate holds.
struct Shape {
  uint16_t n;
  Element a, b;
  enum Sum : uint8_t { F32, F16, S32 } sum;
  bool aInRegisters : 1, negateA : 1, negateB : 1, transposeA : 1,
      transposeB : 1, saturate : 1;

  uint32_t depth() const { return kTileBytes * 8 / bitsOf(a); }
  uint32_t sumRegisters() const { return sum == F16 ? n / 4 : n / 2; }
};
static_assert(sizeof(Shape) <= sizeof(int64_t));
} // namespace

static Shape shapeOf(const Instruction &i) {
  Shape shape;
  std::memcpy(&shape, &i.secondImmediate, sizeof(shape));
  return shape;
}

static uint32_t rowOf(uint32_t lane, uint32_t r) {
  return lane / 4 + 8 * (r / 2 % 2);
}
static uint32_t columnOf(uint32_t lane, uint32_t r) {
  return 8 * (r / 4) + lane % 4 * 2 + r % 2;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// One warp's share while it is computed.
struct Share {
  alignas(64) float a[kRows * kMaxK];
  alignas(64) float b[kMaxK * kMaxN];
  alignas(64) float sums[kRows * kMaxN];
  std::vector<bool> undefinedRows, undefinedColumns;
};
} // namespace

/// Where the warp finds its rows of A in shared memory, and all of B.
static TileView tileOfA(const Warp &warp, const Shape &shape, uint64_t bits) {
  return {MatrixDescriptor(bits), shape.a, shape.transposeA,
          warp.number % kWarpsOfGroup * kRows, kRows};
}
static TileView tileOfB(const Shape &shape, uint64_t bits) {
  return {MatrixDescriptor(bits), shape.b, shape.transposeB, 0, shape.n};
}

static void readA(Warp &warp, const Instruction &i, const Shape &shape,
                  Share &share) {
  uint32_t depth = shape.depth(), e = 32 / bitsOf(shape.a);
  for (uint32_t r = 0; r < kARegisters; ++r) {
    Operand operand = listOperand(warp, i, shape.sumRegisters() + r);
    float expanded[kLanes * 4];
    expandElements(shape.a, warp.read<uint32_t>(operand), expanded, kLanes * e);
    uint32_t undefined = warp.poisonedLanes(operand, 4);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint32_t row = lane / 4 + 8 * (r % 2);
      std::memcpy(share.a + row * depth + lane % 4 * e + 4 * e * (r / 2),
                  expanded + lane * e, e * sizeof(float));
      if (undefined >> lane & 1)
        share.undefinedRows[row] = true;
    }
  }
}

/// Returns undefined pieces.
static uint32_t readB(Warp &warp, const Shape &shape, uint64_t descriptor,
                      Share &share) {
  uint32_t depth = shape.depth();
  alignas(64) float rows[kMaxN * kMaxK];
  uint32_t undefined =
      readTile(warp, tileOfB(shape, descriptor), rows, share.undefinedColumns);
  for (uint32_t k = 0; k < depth; ++k)
    for (uint32_t n = 0; n < shape.n; ++n)
      share.b[k * shape.n + n] = rows[n * depth + k];
  return undefined;
}

static void negate(float *values, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k)
    values[k] = -values[k];
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <typename T>
static void readSums(Warp &warp, const Instruction &i, const Shape &shape,
                     T *sums) {
  for (uint32_t r = 0; r < shape.n / 2u; ++r) {
    Operand operand = listOperand(warp, i, shape.sum == Shape::F16 ? r / 2 : r);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      T &to = sums[rowOf(lane, r) * shape.n + columnOf(lane, r)];
      if (shape.sum == Shape::F16)
        to = T(f16ToFloat(
            uint16_t(warp.read<uint32_t>(operand)[lane] >> (16 * (r % 2)))));
      else
        to = warp.read<T>(operand)[lane];
    }
  }
}

template <typename T>
static void writeSums(Warp &warp, const Instruction &i, const Shape &shape,
                      const T *sums) {
  for (uint32_t r = 0; r < shape.n / 2u; ++r) {
    Operand operand = listOperand(warp, i, shape.sum == Shape::F16 ? r / 2 : r);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      T from = sums[rowOf(lane, r) * shape.n + columnOf(lane, r)];
      if (shape.sum != Shape::F16) {
        warp.write<T>(operand)[lane] = from;
        continue;
      }
      uint32_t &pair = warp.write<uint32_t>(operand)[lane];
      uint32_t half = floatToF16(float(from)), shift = 16 * (r % 2);
      pair = (pair & ~(0xffffu << shift)) | half << shift;
    }
  }
}

static void spreadPoison(Warp &warp, const Instruction &i, const Shape &shape,
                         const Share &share, bool accumulate) {
  auto any = [](const std::vector<bool> &bits) {
    return std::find(bits.begin(), bits.end(), true) != bits.end();
  };
  bool fresh = any(share.undefinedRows) || any(share.undefinedColumns);
  if (!fresh && !warp.poisoned)
    return;
  warp.poisoned = true;
  uint32_t each = shape.sum == Shape::F16 ? 2 : 1;
  for (uint32_t r = 0; r < shape.sumRegisters(); ++r) {
    Operand operand = listOperand(warp, i, r);
    uint32_t undefined = accumulate ? warp.poisonedLanes(operand, 4) : 0;
    for (uint32_t lane = 0; fresh && lane < kLanes; ++lane)
      for (uint32_t k = r * each; k < (r + 1) * each; ++k)
        if (share.undefinedRows[rowOf(lane, k)] ||
            share.undefinedColumns[columnOf(lane, k)])
          undefined |= 1u << lane;
    warp.setPoison(operand, 4, undefined);
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static void compute(Warp &warp, const MatrixProduct &product) {
  const Instruction &i = *product.instruction;
  Shape shape = shapeOf(i);
  uint32_t depth = shape.depth();
  static thread_local Share share;
  share.undefinedRows.assign(kRows, false);
  share.undefinedColumns.assign(shape.n, false);
  uint32_t undefined = readB(warp, shape, product.b, share);
  if (shape.aInRegisters)
    readA(warp, i, shape, share);
  else
    undefined += readTile(warp, tileOfA(warp, shape, product.a), share.a,
                          share.undefinedRows);
  if (undefined < product.undefinedPieces)
    warp.report(i, HazardKind::Race, warp.active,
                "shared memory that it reads was written between its issue "
                "and its wgmma.wait_group");
  if (shape.negateA)
    negate(share.a, kRows * depth);
  if (shape.negateB)
    negate(share.b, depth * shape.n);
  if (warp.block->cluster->grid.program.checks)
    spreadPoison(warp, i, shape, share, product.accumulate);
  warp.block->cluster->counts.matrixMultiplyAdds += kRows * depth * shape.n;
  if (shape.sum == Shape::S32) {
    auto *sums = reinterpret_cast<int32_t *>(share.sums);
    std::fill(sums, sums + kRows * shape.n, 0);
    if (product.accumulate)
      readSums(warp, i, shape, sums);
    multiplyAddIntegers(sums, shape.n, share.a, depth, share.b, shape.n, kRows,
                        shape.n, depth, shape.saturate);
    return writeSums(warp, i, shape, sums);
  }
  std::fill(share.sums, share.sums + kRows * shape.n, 0.0f);
  if (product.accumulate)
    readSums(warp, i, shape, share.sums);
  multiplyAdd(share.sums, shape.n, share.a, depth, share.b, shape.n, kRows,
              shape.n, depth);
  writeSums(warp, i, shape, share.sums);
}

/// Computes the groups before `complete`, in the order of their issue.
static void computeUpTo(Warp &warp, uint32_t complete) {
  MatrixProducts &products = productsOf(warp);
  size_t done = 0;
  while (done < products.waiting.size() &&
         products.waiting[done].group < complete)
    compute(warp, products.waiting[done++]);
  products.waiting.erase(products.waiting.begin(),
                         products.waiting.begin() + ptrdiff_t(done));
  products.complete = complete;
}

void mlir::moe::emulator::finishMatrixProducts(Warp &warp) {
  checkStepsAtEnd(warp);
}

bool mlir::moe::emulator::isMatrixProduct(const Instruction &i) {
  return i.run == multiplyAsync;
}

uint32_t mlir::moe::emulator::sumRegistersOf(const Instruction &i) {
  return shapeOf(i).sumRegisters();
}

bool mlir::moe::emulator::haveSameShape(const Instruction &i,
                                        const Instruction &other) {
  Shape x = shapeOf(i), y = shapeOf(other);
  return x.n == y.n && x.depth() == y.depth() && x.sum == y.sum;
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

static uint64_t uniform(Warp &warp, const Instruction &i, Operand operand) {
  const auto *values = warp.read<uint64_t>(operand);
  if (uint32_t lanes = warp.poisonedLanes(operand, 8))
    warp.reportUndefined(i, lanes, "a matrix descriptor");
  for (uint32_t lane = 1; lane < kLanes; ++lane)
    if (values[lane] != values[0])
      warp.stop(i, HazardKind::InvalidValue, 1u << lane,
                "threads give different matrix descriptors");
  return values[0];
}

/// Whether to add to D; all threads have to agree.
static bool takeScale(Warp &warp, const Instruction &i) {
  uint32_t scale = warp.predicate(i.c);
  if (uint32_t lanes = warp.poisonedLanes(i.c, 0))
    warp.reportUndefined(i, lanes, "scale-d");
  if (scale != 0 && scale != kAllLanes)
    warp.stop(i, HazardKind::InvalidValue, ~scale,
              "threads differ in whether to add to D");
  return scale != 0;
}

static void multiplyAsync(Warp &warp, const Instruction &i) {
  if (!needWarpgroup(warp, i))
    return;
  Shape shape = shapeOf(i);
  MatrixProducts &products = productsOf(warp);
  MatrixProduct product;
  product.instruction = &i;
  product.a = shape.aInRegisters ? 0 : uniform(warp, i, i.a);
  product.b = uniform(warp, i, i.b);
  product.accumulate = takeScale(warp, i);
  product.group = products.committed;
  addStep(warp, {&i, product.a, product.b, product.accumulate});
  product.undefinedPieces = checkTile(warp, i, tileOfB(shape, product.b));
  if (!shape.aInRegisters)
    product.undefinedPieces +=
        checkTile(warp, i, tileOfA(warp, shape, product.a));
  if (warp.block->cluster->grid.program.checks) {
    useMatrixRegisters(warp, i);
    addTileRead(warp, i, tileOfB(shape, product.b));
    if (!shape.aInRegisters)
      addTileRead(warp, i, tileOfA(warp, shape, product.a));
  }
  products.waiting.push_back(product);
}

static void fence(Warp &warp, const Instruction &i) {
  if (!needWarpgroup(warp, i))
    return;
  addStep(warp, {&i});
  ++productsOf(warp).fences;
}

static void commit(Warp &warp, const Instruction &i) {
  if (!needWarpgroup(warp, i))
    return;
  addStep(warp, {&i});
  ++productsOf(warp).committed;
}

static void wait(Warp &warp, const Instruction &i) {
  bool again = warp.wait.kind == WaitKind::Warpgroup;
  if (!needWarpgroup(warp, i))
    return;
  if (!again)
    addStep(warp, {&i});
  if (!isWarpgroupHere(warp))
    return warp.waitFor(WaitKind::Warpgroup);
  warp.wait = {};
  MatrixProducts &products = productsOf(warp);
  auto keep = static_cast<uint32_t>(i.immediate);
  uint32_t complete = products.committed - std::min(products.committed, keep);
  // The first warp that goes on computes the shares of all four, which have
  // come here and committed the same groups.
  if (products.complete < complete) {
    uint32_t first = warp.number / kWarpsOfGroup * kWarpsOfGroup;
    for (uint32_t w = first; w < first + kWarpsOfGroup; ++w)
      computeUpTo(warp.block->warps[w], complete);
  }
  finishTileReads(warp, complete);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static int numberIn(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// The N of m64nNkK; K has to be 32 bytes of the element.
static uint16_t columnsOf(DecodeContext &context) {
  const std::vector<std::string_view> &modifiers = context.syntax().modifiers;
  for (std::string_view modifier : modifiers) {
    if (modifier.substr(0, 4) != "m64n")
      continue;
    context.take(modifier);
    size_t k = modifier.find('k');
    if (k == modifier.npos)
      break;
    int n = numberIn(modifier.substr(4, k - 4));
    int depth = numberIn(modifier.substr(k + 1));
    context.out().immediate = depth;
    if (n >= 8 && n <= int(kMaxN) && n % 8 == 0)
      return static_cast<uint16_t>(n);
  }
  context.fail("needs a shape m64nNkK with N a multiple of 8 up to 256");
}

/// 1 or -1; whether it is -1.
static bool takeSign(DecodeContext &context, size_t index) {
  int64_t sign = context.integer(index);
  if (sign != 1 && sign != -1)
    context.fail("operand " + std::to_string(index + 1) + " has to be 1 or -1");
  return sign == -1;
}

static void decodeOperands(DecodeContext &context, Shape &shape) {
  Instruction &out = context.out();
  bool integers = shape.sum == Shape::S32;
  bool halves = bitsOf(shape.a) == 16;
  shape.aInRegisters = context.operand(1).kind == OperandSyntax::Vector;
  size_t signs = integers ? 0 : 2;
  size_t transposes = halves ? (shape.aInRegisters ? 1 : 2) : 0;
  context.needOperands(4 + signs + transposes);
  context.appendVector(0, 32, 3);
  if (out.count != shape.sumRegisters())
    context.fail("D has " + std::to_string(out.count) + " registers, but " +
                 std::to_string(shape.sumRegisters()) + " are needed");
  if (shape.aInRegisters) {
    context.appendVector(1, 32, 2);
    if (out.count != shape.sumRegisters() + kARegisters)
      context.fail("A has to be 4 registers");
  } else {
    context.a(1, 64);
  }
  context.b(2, 64);
  context.c(3, 1);
  shape.negateA = signs && takeSign(context, 4);
  shape.negateB = signs && takeSign(context, 5);
  shape.transposeA = transposes == 2 && context.integer(6) != 0;
  shape.transposeB = transposes && context.integer(5 + transposes) != 0;
  context.keepListApart();
}

static void decodeProduct(DecodeContext &context) {
  Instruction &out = context.out();
  Shape shape = {};
  shape.n = columnsOf(context);
  std::string_view d = context.needOneOf({"f32", "f16", "s32"});
  shape.a = takeElement(context);
  shape.b = takeElement(context);
  shape.saturate = context.take("satfinite");
  shape.sum = d == "f32" ? Shape::F32 : d == "f16" ? Shape::F16 : Shape::S32;
  bool integers = shape.a == Element::S8 || shape.a == Element::U8;
  if (integers != (shape.sum == Shape::S32) ||
      bitsOf(shape.a) != bitsOf(shape.b) ||
      out.immediate != int64_t(shape.depth()))
    context.fail("these types and K do not go together");
  decodeOperands(context, shape);
  std::memcpy(&out.secondImmediate, &shape, sizeof(shape));
  context.run(multiplyAsync);
}

static void decodeWgmma(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::Matrix;
  out.poison = Poison::Own;
  std::string_view what =
      context.needOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  context.needOneOf({"sync"});
  context.needOneOf({"aligned"});
  if (what == "mma_async")
    return decodeProduct(context);
  context.needOperands(what == "wait_group" ? 1 : 0);
  if (what == "wait_group")
    out.immediate = context.integer(0);
  context.run(what == "fence" ? fence : what == "commit_group" ? commit : wait);
}

void mlir::moe::emulator::addWgmmaInstructions(InstructionTable &table) {
  table.add("wgmma", decodeWgmma);
  table.add("setmaxnreg", decodeSetRegisters);
}
