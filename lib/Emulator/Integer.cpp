//===- Integer.cpp - integer arithmetic and bits -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <type_traits>

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// One lane
//===----------------------------------------------------------------------===//

// Arithmetic wraps around: it is done on unsigned values. Products of 16 bits
// would become signed and overflow, so that all is done in 32 bits or more.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
/// Twice the bits, for mul.wide and mul.hi.
template <typename T>
using Twice = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<
        sizeof(T) == 4,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

namespace {
template <typename T>
struct Add {
  T operator()(T a, T b) const { return T(Wide<T>(a) + Wide<T>(b)); }
};
template <typename T>
struct Subtract {
  T operator()(T a, T b) const { return T(Wide<T>(a) - Wide<T>(b)); }
};
template <typename T>
struct MultiplyLow {
  T operator()(T a, T b) const { return T(Wide<T>(a) * Wide<T>(b)); }
};
template <typename T>
struct MultiplyHigh {
  T operator()(T a, T b) const {
    return T((Twice<T>(a) * Twice<T>(b)) >> (8 * sizeof(T)));
  }
};
template <typename T>
struct MultiplyWide {
  Twice<T> operator()(T a, T b) const { return Twice<T>(a) * Twice<T>(b); }
};
template <typename T>
struct MultiplyAddLow {
  T operator()(T a, T b, T c) const {
    return T(Wide<T>(a) * Wide<T>(b) + Wide<T>(c));
  }
};
template <typename T>
struct MultiplyAddHigh {
  T operator()(T a, T b, T c) const {
    return T(Wide<T>(MultiplyHigh<T>()(a, b)) + Wide<T>(c));
  }
};
template <typename T>
struct MultiplyAddWide {
  Twice<T> operator()(T a, T b, Twice<T> c) const {
    using U = std::make_unsigned_t<Twice<T>>;
    return Twice<T>(U(Twice<T>(a) * Twice<T>(b)) + U(c));
  }
};
// The ISA leaves division by zero open; a GPU gives all ones.
template <typename T>
struct Divide {
  T operator()(T a, T b) const {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return T(Wide<T>(0) - Wide<T>(a));
    return T(a / b);
  }
};
template <typename T>
struct Remainder {
  T operator()(T a, T b) const {
    if (b == 0)
      return a;
    return std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
  }
};
template <typename T>
struct Minimum {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct Maximum {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct Negate {
  T operator()(T a) const { return T(Wide<T>(0) - Wide<T>(a)); }
};
template <typename T>
struct Absolute {
  T operator()(T a) const { return a < 0 ? Negate<T>()(a) : a; }
};
template <typename T>
struct AbsoluteDifference {
  T operator()(T a, T b, T c) const {
    Wide<T> difference =
        a < b ? Wide<T>(b) - Wide<T>(a) : Wide<T>(a) - Wide<T>(b);
    return T(Wide<T>(c) + difference);
  }
};
template <typename T>
struct And {
  T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct Or {
  T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct Xor {
  T operator()(T a, T b) const { return a ^ b; }
};
template <typename T>
struct Not {
  T operator()(T a) const { return T(~a); }
};
template <typename T>
struct LogicalNot {
  T operator()(T a) const { return a == 0 ? 1 : 0; }
};
// Amounts beyond the width count as the width.
template <typename T>
struct ShiftLeft {
  T operator()(T a, uint32_t b) const {
    return b >= 8 * sizeof(T) ? T(0) : T(Wide<T>(a) << b);
  }
};
template <typename T>
struct ShiftRight {
  T operator()(T a, uint32_t b) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (std::is_signed_v<T>)
      return T(a >> std::min(b, kBits - 1));
    return b >= kBits ? T(0) : T(a >> b);
  }
};
template <typename T>
struct CountBits {
  uint32_t operator()(T a) const { return __builtin_popcountll(uint64_t(a)); }
};
template <typename T>
struct CountLeadingZeros {
  uint32_t operator()(T a) const {
    if (a == 0)
      return 8 * sizeof(T);
    return __builtin_clzll(uint64_t(a)) - (64 - 8 * sizeof(T));
  }
};
template <typename T>
struct ReverseBits {
  T operator()(T a) const {
    T result = 0;
    for (uint32_t i = 0; i < 8 * sizeof(T); ++i)
      result |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};
template <typename T>
struct FindLeadingBit {
  uint32_t operator()(T a) const {
    uint64_t value = std::is_signed_v<T> && a < 0
                         ? uint64_t(std::make_unsigned_t<T>(~a))
                         : uint64_t(std::make_unsigned_t<T>(a));
    return value == 0 ? ~0u : 63 - __builtin_clzll(value);
  }
};
template <typename T>
struct FindLeadingBitShift {
  uint32_t operator()(T a) const {
    uint32_t bit = FindLeadingBit<T>()(a);
    return bit == ~0u ? bit : 8 * sizeof(T) - 1 - bit;
  }
};
template <typename T>
struct ExtractField {
  T operator()(T a, uint32_t position, uint32_t length) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kBits = 8 * sizeof(T);
    position &= 0xff;
    length &= 0xff;
    if (length == 0)
      return 0;
    // The sign is the field's last bit, or the value's where the field is
    // longer than it.
    uint32_t last = std::min(position + length - 1, kBits - 1);
    bool sign = std::is_signed_v<T> && (U(a) >> last & 1);
    U field = position >= kBits ? U(0) : U(U(a) >> position);
    uint32_t have = position >= kBits ? 0 : std::min(length, kBits - position);
    U mask = have >= kBits ? U(~U(0)) : U((U(1) << have) - 1);
    return T(sign ? U(field | ~mask) : U(field & mask));
  }
};
template <typename T>
struct InsertField {
  T operator()(T field, T into, uint32_t position, uint32_t length) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    position &= 0xff;
    length &= 0xff;
    if (position >= kBits || length == 0)
      return into;
    length = std::min(length, kBits - position);
    T mask = length >= kBits ? T(~T(0)) : T((T(1) << length) - 1);
    mask = T(mask << position);
    return T((into & ~mask) | (T(field << position) & mask));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

#define FOR_INTEGER(type, function)                                            \
  forInteger(type, [](auto tag) -> Handler {                                   \
    using T = typename decltype(tag)::type;                                    \
    return function;                                                           \
  })
#define FOR_BITS(type, function)                                               \
  forBits(type, [](auto tag) -> Handler {                                      \
    using T = typename decltype(tag)::type;                                    \
    return function;                                                           \
  })

static void binaryOperands(DecodeContext &context, Type type, Handler handler) {
  context.needOperands(3);
  context.d(0, type.width());
  context.a(1, type.width());
  context.b(2, type.width());
  context.out().kind = Class::Integer;
  context.run(handler);
}

static void unaryOperands(DecodeContext &context, Type type, Handler handler) {
  context.needOperands(2);
  context.d(0, type.width());
  context.a(1, type.width());
  context.out().kind = Class::Integer;
  context.run(handler);
}

static void decodeAdd(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_BITS(type, (binaryOf<T, Add<T>>)));
}

static void decodeSubtract(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_BITS(type, (binaryOf<T, Subtract<T>>)));
}

static void decodeMultiply(DecodeContext &context) {
  std::string_view part = context.needOneOf({"lo", "hi", "wide"});
  Type type = context.takeType();
  if (part == "lo")
    return binaryOperands(context, type,
                          FOR_BITS(type, (binaryOf<T, MultiplyLow<T>>)));
  if (part == "hi")
    return binaryOperands(context, type,
                          FOR_INTEGER(type, (binaryOf<T, MultiplyHigh<T>>)));
  if (type.bits > 32)
    context.fail("mul.wide takes 16 or 32 bits");
  context.needOperands(3);
  context.d(0, 2 * type.bits);
  context.a(1, type.bits);
  context.b(2, type.bits);
  context.out().kind = Class::Integer;
  context.run(
      FOR_INTEGER(type, (binaryHandler<Twice<T>, T, T, MultiplyWide<T>>)));
}

static Handler multiplyAddWide(Type type) {
  switch (type.bits) {
  case 16:
    return type.isSigned()
               ? ternaryHandler<int32_t, int16_t, int16_t, int32_t,
                                MultiplyAddWide<int16_t>>
               : ternaryHandler<uint32_t, uint16_t, uint16_t, uint32_t,
                                MultiplyAddWide<uint16_t>>;
  case 32:
    return type.isSigned()
               ? ternaryHandler<int64_t, int32_t, int32_t, int64_t,
                                MultiplyAddWide<int32_t>>
               : ternaryHandler<uint64_t, uint32_t, uint32_t, uint64_t,
                                MultiplyAddWide<uint32_t>>;
  default:
    return nullptr;
  }
}

static void decodeMultiplyAdd(DecodeContext &context) {
  std::string_view part = context.needOneOf({"lo", "hi", "wide"});
  Type type = context.takeType();
  uint32_t result = part == "wide" ? 2 * type.bits : type.bits;
  context.needOperands(4);
  context.d(0, result);
  context.a(1, type.bits);
  context.b(2, type.bits);
  context.c(3, result);
  context.out().kind = Class::Integer;
  context.run(part == "lo" ? FOR_BITS(type, (ternaryOf<T, MultiplyAddLow<T>>))
              : part == "hi"
                  ? FOR_INTEGER(type, (ternaryOf<T, MultiplyAddHigh<T>>))
                  : multiplyAddWide(type));
}

static void decodeDivide(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_INTEGER(type, (binaryOf<T, Divide<T>>)));
}

static void decodeRemainder(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_INTEGER(type, (binaryOf<T, Remainder<T>>)));
}

static void decodeMinimum(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_INTEGER(type, (binaryOf<T, Minimum<T>>)));
}

