//===- Report.h - what moe-run prints -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_RUN_REPORT_H
#define MOE_TOOLS_MOE_RUN_REPORT_H

#include "moe/Emulator/KernelCounts.h"
#include "moe/Execution/Compare.h"
#include "moe/Execution/InputPlan.h"

#include "llvm/Support/raw_ostream.h"

namespace mlir::moe::run {

/// Everything about one run that is worth telling.
struct Report {
  std::string function;
  std::string device;
  /// Empty where nothing was compared.
  std::string comparedWith;
  /// Where the inputs came from: a folder or "seed:N".
  std::string inputs;
  std::vector<InputPlan> arguments;
  /// Per device, in the order in which they ran.
  std::vector<double> seconds;
  std::vector<Array> outputs;
  /// One per output, if compared.
  std::vector<Comparison> comparisons;
  /// Empty where nothing ran on the emulator.
  emulator::KernelCounts counts;
  /// Tokens of the routing, and how many of them were near ties.
  int64_t tokens = 0;
  int64_t nearTies = 0;
  /// The tokens that the reference found to be near ties.
  std::vector<int64_t> nearTieTokens;

  /// At most this many near ties may be left out: 1 %, rounded up.
  int64_t allowedNearTies() const { return (tokens + 99) / 100; }
  bool agrees() const;
};

/// Prints the elements of every output, nested like their shape.
void printElements(const Report &report, llvm::raw_ostream &os);
void printTable(const Report &report, llvm::raw_ostream &os);
void printJson(const Report &report, llvm::raw_ostream &os);

} // namespace mlir::moe::run

#endif // MOE_TOOLS_MOE_RUN_REPORT_H
