//===- Ptxas.h - the assembler of the CUDA toolkit --------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_COMPILE_PTXAS_H
#define MOE_TOOLS_MOE_COMPILE_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace mlir::moe {

/// What ptxas says of one kernel; bytes are bytes.
struct KernelUse {
  int64_t registers = 0, staticShared = 0;
  int64_t stackBytes = 0, spillBytes = 0; // stores and loads together
};

struct PtxasReport {
  std::string version; // "13.0.88"
  /// By the kernel's name.
  std::map<std::string, KernelUse> kernels;
  /// Sentences about what makes a kernel slow, each with its kernel's name.
  std::vector<std::string> warnings;
};

/// The path of ptxas: in CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda; empty
/// where there is none.
std::string findPtxas();

/// Assembles `ptx` to `cubin` for `arch`. An error holds what ptxas printed.
llvm::Expected<PtxasReport> runPtxas(llvm::StringRef ptxas,
                                     llvm::StringRef arch, llvm::StringRef ptx,
                                     llvm::StringRef cubin);

} // namespace mlir::moe

#endif // MOE_TOOLS_MOE_COMPILE_PTXAS_H
