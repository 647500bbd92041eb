//===- CpuDevice.h - what the CPU device knows of its machine -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `runOnCpu` itself is declared with the other devices in Device.h.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_CPUDEVICE_H
#define MOE_EXECUTION_CPUDEVICE_H

#include "moe/Execution/Device.h"

namespace mlir::moe {

/// Bits of the widest vector register of this machine's CPU that the compiler
/// can use: what `moe-to-cpu` takes as `vector-bits`.
unsigned hostVectorBits();

} // namespace mlir::moe

#endif // MOE_EXECUTION_CPUDEVICE_H
