//===- ArraySummary.h - what an array holds, in four numbers -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DATA_ARRAYSUMMARY_H
#define MOE_DATA_ARRAYSUMMARY_H

#include "moe/Data/Elements.h"

namespace mlir::moe {

/// For those who look at a result without a comparison.
struct ArraySummary {
  /// Over the elements that are no NaN; 0 where there are none.
  double smallest = 0, largest = 0, mean = 0;
  int64_t nans = 0;

  ArraySummary(ElementKind kind, ShapeView shape, const void *data);

  /// A line of the table of outputs, below its heading.
  static std::string heading();
  std::string row(size_t output) const;

private:
  std::string description;
};

} // namespace mlir::moe

#endif // MOE_DATA_ARRAYSUMMARY_H
