//===- ArraySummary.cpp - what an array holds, in four numbers -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Data/ArraySummary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace mlir::moe;

ArraySummary::ArraySummary(ElementKind kind, ShapeView shape, const void *data)
    : description(describeArray(kind, shape)) {
  int64_t counted = 0;
  for (int64_t i = 0, e = shape.size(); i < e; ++i) {
    double value = loadFloat(kind, data, i);
    if (std::isnan(value)) {
      ++nans;
      continue;
    }
    smallest = counted == 0 ? value : std::min(smallest, value);
    largest = counted == 0 ? value : std::max(largest, value);
    mean += value;
    ++counted;
  }
  if (counted > 0)
    mean /= static_cast<double>(counted);
}

std::string ArraySummary::heading() {
  char line[128];
  std::snprintf(line, sizeof(line), "%-7s %-20s %12s %12s %12s %8s\n", "output",
                "type", "smallest", "largest", "mean", "NaN");
  return line;
}

std::string ArraySummary::row(size_t output) const {
  char line[512];
  std::snprintf(line, sizeof(line), "%-7zu %-20s %12.5g %12.5g %12.5g %8lld\n",
                output, description.c_str(), smallest, largest, mean,
                static_cast<long long>(nans));
  return line;
}
