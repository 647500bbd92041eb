//===- IntegerDecode.h - operands of integer instructions -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of integer instructions have in common.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_INTEGERDECODE_H
#define MOE_LIB_EMULATOR_INTEGERDECODE_H

#include "IntegerOperations.h"
#include "Lanes.h"

namespace mlir::moe::emulator {

/// A handler for the C++ type T of a type of PTX; null for other types.
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

/// d = f(a), f(a, b) or f(a, b, c), all of `type`.
inline void integerOperands(DecodeContext &context, Type type, unsigned sources,
                            Handler handler) {
  uint32_t bits = type.width();
  context.needOperands(sources + 1);
  context.d(0, bits);
  context.a(1, bits);
  if (sources >= 2)
    context.b(2, bits);
  if (sources == 3)
    context.c(3, bits);
  context.out().kind = Class::Integer;
  context.run(handler);
}
inline void unaryOperands(DecodeContext &context, Type type, Handler handler) {
  integerOperands(context, type, 1, handler);
}
inline void binaryOperands(DecodeContext &context, Type type, Handler handler) {
  integerOperands(context, type, 2, handler);
}
inline void ternaryOperands(DecodeContext &context, Type type,
                            Handler handler) {
  integerOperands(context, type, 3, handler);
}

/// The forms of add, sub and mad that write the carry; in Carry.cpp.
void decodeAddWithCarry(DecodeContext &context);
void decodeSubtractWithCarry(DecodeContext &context);
void decodeMultiplyAddWithCarry(DecodeContext &context);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_INTEGERDECODE_H
