//===- Summary.cpp - what moe-compile says when it is done ------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Summary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/WithColor.h"

#include <functional>

using namespace mlir;
using namespace mlir::moe;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates expressions of a manifest where only T is known.
struct Evaluator {
  const Json &tokens;
  int64_t number;

  std::optional<int64_t> operator()(const Json &expression) const;
};
} // namespace

std::optional<int64_t> Evaluator::operator()(const Json &expression) const {
  if (expression.is_number_integer())
    return expression.get<int64_t>();
  if (expression == tokens)
    return number;
  std::string op = expression[0];
  if (op == "dim")
    return std::nullopt;
  std::optional<int64_t> a = (*this)(expression[1]), b = (*this)(expression[2]);
  if (!a || !b)
    return std::nullopt;
  int64_t result = 0;
  bool overflow = op == "add"   ? llvm::AddOverflow(*a, *b, result)
                  : op == "mul" ? llvm::MulOverflow(*a, *b, result)
                                : false;
  if (overflow)
    return std::nullopt;
  bool divides = op == "floordiv" || op == "ceildiv" || op == "mod";
  if (divides && *b <= 0)
    return std::nullopt;
  if (op == "floordiv")
    result = llvm::divideFloorSigned(*a, *b);
  else if (op == "ceildiv")
    result = llvm::divideCeilSigned(*a, *b);
  else if (op == "mod")
    result = llvm::mod(*a, *b);
  else if (op == "max")
    result = std::max(*a, *b);
  else if (op == "min")
    result = std::min(*a, *b);
  return result;
}

static int64_t elementBytes(llvm::StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"i64", "f64"}, 8)
      .Cases({"bf16", "f16", "i16"}, 2)
      .Cases({"i8", "i1"}, 1)
      .Default(4);
}

std::optional<uint64_t>
moe::workspaceBytes(const Json &manifest, const Json &variant, int64_t tokens) {
  constexpr uint64_t kAlignment = 256;
  Evaluator evaluate{manifest["tokens"], tokens};
  int64_t total = 0;
  for (const Json &buffer : variant["workspace"]) {
    int64_t bytes = elementBytes(buffer["type"].get<std::string>());
    for (const Json &extent : buffer["shape"]) {
      std::optional<int64_t> number = evaluate(extent);
      if (!number || *number < 0 || llvm::MulOverflow(bytes, *number, bytes))
        return std::nullopt;
    }
    total = llvm::alignTo(total, kAlignment);
    if (llvm::AddOverflow(total, bytes, total))
      return std::nullopt;
  }
  return total;
}

/// The number of tokens that the workspace of a variant is told for: its upper
/// end, or the lower where there is none.
static int64_t tokensToTell(const Json &variant) {
  const Json &range = variant["tokens"];
  return range[1].is_null() ? std::max<int64_t>(range[0].get<int64_t>(), 1)
                            : range[1].get<int64_t>();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string bytesText(std::optional<uint64_t> bytes) {
  if (!bytes)
    return "?";
  double value = static_cast<double>(*bytes);
  for (const char *unit : {"B", "KiB", "MiB"}) {
    if (value < 1024)
      return llvm::formatv(unit[1] ? "{0:F1} {1}" : "{0:F0} {1}", value, unit);
    value /= 1024;
  }
  return llvm::formatv("{0:F1} GiB", value);
}

static std::string rangeText(const Json &range) {
  if (!range[1].is_null())
    return llvm::formatv("{0} to {1}", range[0].get<int64_t>(),
                         range[1].get<int64_t>());
  return range[0] == 0
             ? "any number"
             : llvm::formatv("{0} and more", range[0].get<int64_t>()).str();
}

/// "wgmma, tile = [128, 128, 64], stages = 4" out of the attribute's text.
static std::string scheduleText(const Json &kernel) {
  if (!kernel.contains("schedule"))
    return "";
  llvm::StringRef text = kernel["schedule"].get_ref<const std::string &>();
  text.consume_front("#moe.schedule<mma = ");
  text.consume_back(">");
  return text.str();
}

/// Prints rows in columns as wide as they need; numbers to the right.
static void printTable(const std::vector<std::vector<std::string>> &rows,
                       unsigned leftColumns, llvm::raw_ostream &os) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (auto [width, cell] : llvm::zip(widths, row))
      width = std::max(width, cell.size());
  for (const auto &row : rows) {
    std::string line = " ";
    for (auto [i, cell] : llvm::enumerate(row)) {
      std::string space(widths[i] - cell.size(), ' ');
      bool left = i < leftColumns || i + 1 == row.size();
      line += " " + (left ? cell + space : space + cell) + " ";
    }
    os << llvm::StringRef(line).rtrim() << "\n";
  }
}

