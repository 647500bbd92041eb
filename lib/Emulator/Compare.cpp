//===- Compare.cpp - setp: comparisons to predicates -*- C++ -*-===//
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
struct AsBF16 {
  using Bits = uint16_t;
  static float read(uint16_t value) { return bf16ToFloat(value); }
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
} // namespace

template <typename Number, typename Comparison>
static void compare(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<typename Number::Bits>(i.a);
  const auto *b = warp.read<typename Number::Bits>(i.b);
  uint32_t bits = whichLanes(warp, [=](uint32_t lane) {
    return Comparison::of(Number::read(a[lane]), Number::read(b[lane]));
  });
  uint32_t other = ~bits;
  if (i.option != kPlain) {
    uint32_t c = warp.predicate(i.c) ^ (i.size ? kAllLanes : 0);
    auto combine = [&](uint32_t value) {
      return i.option == kAnd  ? value & c
             : i.option == kOr ? value | c
                               : value ^ c;
    };
    bits = combine(bits);
    other = combine(other);
  }
  if (i.e.exists())
    warp.setPredicate(i.e, other);
  if (i.d.exists())
    warp.setPredicate(i.d, bits);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename Number>
static Handler integerHandler(std::string_view name) {
  if (name == "eq")
    return compare<Number, Equal>;
  if (name == "ne")
    return compare<Number, NotEqualInteger>;
  if (name == "lt" || name == "lo")
    return compare<Number, Less>;
  if (name == "le" || name == "ls")
    return compare<Number, LessOrEqual>;
  if (name == "gt" || name == "hi")
    return compare<Number, Greater>;
  if (name == "ge" || name == "hs")
    return compare<Number, GreaterOrEqual>;
  return nullptr;
}

template <typename Number>
static Handler floatHandler(std::string_view name) {
  struct Row {
    std::string_view name;
    Handler handler;
  };
  static constexpr Row kRows[] = {
      {"eq", compare<Number, Equal>},
      {"ne", compare<Number, NotEqual>},
      {"lt", compare<Number, Less>},
      {"le", compare<Number, LessOrEqual>},
      {"gt", compare<Number, Greater>},
      {"ge", compare<Number, GreaterOrEqual>},
      {"equ", compare<Number, Not<NotEqual>>},
      {"neu", compare<Number, Not<Equal>>},
      {"ltu", compare<Number, Not<GreaterOrEqual>>},
      {"leu", compare<Number, Not<Greater>>},
      {"gtu", compare<Number, Not<LessOrEqual>>},
      {"geu", compare<Number, Not<Less>>},
      {"num", compare<Number, Numbers>},
      {"nan", compare<Number, Not<Numbers>>},
  };
  for (const Row &row : kRows)
    if (row.name == name)
      return row.handler;
  return nullptr;
}

static Handler handlerOf(std::string_view name, Type type, bool flush) {
  if (type.is(Type::Float, 32))
    return flush ? floatHandler<AsF32Flushed>(name) : floatHandler<AsF32>(name);
  if (type.is(Type::Float, 64))
    return floatHandler<AsF64>(name);
  if (type.is(Type::Float, 16))
    return floatHandler<AsF16>(name);
  if (type.is(Type::BFloat, 16))
    return floatHandler<AsBF16>(name);
  if (type.kind == Type::Bits && name != "eq" && name != "ne")
    return nullptr;
  return forInteger(type, [&](auto tag) {
    return integerHandler<AsIs<typename decltype(tag)::type>>(name);
  });
}

static void decodeSetPredicate(DecodeContext &context) {
  std::string_view name = context.needOneOf(
      {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu",
       "ltu", "leu", "gtu", "geu", "num", "nan"});
  std::string_view combine = context.takeOneOf({"and", "or", "xor"});
  bool flush = context.take("ftz");
  Type type = context.takeType();
  Instruction &out = context.out();
  context.needOperands(combine.empty() ? 3 : 4);
  context.d(0, 1);
  context.pairSecond(0, 1);
  context.a(1, type.bits);
  context.b(2, type.bits);
  if (!combine.empty()) {
    OperandSyntax third = context.operand(3);
    out.size = third.negated;
    third.negated = false;
    out.c = context.source(third, 1);
    out.option = combine == "and" ? kAnd : combine == "or" ? kOr : kXor;
  }
  out.kind = type.isFloat() ? Class::Float : Class::Integer;
  context.run(handlerOf(name, type, flush));
}

void mlir::moe::emulator::addCompareInstructions(InstructionTable &table) {
  table.add("setp", decodeSetPredicate);
}
