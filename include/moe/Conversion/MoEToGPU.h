//===- MoEToGPU.h - one kernel launch for each moe op -----------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `moe-outline-kernels` turns every moe op on memrefs into kernels of one
// gpu.module and launches in place of the op. A kernel parameter is the
// pointer of a memref, an i32 extent or a tensor map; operand i of the launch
// is parameter i of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_CONVERSION_MOETOGPU_H
#define MOE_CONVERSION_MOETOGPU_H

#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::moe {

/// The gpu.module that holds all kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "moe_kernels";

/// Records what a reader of the PTX has to know about `kernel`.
void setKernelInfo(LLVM::LLVMFuncOp kernel, ArrayRef<std::string> params,
                   StringRef grid, int64_t block, int64_t dynamicSharedBytes,
                   ScheduleAttr schedule);

/// What setKernelInfo recorded at a kernel, or the pass at a launch of it; or
/// null. Only launches are left once the kernels are PTX.
KernelInfoAttr getKernelInfo(Operation *kernelOrLaunch);

} // namespace mlir::moe

#endif // MOE_CONVERSION_MOETOGPU_H
