//===- KernelCounts.h - what kernels counted, as text and JSON -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_KERNELCOUNTS_H
#define MOE_EMULATOR_KERNELCOUNTS_H

#include "moe/Emulator/Report.h"

#include <nlohmann/json_fwd.hpp>

namespace mlir::moe::emulator {

/// All fields, "classes" by name.
nlohmann::ordered_json toJson(const Counts &counts);

/// What launches counted, summed for each kernel, in the order in which kernels
/// ran first.
class KernelCounts {
public:
  void add(const std::string &kernel, const Report &report);
  bool empty() const { return kernels.empty(); }

  /// A heading and a line for each kernel, and one for all where there are
  /// several.
  std::string table() const;
  /// An array with an object for each kernel: "kernel", "launches", "seconds",
  /// and the fields of its counts.
  nlohmann::ordered_json json() const;

private:
  struct Kernel {
    std::string name;
    uint64_t launches = 0;
    double seconds = 0;
    Counts counts;
  };
  Kernel &find(const std::string &name);

  std::vector<Kernel> kernels;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_KERNELCOUNTS_H
