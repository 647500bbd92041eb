//===- Report.cpp - what moe-run prints -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "moe/Data/ArraySummary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::run;

bool Report::agrees() const {
  return nearTies <= allowedNearTies() &&
         llvm::all_of(comparisons, [](const Comparison &comparison) {
           return comparison.agrees();
         });
}

static void printSummaries(const Report &report, llvm::raw_ostream &os) {
  os << ArraySummary::heading();
  for (auto [i, output] : llvm::enumerate(report.outputs))
    os << ArraySummary(output.kind(), output.shapeView(), output.data()).row(i);
}

static void printComparisons(const Report &report, llvm::raw_ostream &os) {
  os << llvm::format("%-7s %-20s %12s %12s %10s %10s\n", "output", "type",
                     "max abs", "relative L2", "tolerance", "mismatches");
  for (auto [i, comparison] : llvm::enumerate(report.comparisons)) {
    os << llvm::format("%-7zu %-20s ", i, describe(report.outputs[i]).c_str());
    if (comparison.problem.empty())
      os << llvm::format("%12.3g %12.3g %10.1g %10lld", comparison.maxAbs,
                         comparison.relativeL2, comparison.tolerance,
                         static_cast<long long>(comparison.mismatches));
    else
      os << comparison.problem;
    os << (comparison.agrees() ? "  agrees\n" : "  DISAGREES\n");
  }
  if (report.tokens > 0)
    os << "near ties of the routing, left out: " << report.nearTies << " of "
       << report.tokens << " tokens, at most " << report.allowedNearTies()
       << " allowed\n";
}

/// What is longer than this is printed a row per line.
static constexpr size_t kLineWidth = 160;

/// Elements `begin` to `end`, which fill dimensions `dim` and up; `lines`
/// starts a line for each row.
static void printNested(const Array &array, int64_t dim, int64_t begin,
                        int64_t end, bool lines, llvm::raw_ostream &os) {
  if (dim == array.rank()) {
    if (isFloat(array.kind()))
      os << llvm::format("%.6g", array.floatAt(begin));
    else
      os << array.intAt(begin);
    return;
  }
  int64_t extent = array.dim(dim);
  int64_t size = extent == 0 ? 0 : (end - begin) / extent;
  os << '[';
  for (int64_t i = 0; i < extent; ++i) {
    bool newLine = lines && dim + 1 < array.rank();
    if (i != 0)
      os << (newLine ? ",\n" : ", ");
    if (i != 0 && newLine)
      os.indent(dim + 1);
    printNested(array, dim + 1, begin + i * size, begin + (i + 1) * size, lines,
                os);
  }
  os << ']';
}

void run::printElements(const Report &report, llvm::raw_ostream &os) {
  for (auto [i, output] : llvm::enumerate(report.outputs)) {
    os << i << " " << describe(output) << " = ";
    std::string text;
    llvm::raw_string_ostream line(text);
    printNested(output, 0, 0, output.size(), /*lines=*/false, line);
    if (text.size() <= kLineWidth) {
      os << text << "\n";
      continue;
    }
    os << "\n";
    printNested(output, 0, 0, output.size(), /*lines=*/true, os);
    os << "\n";
  }
}

void run::printTable(const Report &report, llvm::raw_ostream &os) {
  os << "@" << report.function << " on " << report.device;
  if (!report.comparedWith.empty())
    os << ", compared with " << report.comparedWith;
  os << ", inputs " << report.inputs << "\n";
  if (report.comparedWith.empty())
    printSummaries(report, os);
  else
    printComparisons(report, os);
}

void run::printJson(const Report &report, llvm::raw_ostream &os) {
  using Json = nlohmann::ordered_json;
  auto typed = [](ElementKind kind, ArrayRef<int64_t> shape) {
    return Json{{"type", elementName(kind).str()},
                {"shape", std::vector<int64_t>(shape.begin(), shape.end())}};
  };
  Json json = {{"function", report.function},
               {"device", report.device},
               {"compared_with", report.comparedWith},
               {"inputs", report.inputs},
               {"seconds", report.seconds},
               {"arguments", Json::array()},
               {"outputs", Json::array()}};
  for (const InputPlan &argument : report.arguments) {
    Json entry = typed(argument.kind, argument.shape);
    entry["role"] = inputRoleName(argument.role).str();
    entry["bound"] = argument.bound;
    json["arguments"].push_back(std::move(entry));
  }
  for (auto [i, output] : llvm::enumerate(report.outputs)) {
    Json entry = typed(output.kind(), output.shape());
    if (i < report.comparisons.size()) {
      const Comparison &comparison = report.comparisons[i];
      entry["problem"] = comparison.problem;
      entry["max_abs"] = comparison.maxAbs;
      entry["relative_l2"] = comparison.relativeL2;
      entry["tolerance"] = comparison.tolerance;
      entry["mismatches"] = comparison.mismatches;
      entry["rows_left_out"] = comparison.rowsLeftOut;
      entry["agrees"] = comparison.agrees();
    }
    json["outputs"].push_back(std::move(entry));
  }
  json["near_tie_tokens"] = report.nearTieTokens;
  if (!report.comparedWith.empty()) {
    json["routed_tokens"] = report.tokens;
    json["near_ties"] = report.nearTies;
    json["agrees"] = report.agrees();
  }
  if (!report.counts.empty())
    json["kernels"] = report.counts.json();
  os << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}
