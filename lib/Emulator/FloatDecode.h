//===- FloatDecode.h - modifiers of float arithmetic -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_FLOATDECODE_H
#define MOE_LIB_EMULATOR_FLOATDECODE_H

#include "FloatOperations.h"
#include "Lanes.h"

namespace mlir::moe::emulator {

/// Modifiers in front of the type: rounding, .ftz, .sat, .relu, .approx. Takes
/// the type, too.
struct FloatModifiers {
  explicit FloatModifiers(DecodeContext &context);
  /// Runs `handler` with the rounding and with .sat and .relu after it.
  void run(DecodeContext &context, Handler handler) const;

  bool flush = false;
  unsigned rounding = 0;
  uint8_t after = 0;
  Type type;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_FLOATDECODE_H
