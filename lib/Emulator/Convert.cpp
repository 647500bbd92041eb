//===- Convert.cpp - cvt between numbers -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvertFormats.h"

#include <type_traits>

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::formats;

//===----------------------------------------------------------------------===//
// One value
//===----------------------------------------------------------------------===//

/// The low bits of a register that is as wide as T or wider.
template <typename T>
static void readLanes(const Warp &warp, Operand operand, uint32_t width,
                      T out[kLanes]) {
  auto copy = [&](const auto *from) {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      out[lane] = T(from[lane]);
  };
  if (width == sizeof(T))
    std::memcpy(out, warp.read<T>(operand), sizeof(T) * kLanes);
  else if (width == 2)
    copy(warp.read<uint16_t>(operand));
  else if (width == 4)
    copy(warp.read<uint32_t>(operand));
  else
    copy(warp.read<uint64_t>(operand));
}

template <typename T>
static void writeLanes(Warp &warp, Operand operand, uint32_t width,
                       const T values[kLanes]) {
  auto value = [&](uint32_t lane) { return values[lane]; };
  if (width == sizeof(T))
    forLanes<T>(warp, operand, value);
  else if (width == 2)
    forLanes<uint16_t>(warp, operand, value);
  else if (width == 4)
    forLanes<uint32_t>(warp, operand, value);
  else
    forLanes<uint64_t>(warp, operand, value);
}

/// .ftz is about f32, which it may read or write.
template <typename Format>
static typename Format::T flushed(typename Format::T bits) {
  if constexpr (std::is_same_v<Format, Single>)
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
  return bits;
}

template <typename To, typename From>
static void convert(Warp &warp, const Instruction &i) {
  // What NaN becomes depends on it.
  constexpr bool kWide =
      std::is_same_v<From, Double> || sizeof(typename To::T) == 8;
  typename From::T in[kLanes];
  typename To::T out[kLanes];
  readLanes(warp, i.a, i.widths[2], in);
  if (i.option == kNearest && i.size == 0) {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      out[lane] = To::from(From::number(in[lane]), kNearest, 0, kWide);
  } else {
    bool flush = i.size & kFlush;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      if (flush)
        in[lane] = flushed<From>(in[lane]);
      out[lane] = To::from(From::number(in[lane]), i.option, i.size, kWide);
      if (flush)
        out[lane] = flushed<To>(out[lane]);
    }
  }
  writeLanes(warp, i.d, i.widths[0], out);
}

// What layers convert all the time, in loops that are vectorised.

static void widenBF16(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint16_t>(i.a);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    uint32_t bits = uint32_t(a[lane]) << 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? kNaN32 : bits;
  });
}

static void narrowToBF16(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a);
  forLanes<uint16_t>(warp, i.d, [=](uint32_t lane) -> uint16_t {
    uint32_t bits = a[lane];
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? kNaN16 : uint16_t(rounded);
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename Function>
static Handler forFormat(Type type, Function f) {
  if (type.lanes != 1)
    return nullptr;
  if (type.is(Type::Float, 16))
    return f(Tag<Half>());
  if (type.is(Type::Float, 32))
    return f(Tag<Single>());
  if (type.is(Type::Float, 64))
    return f(Tag<Double>());
  if (type.is(Type::BFloat, 16))
    return f(Tag<BHalf>());
  if (type.bits == 8 && type.isInteger())
    return type.isSigned() ? f(Tag<Whole<int8_t>>()) : f(Tag<Whole<uint8_t>>());
  return forInteger(type, [&](auto tag) {
    return f(Tag<Whole<typename decltype(tag)::type>>());
  });
}

static Handler conversion(Type to, Type from) {
  if (to.kind == Type::TF32)
    return from.is(Type::Float, 32) ? convert<TF32, Single> : Handler(nullptr);
  return forFormat(to, [&](auto toTag) {
    return forFormat(from, [](auto fromTag) -> Handler {
      return convert<typename decltype(toTag)::type,
                     typename decltype(fromTag)::type>;
    });
  });
}

static void decodeConvert(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::Convert;
  if (context.take("pack"))
    return decodePackedIntegers(context);
  std::string_view mode = context.takeOneOf(
      {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  out.option = mode == "rz" || mode == "rzi"   ? kToZero
               : mode == "rm" || mode == "rmi" ? kDown
               : mode == "rp" || mode == "rpi" ? kUp
               : mode == "rna"                 ? kNearestAway
                                               : kNearest;
  if (context.take("ftz"))
    out.size |= kFlush;
  if (context.take("sat"))
    out.size |= kSaturate;
  if (context.take("relu"))
    out.size |= kRelu;
  if (context.take("satfinite"))
    out.size |= kSatFinite;
  Type to = context.takeType(), from = context.takeType();
  if (to.lanes == 2)
    return decodeConvertPair(context, to, from);
  if (!mode.empty() && mode.back() == 'i' && to.isFloat())
    out.size |= kToInteger;
  if ((out.size & kFlush) && !to.is(Type::Float, 32) &&
      !from.is(Type::Float, 32))
    context.fail(".ftz is for conversions from and to .f32");
  context.needOperands(2);
  context.d(0, to.width(),
            to.isFloat() ? DecodeContext::Exact : DecodeContext::OrWider);
  context.a(1, from.width(),
            from.isFloat() ? DecodeContext::Exact : DecodeContext::OrWider);
  bool plain = out.option == kNearest && out.size == 0;
  if (plain && to.is(Type::Float, 32) && from.is(Type::BFloat, 16))
    return context.run(widenBF16);
  if (plain && to.is(Type::BFloat, 16) && from.is(Type::Float, 32))
    return context.run(narrowToBF16);
  context.run(conversion(to, from));
}

void mlir::moe::emulator::addConvertInstructions(InstructionTable &table) {
  table.add("cvt", decodeConvert);
}
