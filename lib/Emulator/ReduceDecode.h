//===- ReduceDecode.h - reductions of asynchronous copies, as written -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_REDUCEDECODE_H
#define MOE_LIB_EMULATOR_REDUCEDECODE_H

#include "BulkCopy.h"
#include "Decode.h"

namespace mlir::moe::emulator {

/// Takes .add, .min, ...; an error where there is none.
ReduceOperation takeReduceOperation(DecodeContext &context);

/// One number for an operation and the type of its elements, 0 for none; an
/// error where the two do not go together.
uint32_t reductionOf(DecodeContext &context, ReduceOperation operation,
                     Type type);
/// What such a number stands for; null for 0.
Reducer reducerOf(uint32_t reduction);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_REDUCEDECODE_H
