//===- FloatUnary.cpp - float functions of one value, and their signs -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Approximations (ex2.approx, rcp.approx, ...) are the exact result rounded,
// which is within the error that the ISA allows.
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::floats;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename Format, typename Operation>
struct UnaryLane {
  auto operator()(typename Format::Bits a) const {
    return Format::write(Operation::of(Format::read(a)));
  }
};
template <typename Half, typename Operation>
struct UnaryLane<Pair<Half>, Operation> {
  uint32_t operator()(uint32_t a) const {
    UnaryLane<Half, Operation> lane;
    return lane(uint16_t(a)) | uint32_t(lane(uint16_t(a >> 16))) << 16;
  }
};
template <typename Format, typename Operation>
static Handler unaryFloat() {
  using Bits = typename Format::Bits;
  return unaryHandler<Bits, Bits, UnaryLane<Format, Operation>>;
}

template <typename Operation>
static Handler unaryOn(Type type, bool flush) {
  if (type.is(Type::Float, 32))
    return flush ? unaryFloat<F32Flushed, Operation>()
                 : unaryFloat<F32, Operation>();
  if (type.is(Type::Float, 64))
    return flush ? unaryFloat<F64Upper, Operation>()
                 : unaryFloat<F64, Operation>();
  if (type.bits != 16)
    return nullptr;
  if (type.kind == Type::Float && flush)
    return type.lanes == 2 ? unaryFloat<Pair<F16Flushed>, Operation>()
                           : unaryFloat<F16Flushed, Operation>();
  if (type.kind == Type::Float)
    return type.lanes == 2 ? unaryFloat<Pair<F16>, Operation>()
                           : unaryFloat<F16, Operation>();
  return type.lanes == 2 ? unaryFloat<Pair<BF16>, Operation>()
                         : unaryFloat<BF16, Operation>();
}

template <typename Operation>
static void decodeUnary(DecodeContext &context) {
  FloatModifiers modifiers(context);
  uint32_t bits = modifiers.type.width();
  context.needOperands(2);
  context.d(0, bits);
  context.a(1, bits);
  modifiers.run(context, unaryOn<Operation>(modifiers.type, modifiers.flush));
}

//===----------------------------------------------------------------------===//
// neg, abs, copysign and testp: bits, not arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// Where the fields of a format are in T.
template <typename T, uint32_t Mantissa>
struct Fields {
  using Bits = T;
  static constexpr T kSign = T(T(1) << (8 * sizeof(T) - 1));
  static constexpr T kFraction = T((T(1) << Mantissa) - 1);
  static constexpr T kExponent = T(~(kSign | kFraction));
};
using Fields32 = Fields<uint32_t, 23>;
using Fields64 = Fields<uint64_t, 52>;
using FieldsF16 = Fields<uint16_t, 10>;
using FieldsBF16 = Fields<uint16_t, 7>;

template <typename F, bool Negate, bool Flush>
struct SignLane {
  using T = typename F::Bits;
  T operator()(T a) const {
    if (Flush && !(a & F::kExponent))
      a &= F::kSign;
    return Negate ? T(a ^ F::kSign) : T(a & ~F::kSign);
  }
};
template <typename Lane>
struct SignPair {
  uint32_t operator()(uint32_t a) const {
    return Lane()(uint16_t(a)) | uint32_t(Lane()(uint16_t(a >> 16))) << 16;
  }
};
template <typename F>
struct CopySign {
  using T = typename F::Bits;
  T operator()(T a, T b) const { return T((a & F::kSign) | (b & ~F::kSign)); }
};
} // namespace

template <typename F, bool Negate>
static Handler signHandler(Type type, bool flush) {
  using T = typename F::Bits;
  using Lane = SignLane<F, Negate, false>;
  using Flushed = SignLane<F, Negate, true>;
  if (type.lanes == 2)
    return flush ? unaryOf<uint32_t, SignPair<Flushed>>
                 : unaryOf<uint32_t, SignPair<Lane>>;
  return flush ? unaryOf<T, Flushed> : unaryOf<T, Lane>;
}

