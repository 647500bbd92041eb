//===- Lanes.h - loops over the lanes of a warp -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handlers are made of these: a functor on single values becomes a handler for
// 32 lanes. The loop without a mask is the one that compilers vectorise; a
// register is either the same as another one or does not overlap it, so that
// order does not matter.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_LANES_H
#define MOE_LIB_EMULATOR_LANES_H

#include "Decode.h"
#include "Warp.h"

#include <cstring>

namespace mlir::moe::emulator {

/// out[lane] = value(lane) for the running lanes.
template <typename T, typename Function>
inline void forLanes(Warp &warp, Operand d, Function value) {
  T *out = warp.write<T>(d);
  if (warp.active == kAllLanes) {
#pragma GCC ivdep
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      out[lane] = value(lane);
    return;
  }
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    out[lane] = value(lane);
  }
}

/// Bits of the running lanes for which `value(lane)` is true.
template <typename Function>
inline uint32_t whichLanes(Warp &warp, Function value) {
  uint32_t bits = 0;
  if (warp.active == kAllLanes) {
    // Bytes first: a loop that is vectorised, then 8 of them at once.
    alignas(8) uint8_t bytes[kLanes];
#pragma GCC ivdep
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      bytes[lane] = value(lane) ? 1 : 0;
    for (uint32_t i = 0; i < kLanes / 8; ++i) {
      uint64_t eight;
      std::memcpy(&eight, bytes + 8 * i, 8);
      bits |= static_cast<uint32_t>((eight * 0x0102040810204080u) >> 56)
              << (8 * i);
    }
    return bits;
  }
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    bits |= uint32_t(value(lane) ? 1 : 0) << lane;
  }
  return bits;
}

/// What Poison::Mix does, for handlers whose list holds sources too: they are
/// of kind Own and do this first. The sources of the list have `bytes` bytes, 0
/// for predicates.
void mixPoison(Warp &warp, const Instruction &i, uint32_t bytes);

template <typename D, typename A, typename Function>
void unaryHandler(Warp &warp, const Instruction &i) {
  const A *a = warp.read<A>(i.a);
  forLanes<D>(warp, i.d,
              [=](uint32_t lane) -> D { return Function()(a[lane]); });
}

template <typename D, typename A, typename B, typename Function>
void binaryHandler(Warp &warp, const Instruction &i) {
  const A *a = warp.read<A>(i.a);
  const B *b = warp.read<B>(i.b);
  forLanes<D>(warp, i.d,
              [=](uint32_t lane) -> D { return Function()(a[lane], b[lane]); });
}

template <typename D, typename A, typename B, typename C, typename Function>
void ternaryHandler(Warp &warp, const Instruction &i) {
  const A *a = warp.read<A>(i.a);
  const B *b = warp.read<B>(i.b);
  const C *c = warp.read<C>(i.c);
  forLanes<D>(warp, i.d, [=](uint32_t lane) -> D {
    return Function()(a[lane], b[lane], c[lane]);
  });
}

/// A binary operation on values of one type.
template <typename T, typename Function>
constexpr Handler binaryOf = binaryHandler<T, T, T, Function>;
template <typename T, typename Function>
constexpr Handler unaryOf = unaryHandler<T, T, Function>;
template <typename T, typename Function>
constexpr Handler ternaryOf = ternaryHandler<T, T, T, T, Function>;

/// A value whose C++ type stands for an integer type of PTX.
template <typename T>
struct Tag {
  using type = T;
};

/// Calls `function(Tag<T>())` with the C++ type of 16, 32 or 64 bits; what it
/// returns, or null for other types.
template <typename Function>
Handler forInteger(Type type, Function function) {
  bool isSigned = type.isSigned();
  if (type.lanes != 1)
    return nullptr;
  switch (type.bits) {
  case 16:
    return isSigned ? function(Tag<int16_t>()) : function(Tag<uint16_t>());
  case 32:
    return isSigned ? function(Tag<int32_t>()) : function(Tag<uint32_t>());
  case 64:
    return isSigned ? function(Tag<int64_t>()) : function(Tag<uint64_t>());
  default:
    return nullptr;
  }
}

/// The same for types whose sign does not matter.
template <typename Function>
Handler forBits(Type type, Function function) {
  return forInteger({Type::Bits, type.bits, type.lanes}, function);
}

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_LANES_H
