//===- Integer.cpp - integer arithmetic -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerDecode.h"

using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::integer;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Pairs of 16 bits; null for other types.
template <template <typename> typename Function>
static Handler pairHandler(Type type) {
  if (type.lanes != 2 || type.bits != 16 || type.kind == Type::Bits)
    return nullptr;
  return type.isSigned()
             ? binaryOf<uint32_t, PairOf<int16_t, Function<int16_t>>>
             : binaryOf<uint32_t, PairOf<uint16_t, Function<uint16_t>>>;
}

/// .sat is there for s32 only.
static Handler onlySigned32(Type type, Handler handler) {
  return type.is(Type::Signed, 32) ? handler : nullptr;
}

static void decodeAdd(DecodeContext &context) {
  if (context.take("cc"))
    return decodeAddWithCarry(context);
  bool saturates = context.take("sat");
  Type type = context.takeType();
  if (saturates)
    return binaryOperands(context, type,
                          onlySigned32(type, binaryOf<int32_t, AddSaturated>));
  if (type.lanes == 2)
    return binaryOperands(context, type, pairHandler<Add>(type));
  binaryOperands(context, type, FOR_BITS(type, (binaryOf<T, Add<T>>)));
}

static void decodeSubtract(DecodeContext &context) {
  if (context.take("cc"))
    return decodeSubtractWithCarry(context);
  bool saturates = context.take("sat");
  Type type = context.takeType();
  if (saturates)
    return binaryOperands(
        context, type,
        onlySigned32(type, binaryOf<int32_t, SubtractSaturated>));
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
  if (context.take("cc"))
    return decodeMultiplyAddWithCarry(context);
  std::string_view part = context.needOneOf({"lo", "hi", "wide"});
  bool saturates = part == "hi" && context.take("sat");
  Type type = context.takeType();
  if (saturates)
    return ternaryOperands(
        context, type,
        onlySigned32(type, ternaryOf<int32_t, MultiplyAddHighSaturated>));
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

/// min and max, also of pairs and with .relu.
template <template <typename> typename Function>
static void decodeChoice(DecodeContext &context) {
  bool relu = context.take("relu");
  Type type = context.takeType();
  if (relu && type.is(Type::Signed, 32))
    return binaryOperands(context, type,
                          binaryOf<int32_t, Relu<int32_t, Function<int32_t>>>);
  using Half = Relu<int16_t, Function<int16_t>>;
  if (relu)
    return binaryOperands(context, type,
                          type.kind == Type::Signed && type.lanes == 2 &&
                                  type.bits == 16
                              ? binaryOf<uint32_t, PairOf<int16_t, Half>>
                              : Handler(nullptr));
  if (type.lanes == 2)
    return binaryOperands(context, type, pairHandler<Function>(type));
  binaryOperands(context, type, FOR_INTEGER(type, (binaryOf<T, Function<T>>)));
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
  ternaryOperands(context, type,
                  FOR_INTEGER(type, (ternaryOf<T, AbsoluteDifference<T>>)));
}

void mlir::moe::emulator::addIntegerInstructions(InstructionTable &table) {
  constexpr TypeClass kInteger = TypeClass::Integer;
  table.add("add", decodeAdd, kInteger);
  table.add("sub", decodeSubtract, kInteger);
  table.add("mul", decodeMultiply, kInteger);
  table.add("mad", decodeMultiplyAdd, kInteger);
  table.add("div", decodeDivide, kInteger);
  table.add("rem", decodeRemainder, kInteger);
  table.add("min", decodeChoice<Minimum>, kInteger);
  table.add("max", decodeChoice<Maximum>, kInteger);
  table.add("abs", decodeAbsolute, kInteger);
  table.add("neg", decodeNegate, kInteger);
  table.add("sad", decodeAbsoluteDifference, kInteger);
}