static void decodeMaximum(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_INTEGER(type, (binaryOf<T, Maximum<T>>)));
}

static void decodeAbsolute(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_INTEGER(type, (unaryOf<T, Absolute<T>>)));
}

static void decodeNegate(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, Negate<T>>)));
}

static void decodeAbsoluteDifference(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(4);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, type.bits);
  context.c(3, type.bits);
  context.out().kind = Class::Integer;
  context.run(FOR_INTEGER(type, (ternaryOf<T, AbsoluteDifference<T>>)));
}

/// Bits, each on its own; also of predicates, which are one word a warp.
template <template <typename> typename Function>
static void decodeLogic(DecodeContext &context) {
  Type type = context.takeType();
  binaryOperands(context, type, FOR_BITS(type, (binaryOf<T, Function<T>>)));
  context.out().poison = Poison::Bytes;
}

template <template <typename> typename Function>
static void predicateLogic(Warp &warp, const Instruction &i) {
  warp.setPredicate(
      i.d, Function<uint32_t>()(warp.predicate(i.a), warp.predicate(i.b)));
}

template <template <typename> typename Function>
static void decodePredicateLogic(DecodeContext &context) {
  binaryOperands(context, context.takeType(), predicateLogic<Function>);
}

static void decodeNot(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, Not<T>>)));
  context.out().poison = Poison::Bytes;
}