template <bool Negate>
static void decodeSign(DecodeContext &context) {
  bool flush = context.take("ftz");
  Type type = context.takeType();
  context.needOperands(2);
  context.d(0, type.width());
  context.a(1, type.width());
  context.out().kind = Class::Float;
  if (type.is(Type::Float, 32))
    context.run(signHandler<Fields32, Negate>(type, flush));
  else if (type.is(Type::Float, 64))
    context.run(signHandler<Fields64, Negate>(type, flush));
  else if (type.bits == 16)
    context.run(type.kind == Type::Float
                    ? signHandler<FieldsF16, Negate>(type, flush)
                    : signHandler<FieldsBF16, Negate>(type, flush));
}

static void decodeCopySign(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(3);
  context.d(0, type.width());
  context.a(1, type.width());
  context.b(2, type.width());
  context.out().kind = Class::Float;
  if (type.is(Type::Float, 32))
    context.run(binaryOf<uint32_t, CopySign<Fields32>>);
  else if (type.is(Type::Float, 64))
    context.run(binaryOf<uint64_t, CopySign<Fields64>>);
}

namespace {
enum Test : uint8_t {
  kFinite,
  kInfinite,
  kNumber,
  kNotANumber,
  kNormal,
  kSubnormal
};
} // namespace

template <typename F>
static bool test(typename F::Bits a, uint8_t which) {
  auto exponent = a & F::kExponent, fraction = a & F::kFraction;
  bool special = exponent == F::kExponent;
  switch (which) {
  case kFinite:
    return !special;
  case kInfinite:
    return special && fraction == 0;
  case kNumber:
    return !special || fraction == 0;
  case kNotANumber:
    return special && fraction != 0;
  case kNormal:
    return !special && (exponent != 0 || fraction == 0);
  default:
    return exponent == 0 && fraction != 0;
  }
}

template <typename F>
static void testLanes(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<typename F::Bits>(i.a);
  warp.setPredicate(i.d, whichLanes(warp, [&](uint32_t lane) {
                      return test<F>(a[lane], i.option);
                    }));
}

static void decodeTest(DecodeContext &context) {
  std::string_view what = context.needOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = context.takeType();
  Instruction &out = context.out();
  context.needOperands(2);
  context.d(0, 1);
  context.a(1, type.bits);
  out.kind = Class::Float;
  out.option = what == "finite"       ? kFinite
               : what == "infinite"   ? kInfinite
               : what == "number"     ? kNumber
               : what == "notanumber" ? kNotANumber
               : what == "normal"     ? kNormal
                                      : kSubnormal;
  if (type.is(Type::Float, 32))
    context.run(testLanes<Fields32>);
  else if (type.is(Type::Float, 64))
    context.run(testLanes<Fields64>);
}

void mlir::moe::emulator::addFloatUnaryInstructions(InstructionTable &table) {
  constexpr TypeClass kFloat = TypeClass::Float;
  table.add("neg", decodeSign<true>, kFloat);
  table.add("abs", decodeSign<false>, kFloat);
  table.add("sqrt", decodeUnary<SquareRoot>, kFloat);
  table.add("rcp", decodeUnary<Reciprocal>, kFloat);
  table.add("rsqrt", decodeUnary<ReciprocalRoot>, kFloat);
  table.add("ex2", decodeUnary<Exponential2>, kFloat);
  table.add("lg2", decodeUnary<Logarithm2>, kFloat);
  table.add("sin", decodeUnary<Sine>, kFloat);
  table.add("cos", decodeUnary<Cosine>, kFloat);
  table.add("tanh", decodeUnary<HyperbolicTangent>, kFloat);
  table.add("copysign", decodeCopySign, kFloat);
  table.add("testp", decodeTest, kFloat);
}
