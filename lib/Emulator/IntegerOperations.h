//===- IntegerOperations.h - integer arithmetic on single values -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_INTEGEROPERATIONS_H
#define MOE_LIB_EMULATOR_INTEGEROPERATIONS_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mlir::moe::emulator::integer {

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
/// Signed results that do not fit become the nearest number that does.
template <typename T>
T saturate(int64_t value) {
  using Limits = std::numeric_limits<T>;
  return T(std::min<int64_t>(std::max<int64_t>(value, Limits::min()),
                             Limits::max()));
}
struct AddSaturated {
  int32_t operator()(int32_t a, int32_t b) const {
    return saturate<int32_t>(int64_t(a) + b);
  }
};
struct SubtractSaturated {
  int32_t operator()(int32_t a, int32_t b) const {
    return saturate<int32_t>(int64_t(a) - b);
  }
};
struct MultiplyAddHighSaturated {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate<int32_t>((int64_t(a) * b >> 32) + c);
  }
};
/// No number below zero.
template <typename T, typename Function>
struct Relu {
  T operator()(T a, T b) const { return std::max(Function()(a, b), T(0)); }
};
/// Two values of 16 bits in one register.
template <typename T, typename Function>
struct PairOf {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    Function function;
    return uint16_t(function(T(a), T(b))) |
           uint32_t(uint16_t(function(T(a >> 16), T(b >> 16)))) << 16;
  }
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
/// Positions and lengths of 32 bits have 8 bits; those of 64 bits have all.
template <typename T>
uint32_t fieldAmount(uint32_t amount) {
  return sizeof(T) == 8 ? std::min(amount, 0x100u) : amount & 0xff;
}
template <typename T>
struct ExtractField {
  T operator()(T a, uint32_t position, uint32_t length) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kBits = 8 * sizeof(T);
    position = fieldAmount<T>(position);
    length = fieldAmount<T>(length);
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
    position = fieldAmount<T>(position);
    length = fieldAmount<T>(length);
    if (position >= kBits || length == 0)
      return into;
    length = std::min(length, kBits - position);
    T mask = length >= kBits ? T(~T(0)) : T((T(1) << length) - 1);
    mask = T(mask << position);
    return T((into & ~mask) | (T(field << position) & mask));
  }
};

} // namespace mlir::moe::emulator::integer

#endif // MOE_LIB_EMULATOR_INTEGEROPERATIONS_H
