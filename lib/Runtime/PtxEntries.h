//===- PtxEntries.h - the kernels of a PTX text -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Just enough of PTX to check a manifest against it: the driver takes the
// parameters of a launch from memory by the kernel's declaration, so that a
// manifest with fewer or smaller ones would have it read past them.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_PTXENTRIES_H
#define MOE_LIB_RUNTIME_PTXENTRIES_H

#include <map>
#include <string>
#include <vector>

namespace mlir::moe::runtime {

/// One kernel: the bytes of its parameters, in order.
struct PtxEntry {
  std::vector<uint64_t> parameterBytes;
};

struct PtxSummary {
  /// As in `.target sm_90a`; empty where there is none.
  std::string target;
  std::map<std::string, PtxEntry> entries;
};

/// Reads the declarations. Fails for a parameter list that it cannot read.
PtxSummary summarizePtx(const std::string &ptx);

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_PTXENTRIES_H
