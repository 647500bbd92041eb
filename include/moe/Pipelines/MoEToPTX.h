//===- MoEToPTX.h - the lowering from moe on tensors to PTX -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PIPELINES_MOETOPTX_H
#define MOE_PIPELINES_MOETOPTX_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace mlir::moe {

/// Options of the pipelines `moe-to-cta`, `moe-to-nvvm` and `moe-to-ptx`.
struct MoEToPTXOptions : public PassPipelineOptions<MoEToPTXOptions> {
  PassOptions::Option<std::string> arch{
      *this, "arch",
      llvm::cl::desc("chip to compile for: sm_80, sm_89, sm_90 or sm_90a"),
      llvm::cl::init("sm_90a")};
  PassOptions::Option<int64_t> tokens{
      *this, "tokens",
      llvm::cl::desc("number of tokens the schedules are chosen for; any "
                     "number stays valid"),
      llvm::cl::init(512)};
  PassOptions::Option<bool> automaticTokenRanges{
      *this, "automatic-token-ranges",
      llvm::cl::desc("a variant for each range of numbers of tokens that the "
                     "cost model finds, in functions without "
                     "moe.token_ranges"),
      llvm::cl::init(false)};
};

/// moe on tensors or memrefs -> host function with launches and one gpu.module
/// whose kernels hold cta ops.
void buildMoEToCTAPipeline(OpPassManager &pm, const MoEToPTXOptions &options);

/// The same, down to nvvm and llvm ops in the gpu.module.
void buildMoEToNVVMPipeline(OpPassManager &pm, const MoEToPTXOptions &options);

/// The same, down to a gpu.binary that holds the PTX.
void buildMoEToPTXPipeline(OpPassManager &pm, const MoEToPTXOptions &options);

/// Registers the three under their names.
void registerMoEToPTXPipelines();

} // namespace mlir::moe

#endif // MOE_PIPELINES_MOETOPTX_H
