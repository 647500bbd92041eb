//===- Activation.h - activation functions of one row -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_REFERENCE_ACTIVATION_H
#define MOE_LIB_REFERENCE_ACTIVATION_H

#include "moe/MoE/MoEDialect.h"

namespace mlir::moe::reference {

/// Applies `activation` to the row `h`: `a` has half its columns where the
/// activation is gated, as many otherwise. Defined for float and double.
template <typename Real>
void activateRow(ActivationAttr activation, ArrayRef<Real> h,
                 MutableArrayRef<Real> a);

} // namespace mlir::moe::reference

#endif // MOE_LIB_REFERENCE_ACTIVATION_H
