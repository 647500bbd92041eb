//===- Coalescing.h - what one access of a warp costs -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_COALESCING_H
#define MOE_LIB_EMULATOR_COALESCING_H

#include "Access.h"

namespace mlir::moe::emulator {

/// Counts sectors, where the running lanes access `bytes` bytes each of global
/// memory, or bank conflicts, where they do of their block's shared memory.
void countTraffic(Warp &warp, const Access &access, uint32_t bytes);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_COALESCING_H