/// The schedules of a variant's GEMMs, each kind once.
static std::string schedulesOf(const Json &manifest, const Json &variant) {
  std::vector<std::string> texts;
  for (const Json &launch : variant["launches"])
    for (const Json &kernel : manifest["kernels"])
      if (kernel["name"] == launch["kernel"])
        if (std::string text = scheduleText(kernel);
            !text.empty() && !llvm::is_contained(texts, text))
          texts.push_back(text);
  return llvm::join(texts, "; ");
}

KernelUse Summary::useOf(const std::string &kernel) const {
  if (!ptxas)
    return {};
  auto found = ptxas->kernels.find(kernel);
  return found == ptxas->kernels.end() ? KernelUse() : found->second;
}

void Summary::print(llvm::raw_ostream &os) const {
  const Json &variants = manifest["variants"], &kernels = manifest["kernels"];
  auto plural = [](size_t n, const char *what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  llvm::WithColor(os, llvm::HighlightColor::String) << folder;
  os << ": @" << manifest["function"].get_ref<const std::string &>() << " for "
     << manifest["arch"].get_ref<const std::string &>() << ", "
     << plural(variants.size(), "variant") << ", "
     << plural(kernels.size(), "kernel") << ", "
     << (ptxas ? "cubin by ptxas " + ptxas->version : "no cubin") << "; "
     << llvm::formatv("{0:F2} s", compileSeconds);
  if (ptxas)
    os << llvm::formatv(" and {0:F2} s of ptxas", ptxasSeconds);
  os << "\n\n";

  std::vector<std::vector<std::string>> rows = {
      {"tokens", "launches", "workspace", "", "schedule of the GEMMs"}};
  for (const Json &variant : variants) {
    int64_t tokens = tokensToTell(variant);
    bool fixed = manifest["tokens"].is_null();
    rows.push_back({fixed ? "fixed" : rangeText(variant["tokens"]),
                    std::to_string(variant["launches"].size()),
                    bytesText(workspaceBytes(manifest, variant, tokens)),
                    fixed ? "" : "at " + std::to_string(tokens),
                    schedulesOf(manifest, variant)});
  }
  printTable(rows, 1, os);
  os << "\n";

  rows = {{"kernel", "threads", "shared", "schedule"}};
  if (ptxas)
    rows.front().insert(rows.front().begin() + 2, {"registers", "spilled"});
  for (const Json &kernel : kernels) {
    std::string name = kernel["name"];
    KernelUse use = useOf(name);
    int64_t shared = kernel["shared"].get<int64_t>() + use.staticShared;
    std::vector<std::string> row = {
        name, std::to_string(kernel["threads"].get<int64_t>()),
        std::to_string(shared), scheduleText(kernel)};
    if (ptxas)
      row.insert(row.begin() + 2, {std::to_string(use.registers),
                                   std::to_string(use.spillBytes)});
    rows.push_back(row);
  }
  printTable(rows, 1, os);
  for (const std::string &text : warnings)
    llvm::WithColor::warning(os) << text << "\n";
}

void Summary::printJson(llvm::raw_ostream &os) const {
  Json report = {
      {"bundle", folder},          {"function", manifest["function"]},
      {"arch", manifest["arch"]},  {"compiler", manifest["compiler"]},
      {"seconds", compileSeconds}, {"ptxas_seconds", ptxasSeconds},
      {"variants", Json::array()}, {"kernels", Json::array()},
      {"warnings", warnings}};
  for (const Json &variant : manifest["variants"]) {
    int64_t tokens = tokensToTell(variant);
    std::optional<uint64_t> bytes = workspaceBytes(manifest, variant, tokens);
    report["variants"].push_back(
        {{"tokens", variant["tokens"]},
         {"launches", variant["launches"].size()},
         {"workspace_tokens", tokens},
         {"workspace_bytes", bytes ? Json(*bytes) : Json()},
         {"schedules", schedulesOf(manifest, variant)}});
  }
  for (Json kernel : manifest["kernels"]) {
    if (ptxas) {
      KernelUse use = useOf(kernel["name"]);
      kernel["registers"] = use.registers;
      kernel["static_shared"] = use.staticShared;
      kernel["stack_bytes"] = use.stackBytes;
      kernel["spill_bytes"] = use.spillBytes;
    }
    report["kernels"].push_back(kernel);
  }
  os << report.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}
