//===- Float.cpp - float arithmetic -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 and bf16 compute in f32 and round once more, which is correct for one
// operation on formats so much narrower; fma goes through f64 rounded to odd.
// Rounding modes other than to nearest set the processor's mode around the
// loop.
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"

#include <cfenv>

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::floats;

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

template <typename Format, typename Operation>
struct BinaryLane {
  auto operator()(typename Format::Bits a, typename Format::Bits b) const {
    return Format::write(Operation::of(Format::read(a), Format::read(b)));
  }
};
template <typename Half, typename Operation>
struct BinaryLane<Pair<Half>, Operation> {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    BinaryLane<Half, Operation> lane;
    return lane(uint16_t(a), uint16_t(b)) |
           uint32_t(lane(uint16_t(a >> 16), uint16_t(b >> 16))) << 16;
  }
};

template <typename Format, typename Operation>
static Handler binaryFloat() {
  using Bits = typename Format::Bits;
  return binaryHandler<Bits, Bits, Bits, BinaryLane<Format, Operation>>;
}
template <typename Operation>
static Handler binaryOn(Type type, bool flush) {
  if (type.is(Type::Float, 32))
    return flush ? binaryFloat<F32Flushed, Operation>()
                 : binaryFloat<F32, Operation>();
  if (type.is(Type::Float, 64))
    return binaryFloat<F64, Operation>();
  if (type.bits != 16)
    return nullptr;
  if (type.kind == Type::Float && flush)
    return type.lanes == 2 ? binaryFloat<Pair<F16Flushed>, Operation>()
                           : binaryFloat<F16Flushed, Operation>();
  if (type.kind == Type::Float)
    return type.lanes == 2 ? binaryFloat<Pair<F16>, Operation>()
                           : binaryFloat<F16, Operation>();
  return type.lanes == 2 ? binaryFloat<Pair<BF16>, Operation>()
                         : binaryFloat<BF16, Operation>();
}

/// The value of a format with .sat or .relu, in place.
template <typename Format>
static void finishLanes(Warp &warp, const Instruction &i) {
  using Bits = typename Format::Bits;
  auto *d = warp.write<Bits>(i.d);
  forLanes<Bits>(warp, i.d, [=](uint32_t lane) -> Bits {
    return Format::write(finishValue(Format::read(d[lane]), i.size));
  });
}
template <typename Half>
static void finishPairs(Warp &warp, const Instruction &i) {
  auto *d = warp.write<uint32_t>(i.d);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    auto half = [&](uint32_t bits) -> uint32_t {
      return Half::write(finishValue(Half::read(uint16_t(bits)), i.size));
    };
    return half(d[lane]) | half(d[lane] >> 16) << 16;
  });
}

/// Runs the handler that `immediate` holds with a rounding mode, then applies
/// .sat and .relu. Most instructions have none of that and run the handler
/// itself.
static void runSpecially(Warp &warp, const Instruction &i) {
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                   FE_UPWARD};
  auto handler = reinterpret_cast<Handler>(i.immediate);
  unsigned mode = i.option & 3, format = i.option >> 2;
  if (mode != 0)
    std::fesetround(kModes[mode]);
  handler(warp, i);
  if (mode != 0)
    std::fesetround(FE_TONEAREST);
  if (i.size == kNothing)
    return;
  static constexpr Handler kFinish[] = {finishLanes<F32>, finishLanes<F64>,
                                        finishLanes<F16>, finishLanes<BF16>,
                                        finishPairs<F16>, finishPairs<BF16>};
  kFinish[format](warp, i);
}

static unsigned formatOf(Type type) {
  if (type.bits == 32)
    return 0;
  if (type.bits == 64)
    return 1;
  return (type.kind == Type::Float ? 2 : 3) + (type.lanes == 2 ? 2 : 0);
}

//===----------------------------------------------------------------------===//
// fma
//===----------------------------------------------------------------------===//

MOE_VECTOR_CLONES
static void fusedMultiplyAdd32(float *d, const float *a, const float *b,
                               const float *c) {
#pragma GCC ivdep
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    float value = __builtin_fmaf(a[lane], b[lane], c[lane]);
    d[lane] = value;
  }
}

MOE_VECTOR_CLONES
static void fusedMultiplyAdd64(double *d, const double *a, const double *b,
                               const double *c) {
#pragma GCC ivdep
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    d[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
}

static void canonicalNaN(uint32_t *bits) {
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    bits[lane] = (bits[lane] & 0x7fffffffu) > 0x7f800000u ? kNaN32 : bits[lane];
}

static void fma32(Warp &warp, const Instruction &i) {
  alignas(64) float result[kLanes];
  fusedMultiplyAdd32(result, warp.read<float>(i.a), warp.read<float>(i.b),
                     warp.read<float>(i.c));
  alignas(64) uint32_t bits[kLanes];
  std::memcpy(bits, result, sizeof(bits));
  canonicalNaN(bits);
  forLanes<uint32_t>(warp, i.d, [&](uint32_t lane) { return bits[lane]; });
}

static void fma32Flushed(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return F32Flushed::write(std::fma(F32Flushed::read(a[lane]),
                                      F32Flushed::read(b[lane]),
                                      F32Flushed::read(c[lane])));
  });
}