static void predicateNot(Warp &warp, const Instruction &i) {
  warp.setPredicate(i.d, ~warp.predicate(i.a));
}

static void decodePredicateNot(DecodeContext &context) {
  unaryOperands(context, context.takeType(), predicateNot);
}

static void decodeLogicalNot(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, LogicalNot<T>>)));
}

template <bool Left>
static void decodeShift(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(3);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, 32);
  context.out().kind = Class::Integer;
  context.run(
      Left ? FOR_BITS(type, (binaryHandler<T, T, uint32_t, ShiftLeft<T>>))
           : FOR_INTEGER(type, (binaryHandler<T, T, uint32_t, ShiftRight<T>>)));
}

static void decodeCountBits(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, type.bits);
  context.out().kind = Class::Integer;
  context.run(FOR_BITS(type, (unaryHandler<uint32_t, T, CountBits<T>>)));
}

static void decodeCountLeadingZeros(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, type.bits);
  context.out().kind = Class::Integer;
  context.run(
      FOR_BITS(type, (unaryHandler<uint32_t, T, CountLeadingZeros<T>>)));
}

static void decodeFindLeadingBit(DecodeContext &context) {
  bool shift = context.take("shiftamt");
  Type type = context.takeType();
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, type.bits);
  context.out().kind = Class::Integer;
  context.run(
      shift
          ? FOR_INTEGER(type,
                        (unaryHandler<uint32_t, T, FindLeadingBitShift<T>>))
          : FOR_INTEGER(type, (unaryHandler<uint32_t, T, FindLeadingBit<T>>)));
}

