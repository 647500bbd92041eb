//===- MoEToCPU.h - from moe on tensors to the LLVM dialect -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline `moe-to-cpu`. Its functions keep MLIR's calling convention for
// memrefs in row-major order. Returned buffers belong to the caller, who frees
// their allocated pointer with `free`. An argument that an op writes into is
// changed in place unless it carries `bufferization.writable = false`.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PIPELINES_MOETOCPU_H
#define MOE_PIPELINES_MOETOCPU_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::moe {

struct MoEToCPUOptions : public PassPipelineOptions<MoEToCPUOptions> {
  Option<unsigned> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("bits of a vector register of the CPU"),
      llvm::cl::init(256)};
  Option<bool> fillEmpty{
      *this, "fill-empty",
      llvm::cl::desc("fill each tensor.empty with NaN, or -1 for integers"),
      llvm::cl::init(false)};
};

void buildMoEToCPUPipeline(OpPassManager &pm, const MoEToCPUOptions &options);

/// Makes `--moe-to-cpu` and `--pass-pipeline='builtin.module(moe-to-cpu)'`
/// work.
void registerMoEToCPUPipeline();

} // namespace mlir::moe

#endif // MOE_PIPELINES_MOETOCPU_H
