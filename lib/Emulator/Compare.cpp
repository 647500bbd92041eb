//===- Compare.cpp - setp and set: comparisons -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Numbers.h"

#include <cmath>

using namespace mlir::moe;
using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

namespace {
// How a register's bits are read as a number.
template <typename T>
struct AsIs {
  using Bits = T;
  static T read(T value) { return value; }
};
struct AsF32 {
  using Bits = float;
  static float read(float value) { return value; }
};
struct AsF32Flushed {
  using Bits = float;
  static float read(float value) { return flushToZero(value); }
};
struct AsF64 {
  using Bits = double;
  static double read(double value) { return value; }
};
struct AsF16 {
  using Bits = uint16_t;
  static float read(uint16_t value) { return f16ToFloat(value); }
};
struct AsF16Flushed {
  using Bits = uint16_t;
  static float read(uint16_t value) {
    return f16ToFloat(value & 0x7c00 ? value : value & 0x8000);
  }
};
struct AsBF16 {
  using Bits = uint16_t;
  static float read(uint16_t value) { return bf16ToFloat(value); }
};

/// One of the two values in a register.
template <typename Half, bool High>
struct PartOf {
  using Bits = uint32_t;
  static float read(uint32_t value) {
    return Half::read(uint16_t(value >> (High ? 16 : 0)));
  }
};

// `u` forms are true for NaN as well.
struct Equal {
  template <typename T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  // Ordered: false for NaN.
  template <typename T>
  static bool of(T a, T b) {
    return a < b || a > b;
  }
};
struct NotEqualInteger {
  template <typename T>
  static bool of(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <typename T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <typename T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <typename T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
struct Numbers {
  template <typename T>
  static bool of(T a, T b) {
    return a == a && b == b;
  }
};
/// The opposite of another comparison.
template <typename Comparison>
struct Not {
  template <typename T>
  static bool of(T a, T b) {
    return !Comparison::of(a, b);
  }
};

/// How the result is combined with a third predicate.
enum Combine : uint8_t { kPlain, kAnd, kOr, kXor };

/// The lanes for which a comparison is true.
using Comparator = uint32_t (*)(Warp &, const Instruction &);
/// A comparison alone, and with what setp does with it.
struct Comparison {
  Comparator lanes = nullptr;
  Handler set = nullptr;
};
} // namespace

template <typename Number, typename Function>
static uint32_t compareLanes(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<typename Number::Bits>(i.a);
  const auto *b = warp.read<typename Number::Bits>(i.b);
  return whichLanes(warp, [=](uint32_t lane) {
    return Function::of(Number::read(a[lane]), Number::read(b[lane]));
  });
}

static uint32_t combine(const Warp &warp, const Instruction &i, uint32_t bits) {
  if (i.option == kPlain)
    return bits;
  uint32_t c = warp.predicate(i.c) ^ (i.size ? kAllLanes : 0);
  return i.option == kAnd ? bits & c : i.option == kOr ? bits | c : bits ^ c;
}

static void setPredicates(Warp &warp, const Instruction &i, uint32_t first,
                          uint32_t second) {
  first = combine(warp, i, first);
  second = combine(warp, i, second);
  if (i.e.exists())
    warp.setPredicate(i.e, second);
  if (i.d.exists())
    warp.setPredicate(i.d, first);
}

template <typename Number, typename Function>
static void compare(Warp &warp, const Instruction &i) {
  uint32_t bits = compareLanes<Number, Function>(warp, i);
  setPredicates(warp, i, bits, ~bits);
}

/// Both values of a register: a predicate each.
static void comparePairs(Warp &warp, const Instruction &i) {
  auto low = reinterpret_cast<Comparator>(i.immediate);
  auto high = reinterpret_cast<Comparator>(i.secondImmediate);
  setPredicates(warp, i, low(warp, i), high(warp, i));
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

template <typename Number, typename Function>
static constexpr Comparison comparisonOf{compareLanes<Number, Function>,
                                         compare<Number, Function>};

template <typename Number>
static Comparison integerComparison(std::string_view name) {
  if (name == "eq")
    return comparisonOf<Number, Equal>;
  if (name == "ne")
    return comparisonOf<Number, NotEqualInteger>;
  if (name == "lt" || name == "lo")
    return comparisonOf<Number, Less>;
  if (name == "le" || name == "ls")
    return comparisonOf<Number, LessOrEqual>;
  if (name == "gt" || name == "hi")
    return comparisonOf<Number, Greater>;
  if (name == "ge" || name == "hs")
    return comparisonOf<Number, GreaterOrEqual>;
  return {};
}

template <typename Number>
static Comparison floatComparison(std::string_view name) {
  struct Row {
    std::string_view name;
    Comparison comparison;
  };
  static constexpr Row kRows[] = {
      {"eq", comparisonOf<Number, Equal>},
      {"ne", comparisonOf<Number, NotEqual>},
      {"lt", comparisonOf<Number, Less>},
      {"le", comparisonOf<Number, LessOrEqual>},
      {"gt", comparisonOf<Number, Greater>},
      {"ge", comparisonOf<Number, GreaterOrEqual>},
      {"equ", comparisonOf<Number, Not<NotEqual>>},
      {"neu", comparisonOf<Number, Not<Equal>>},
      {"ltu", comparisonOf<Number, Not<GreaterOrEqual>>},
      {"leu", comparisonOf<Number, Not<Greater>>},
      {"gtu", comparisonOf<Number, Not<LessOrEqual>>},
      {"geu", comparisonOf<Number, Not<Less>>},
      {"num", comparisonOf<Number, Numbers>},
      {"nan", comparisonOf<Number, Not<Numbers>>},
  };
  for (const Row &row : kRows)
    if (row.name == name)
      return row.comparison;
  return {};
}

/// One value of a register, or the lower or upper one of two.
template <typename Half>
static Comparison halfComparison(std::string_view name, Type type, bool high) {
  if (type.lanes == 1)
    return floatComparison<Half>(name);
  return high ? floatComparison<PartOf<Half, true>>(name)
              : floatComparison<PartOf<Half, false>>(name);
}

static Comparison findComparison(std::string_view name, Type type, bool flush,
                                 bool high = false) {
  if (type.is(Type::Float, 32))
    return flush ? floatComparison<AsF32Flushed>(name)
                 : floatComparison<AsF32>(name);
  if (type.is(Type::Float, 64))
    return floatComparison<AsF64>(name);
  if (type.kind == Type::Float && type.bits == 16)
    return flush ? halfComparison<AsF16Flushed>(name, type, high)
                 : halfComparison<AsF16>(name, type, high);
  if (type.kind == Type::BFloat && type.bits == 16)
    return halfComparison<AsBF16>(name, type, high);
  if (type.kind == Type::Bits && name != "eq" && name != "ne")
    return {};
  Comparison found;
  forInteger(type, [&](auto tag) -> Handler {
    found = integerComparison<AsIs<typename decltype(tag)::type>>(name);
    return found.set;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {
/// What setp and set have in common.
struct Compared {
  explicit Compared(DecodeContext &context)
      : name(context.needOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls",
                                "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
                                "geu", "num", "nan"})),
        combine(context.takeOneOf({"and", "or", "xor"})),
        flush(context.take("ftz")) {}

  /// The operands but the destination.
  void operands(DecodeContext &context, Type type) const {
    Instruction &out = context.out();
    context.needOperands(combine.empty() ? 3 : 4);
    context.a(1, type.width());
    context.b(2, type.width());
    if (!combine.empty()) {
      OperandSyntax third = context.operand(3);
      out.size = third.negated;
      third.negated = false;
      out.c = context.source(third, 1);
      out.option = combine == "and" ? kAnd : combine == "or" ? kOr : kXor;
    }
    out.kind = type.isFloat() ? Class::Float : Class::Integer;
  }
  /// Sets the comparators of a handler that looks for them.
  bool comparators(Instruction &out, Type type) const {
    Comparator low = findComparison(name, type, flush).lanes;
    Comparator high = findComparison(name, type, flush, true).lanes;
    out.immediate = reinterpret_cast<int64_t>(low);
    out.secondImmediate = reinterpret_cast<int64_t>(high);
    return low != nullptr;
  }

  std::string_view name, combine;
  bool flush;
};
} // namespace

static void decodeSetPredicate(DecodeContext &context) {
  Compared compared(context);
  Type type = context.takeType();
  context.d(0, 1);
  context.pairSecond(0, 1);
  compared.operands(context, type);
  if (type.lanes == 1)
    context.run(findComparison(compared.name, type, compared.flush).set);
  else if (compared.comparators(context.out(), type))
    context.run(comparePairs);
}

/// set: registers of all ones, or of 1.0, where the comparison is true.
template <typename T>
static void setRegisters(Warp &warp, const Instruction &i) {
  auto low = reinterpret_cast<Comparator>(i.immediate);
  auto high = reinterpret_cast<Comparator>(i.secondImmediate);
  uint32_t bits = combine(warp, i, low(warp, i)), upper = 0;
  auto one = static_cast<T>(i.thirdImmediate), second = T(0);
  if (i.widths[1]) { // two halves
    upper = combine(warp, i, high(warp, i));
    second = T(uint64_t(one) << 16);
  }
  forLanes<T>(warp, i.d, [=](uint32_t lane) {
    return T((bits >> lane & 1 ? one : 0) | (upper >> lane & 1 ? second : 0));
  });
}

/// What stands for true.
static int64_t trueOf(DecodeContext &context, Type to, bool pairs) {
  if (to.isInteger() && (to.bits == 16 || to.bits == 32))
    return pairs || to.bits == 16 ? 0xffff : 0xffffffff;
  if (to.is(Type::Float, 32))
    return 0x3f800000;
  if (to.bits == 16 && to.kind == Type::Float)
    return 0x3c00;
  if (to.bits == 16 && to.kind == Type::BFloat)
    return 0x3f80;
  context.fail("does not give this type");
}

static void decodeSet(DecodeContext &context) {
  Compared compared(context);
  Type to = context.takeType(), from = context.takeType();
  Instruction &out = context.out();
  bool pairs = from.lanes == 2;
  context.d(0, to.width());
  compared.operands(context, from);
  if (pairs != (to.lanes == 2) && (!to.isInteger() || to.bits != 32))
    context.fail("pairs give pairs");
  if (to.isInteger() && to.bits == 16 && (!from.isFloat() || from.bits != 16))
    context.fail("gives 16 bits only for floats of 16 bits");
  out.thirdImmediate = trueOf(context, to, pairs);
  out.widths[1] = pairs;
  if (compared.comparators(out, from))
    context.run(to.width() == 16 ? setRegisters<uint16_t>
                                 : setRegisters<uint32_t>);
}

void mlir::moe::emulator::addCompareInstructions(InstructionTable &table) {
  table.add("setp", decodeSetPredicate);
  table.add("set", decodeSet);
}