static void decodeReverseBits(DecodeContext &context) {
  Type type = context.takeType();
  unaryOperands(context, type, FOR_BITS(type, (unaryOf<T, ReverseBits<T>>)));
}

static void decodeExtractField(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(4);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, 32);
  context.c(3, 32);
  context.out().kind = Class::Integer;
  context.run(FOR_INTEGER(
      type, (ternaryHandler<T, T, uint32_t, uint32_t, ExtractField<T>>)));
}

template <typename T>
static void insertField(Warp &warp, const Instruction &i) {
  const T *field = warp.read<T>(i.a), *into = warp.read<T>(i.b);
  const auto *position = warp.read<uint32_t>(i.c);
  const auto *length =
      warp.read<uint32_t>(Operand{static_cast<uint32_t>(i.immediate)});
  forLanes<T>(warp, i.d, [=](uint32_t lane) {
    return InsertField<T>()(field[lane], into[lane], position[lane],
                            length[lane]);
  });
}

static void decodeInsertField(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(5);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, type.bits);
  context.c(3, 32);
  if (!context.isConstant(4))
    context.fail("the length of the field has to be a constant");
  context.out().immediate =
      context.constant(static_cast<uint64_t>(context.integer(4)), 32).code;
  context.out().kind = Class::Integer;
  context.run(FOR_BITS(type, (insertField<T>)));
}

void mlir::moe::emulator::addIntegerInstructions(InstructionTable &table) {
  constexpr TypeClass kInteger = TypeClass::Integer;
  table.add("add", decodeAdd, kInteger);
  table.add("sub", decodeSubtract, kInteger);
  table.add("mul", decodeMultiply, kInteger);
  table.add("mad", decodeMultiplyAdd, kInteger);
  table.add("div", decodeDivide, kInteger);
  table.add("rem", decodeRemainder, kInteger);
  table.add("min", decodeMinimum, kInteger);
  table.add("max", decodeMaximum, kInteger);
  table.add("abs", decodeAbsolute, kInteger);
  table.add("neg", decodeNegate, kInteger);
  table.add("sad", decodeAbsoluteDifference, kInteger);
  table.add("and", decodeLogic<And>, kInteger);
  table.add("or", decodeLogic<Or>, kInteger);
  table.add("xor", decodeLogic<Xor>, kInteger);
  table.add("not", decodeNot, kInteger);
  table.add("and", decodePredicateLogic<And>, TypeClass::Predicate);
  table.add("or", decodePredicateLogic<Or>, TypeClass::Predicate);
  table.add("xor", decodePredicateLogic<Xor>, TypeClass::Predicate);
  table.add("not", decodePredicateNot, TypeClass::Predicate);
  table.add("cnot", decodeLogicalNot, kInteger);
  table.add("shl", decodeShift<true>, kInteger);
  table.add("shr", decodeShift<false>, kInteger);
  table.add("popc", decodeCountBits, kInteger);
  table.add("clz", decodeCountLeadingZeros, kInteger);
  table.add("bfind", decodeFindLeadingBit, kInteger);
  table.add("brev", decodeReverseBits, kInteger);
  table.add("bfe", decodeExtractField, kInteger);
  table.add("bfi", decodeInsertField, kInteger);
}