static void fma64(Warp &warp, const Instruction &i) {
  alignas(64) double result[kLanes];
  fusedMultiplyAdd64(result, warp.read<double>(i.a), warp.read<double>(i.b),
                     warp.read<double>(i.c));
  forLanes<double>(warp, i.d, [&](uint32_t lane) { return result[lane]; });
}

template <typename Half>
struct FmaLane {
  uint16_t operator()(uint16_t a, uint16_t b, uint16_t c) const {
    // The product of two halves is exact in f64.
    double product = double(Half::read(a)) * double(Half::read(b));
    return Half::writeDouble(addToOdd(product, Half::read(c)));
  }
};
/// .oob: the NaN that tensor copies fill with makes the result 0.
template <typename Half>
struct FmaOutsideLane {
  uint16_t operator()(uint16_t a, uint16_t b, uint16_t c) const {
    if (a == kOutside16 || b == kOutside16 || c == kOutside16)
      return 0;
    return FmaLane<Half>()(a, b, c);
  }
};
template <typename Lane>
struct FmaPairLane {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    Lane lane;
    return lane(uint16_t(a), uint16_t(b), uint16_t(c)) |
           uint32_t(
               lane(uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16)))
               << 16;
  }
};

template <typename Lane>
static Handler fmaOf(Type type) {
  return type.lanes == 2 ? ternaryOf<uint32_t, FmaPairLane<Lane>>
                         : ternaryOf<uint16_t, Lane>;
}

static Handler fmaOn(Type type, bool flush) {
  if (type.is(Type::Float, 32))
    return flush ? fma32Flushed : fma32;
  if (type.is(Type::Float, 64))
    return fma64;
  if (type.bits != 16)
    return nullptr;
  if (type.kind == Type::BFloat)
    return fmaOf<FmaLane<BF16>>(type);
  return flush ? fmaOf<FmaLane<F16Flushed>>(type) : fmaOf<FmaLane<F16>>(type);
}

static Handler fmaOutsideOn(Type type) {
  if (type.bits != 16)
    return nullptr;
  return type.kind == Type::BFloat ? fmaOf<FmaOutsideLane<BF16>>(type)
                                   : fmaOf<FmaOutsideLane<F16>>(type);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

FloatModifiers::FloatModifiers(DecodeContext &context) {
  context.takeOneOf({"approx", "full"});
  std::string_view mode = context.takeOneOf({"rn", "rz", "rm", "rp"});
  rounding = mode == "rz" ? 1 : mode == "rm" ? 2 : mode == "rp" ? 3 : 0;
  flush = context.take("ftz");
  if (context.take("sat"))
    after = kSaturate;
  else if (context.take("relu"))
    after = kRelu;
  type = context.takeType();
  context.out().kind = Class::Float;
  if (rounding != 0 && type.bits == 16)
    context.fail("16-bit floats round to nearest");
}

void FloatModifiers::run(DecodeContext &context, Handler handler) const {
  if (!handler || (rounding == 0 && after == kNothing))
    return context.run(handler);
  Instruction &out = context.out();
  out.immediate = reinterpret_cast<int64_t>(handler);
  out.option = static_cast<uint8_t>(rounding | formatOf(type) << 2);
  out.size = after;
  context.run(runSpecially);
}

static void decodeBinary(DecodeContext &context,
                         Handler (*choose)(Type, bool)) {
  FloatModifiers modifiers(context);
  uint32_t bits = modifiers.type.width();
  context.needOperands(3);
  context.d(0, bits);
  context.a(1, bits);
  context.b(2, bits);
  modifiers.run(context, choose(modifiers.type, modifiers.flush));
}

template <typename Operation>
static void decodeBinary(DecodeContext &context) {
  decodeBinary(context, binaryOn<Operation>);
}

template <typename Choice>
static void decodeChoice(DecodeContext &context) {
  bool propagate = context.take("NaN");
  if (!context.take("xorsign"))
    return decodeBinary(context, propagate ? binaryOn<PropagateNaN<Choice>>
                                           : binaryOn<Choice>);
  context.needOneOf({"abs"});
  decodeBinary(context, propagate ? binaryOn<XorSign<PropagateNaN<Choice>>>
                                  : binaryOn<XorSign<Choice>>);
}

static void decodeFma(DecodeContext &context) {
  bool outside = context.take("oob");
  FloatModifiers modifiers(context);
  uint32_t bits = modifiers.type.width();
  context.needOperands(4);
  context.d(0, bits);
  context.a(1, bits);
  context.b(2, bits);
  context.c(3, bits);
  modifiers.run(context, outside ? fmaOutsideOn(modifiers.type)
                                 : fmaOn(modifiers.type, modifiers.flush));
}

void mlir::moe::emulator::addFloatInstructions(InstructionTable &table) {
  constexpr TypeClass kFloat = TypeClass::Float;
  table.add("add", decodeBinary<Add>, kFloat);
  table.add("sub", decodeBinary<Subtract>, kFloat);
  table.add("mul", decodeBinary<Multiply>, kFloat);
  table.add("div", decodeBinary<Divide>, kFloat);
  table.add("fma", decodeFma, kFloat);
  table.add("mad", decodeFma, kFloat);
  table.add("min", decodeChoice<Minimum>, kFloat);
  table.add("max", decodeChoice<Maximum>, kFloat);
}
