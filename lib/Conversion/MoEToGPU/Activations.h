//===- Activations.h - activation functions and f64 math --------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOGPU_ACTIVATIONS_H
#define MOE_LIB_CONVERSION_MOETOGPU_ACTIVATIONS_H

#include "KernelBuilder.h"

namespace mlir::moe {

//===--- f32, a few units in the last place: activations ------------------===//

/// The activation of `gate` and `up`, all f32. `up` is unused for kinds
/// without a gate. A NaN stays NaN through every clamp.
Val activate(ActivationAttr activation, Val gate, Val up);

//===--- f64, a few ulp: route scores -------------------------------------===//

/// exp(x), with x held inside [-708, 709]: always normal and above 0.
Val exp64(Val x);
/// log(1 + y) for y in [0, 1].
Val log1p64(Val y);
Val tanh64(Val x);
Val sigmoid64(Val x);
/// sqrt(log(1 + exp(x))), without overflow for any finite x.
Val sqrtSoftplus64(Val x);

} // namespace mlir::moe

#endif // MOE_LIB_CONVERSION_MOETOGPU_ACTIVATIONS_H
