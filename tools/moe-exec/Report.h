//===- Report.h - what moe-exec prints -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_EXEC_REPORT_H
#define MOE_TOOLS_MOE_EXEC_REPORT_H

#include "Session.h"
#include "moe/Data/ArraySummary.h"
#include "moe/Emulator/KernelCounts.h"

#include <optional>

namespace mlir::moe::exec {

/// Everything about one run that is worth telling.
struct Report {
  const Plan &plan;
  std::string device;
  std::string code;
  std::vector<ArraySummary> results;
  /// Whether a second run gave the same bits, if there was one.
  std::optional<bool> repeatable;
  std::optional<moe_timing> timing;
  /// Of the first call; empty where the device counts nothing.
  emulator::KernelCounts counts;
};

/// What the bundle holds; the workspace where the extents are `solved`.
void printList(const Plan &plan, bool solved);
void printTable(const Report &report);
void printJson(const Report &report);

} // namespace mlir::moe::exec

#endif // MOE_TOOLS_MOE_EXEC_REPORT_H
