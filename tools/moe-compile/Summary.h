//===- Summary.h - what moe-compile says when it is done --------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_COMPILE_SUMMARY_H
#define MOE_TOOLS_MOE_COMPILE_SUMMARY_H

#include "Ptxas.h"

#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace mlir::moe {

/// Everything there is to say of a finished bundle.
struct Summary {
  std::string folder;
  nlohmann::ordered_json manifest;
  std::optional<PtxasReport> ptxas;
  std::vector<std::string> warnings;
  double compileSeconds = 0, ptxasSeconds = 0;

  /// A table of variants and one of kernels, warnings last.
  void print(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  KernelUse useOf(const std::string &kernel) const;
};

/// The bytes of workspace of a variant at T = `tokens`; nothing where another
/// free extent has a say too.
std::optional<uint64_t> workspaceBytes(const nlohmann::ordered_json &manifest,
                                       const nlohmann::ordered_json &variant,
                                       int64_t tokens);

} // namespace mlir::moe

#endif // MOE_TOOLS_MOE_COMPILE_SUMMARY_H
