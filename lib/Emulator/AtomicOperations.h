//===- AtomicOperations.h - what atomics make of memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of atom, red and of bulk reductions on one value: old value,
// operand b, and operand c that only a compare-and-swap has.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_ATOMICOPERATIONS_H
#define MOE_LIB_EMULATOR_ATOMICOPERATIONS_H

#include "Numbers.h"

#include <algorithm>
#include <cstring>

namespace mlir::moe::emulator::atomics {

template <typename T>
struct Add {
  T operator()(T old, T b, T) const {
    return T(uint64_t(old) + uint64_t(b)); // wraps around
  }
};
template <typename T>
struct Minimum {
  T operator()(T old, T b, T) const { return std::min(old, b); }
};
template <typename T>
struct Maximum {
  T operator()(T old, T b, T) const { return std::max(old, b); }
};
template <typename T>
struct And {
  T operator()(T old, T b, T) const { return old & b; }
};
template <typename T>
struct Or {
  T operator()(T old, T b, T) const { return old | b; }
};
template <typename T>
struct Xor {
  T operator()(T old, T b, T) const { return old ^ b; }
};
template <typename T>
struct Exchange {
  T operator()(T, T b, T) const { return b; }
};
template <typename T>
struct CompareAndSwap {
  T operator()(T old, T b, T c) const { return old == b ? c : old; }
};
template <typename T>
struct Increment {
  T operator()(T old, T b, T) const { return old >= b ? 0 : T(old + 1); }
};
template <typename T>
struct Decrement {
  T operator()(T old, T b, T) const {
    return old == 0 || old > b ? b : T(old - 1);
  }
};
struct AddF32 {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    float sum = floatOfBits(old) + floatOfBits(b);
    return sum != sum ? kNaN32 : bitsOfFloat(sum);
  }
};
/// In global memory denormals count as zero.
struct AddF32Flushed {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    float sum = flushToZero(flushToZero(floatOfBits(old)) +
                            flushToZero(floatOfBits(b)));
    return sum != sum ? kNaN32 : bitsOfFloat(sum);
  }
};
struct AddF64 {
  uint64_t operator()(uint64_t old, uint64_t b, uint64_t) const {
    return bitsOfDouble(doubleOfBits(old) + doubleOfBits(b));
  }
};
enum HalfOperation { kAddHalf, kMinHalf, kMaxHalf };
template <bool BFloat, HalfOperation Operation>
struct HalfLane {
  uint16_t operator()(uint16_t old, uint16_t b, uint16_t) const {
    float x = BFloat ? bf16ToFloat(old) : f16ToFloat(old);
    float y = BFloat ? bf16ToFloat(b) : f16ToFloat(b);
    float result;
    if (Operation == kAddHalf)
      result = x + y;
    else if (x != x || y != y)
      result = x != x ? y : x;
    else
      result = Operation == kMinHalf ? std::min(x, y) : std::max(x, y);
    if (result != result)
      return kNaN16;
    return BFloat ? floatToBF16(result) : floatToF16(result);
  }
};
template <bool BFloat, HalfOperation Operation>
struct HalfPair {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    HalfLane<BFloat, Operation> lane;
    return lane(uint16_t(old), uint16_t(b), 0) |
           uint32_t(lane(uint16_t(old >> 16), uint16_t(b >> 16), 0)) << 16;
  }
};

/// Replaces what is at `data` by what the function makes of it; the old value.
template <typename T, typename Function>
inline T update(uint8_t *data, T b, T c) {
  auto *place = reinterpret_cast<T *>(data);
  T old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, Function()(old, b, c), true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return old;
}

} // namespace mlir::moe::emulator::atomics

#endif // MOE_LIB_EMULATOR_ATOMICOPERATIONS_H
