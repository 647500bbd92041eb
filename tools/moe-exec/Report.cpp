//===- Report.cpp - what moe-exec prints -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace mlir::moe;
using namespace mlir::moe::exec;
using Json = nlohmann::ordered_json;

/// "1 to 16 tokens".
static std::string rangeOf(const moe_variant &variant) {
  std::string from = std::to_string(variant.min_tokens);
  if (variant.max_tokens < 0)
    return variant.min_tokens == 0 ? "any number of tokens"
                                   : from + " tokens and more";
  return from + " to " + std::to_string(variant.max_tokens) + " tokens";
}

/// "4x?xbf16" while an extent is open.
static std::string typeOf(const ArgumentInfo &info) {
  std::string text;
  for (int64_t extent : info.shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text.append(elementKindName(info.kind));
}

static moe_kernel kernelOf(const Plan &plan, size_t index) {
  moe_kernel kernel;
  check(moe_bundle_kernel(plan.bundle, index, &kernel));
  return kernel;
}

/// The kernel numbers of the launches of a variant.
static std::vector<size_t> launchesOf(const Plan &plan, size_t index) {
  moe_variant variant;
  check(moe_bundle_variant(plan.bundle, index, &variant));
  std::vector<size_t> kernels(variant.num_launches);
  for (size_t i = 0; i < kernels.size(); ++i)
    check(moe_bundle_launch(plan.bundle, index, i, &kernels[i]));
  return kernels;
}

//===----------------------------------------------------------------------===//
// The bundle
//===----------------------------------------------------------------------===//

static void listArguments(const Plan &plan) {
  std::printf("argument  type                     alignment\n");
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const ArgumentInfo &info = plan.arguments[i];
    std::string notes = info.isResult()  ? "result"
                        : info.isWritten ? "written in place"
                                         : "";
    if (info.isStrided()) {
      notes += notes.empty() ? "strides" : ", strides";
      for (size_t j = 0; j < info.shape.size(); ++j)
        notes += " " + std::to_string(info.argument.strides[j]);
    }
    std::printf("%-9zu %-24s %9u%s%s\n", i, typeOf(info).c_str(),
                info.argument.alignment, notes.empty() ? "" : "  ",
                notes.c_str());
  }
}

static void listVariants(const Plan &plan) {
  for (size_t i = 0; i < moe_bundle_num_variants(plan.bundle); ++i) {
    moe_variant variant;
    check(moe_bundle_variant(plan.bundle, i, &variant));
    std::printf("\nvariant %zu, %s: %zu launches, %zu tensor maps, %zu "
                "workspace buffers\n",
                i, rangeOf(variant).c_str(), variant.num_launches,
                variant.num_tensor_maps, variant.num_workspace_buffers);
    std::printf("  %-40s %8s %8s  %s\n", "kernel", "threads", "shared",
                "schedule");
    for (size_t number : launchesOf(plan, i)) {
      moe_kernel kernel = kernelOf(plan, number);
      std::printf("  %-40s %8u %8u%s%s\n", kernel.name, kernel.threads,
                  kernel.shared_bytes, *kernel.schedule ? "  " : "",
                  kernel.schedule);
    }
  }
}

static Json listJson(const Plan &plan, bool solved) {
  Json json = {{"function", moe_bundle_function(plan.bundle)},
               {"arch", moe_bundle_arch(plan.bundle)},
               {"arguments", Json::array()},
               {"variants", Json::array()}};
  for (const ArgumentInfo &info : plan.arguments)
    json["arguments"].push_back({{"type", elementKindName(info.kind)},
                                 {"shape", info.shape},
                                 {"alignment", info.argument.alignment},
                                 {"result", info.isResult()},
                                 {"written", info.isWritten}});
  for (size_t i = 0; i < moe_bundle_num_variants(plan.bundle); ++i) {
    moe_variant variant;
    check(moe_bundle_variant(plan.bundle, i, &variant));
    Json launches = Json::array();
    for (size_t number : launchesOf(plan, i)) {
      moe_kernel kernel = kernelOf(plan, number);
      launches.push_back({{"kernel", kernel.name},
                          {"threads", kernel.threads},
                          {"shared", kernel.shared_bytes},
                          {"schedule", kernel.schedule}});
    }
    json["variants"].push_back({{"min_tokens", variant.min_tokens},
                                {"max_tokens", variant.max_tokens},
                                {"tensor_maps", variant.num_tensor_maps},
                                {"launches", launches}});
  }
  if (solved) {
    size_t index;
    plan.variant(index);
    json["variant"] = index;
    json["workspace_bytes"] = plan.workspaceBytes();
  }
  return json;
}

static void printJsonText(const Json &json) {
  // Names of files and devices may be any bytes.
  std::printf("%s\n",
              json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void mlir::moe::exec::printList(const Plan &plan, bool solved) {
  if (plan.options.json)
    return printJsonText(listJson(plan, solved));
  std::printf("@%s for %s: %zu kernels, %zu variants\n\n",
              moe_bundle_function(plan.bundle), moe_bundle_arch(plan.bundle),
              moe_bundle_num_kernels(plan.bundle),
              moe_bundle_num_variants(plan.bundle));
  listArguments(plan);
  listVariants(plan);
  if (!solved)
    return;
  size_t index;
  plan.variant(index);
  std::printf("\nthis call takes variant %zu with %" PRIu64
              " bytes of workspace\n",
              index, plan.workspaceBytes());
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

void mlir::moe::exec::printTable(const Report &report) {
  const Plan &plan = report.plan;
  size_t index;
  moe_variant variant = plan.variant(index);
  std::printf("@%s on %s, inputs %s\n", moe_bundle_function(plan.bundle),
              report.device.c_str(), plan.options.inputs().c_str());
  std::printf("variant %zu, %s: %zu launches, %" PRIu64
              " bytes of workspace, code from kernels.%s\n",
              index, rangeOf(variant).c_str(), variant.num_launches,
              plan.workspaceBytes(), report.code.c_str());
  std::printf("%s", ArraySummary::heading().c_str());
  for (size_t i = 0; i < report.results.size(); ++i)
    std::printf("%s", report.results[i].row(i).c_str());
  if (report.repeatable)
    std::printf("a second run gave %s\n",
                *report.repeatable ? "the same bits" : "OTHER BITS");
  if (report.timing)
    std::printf("per call, over %" PRIu32
                " calls: %.2f us on the device, %.2f us on the host to "
                "launch\n",
                plan.options.repeats, report.timing->device,
                report.timing->host);
  if (plan.options.counts)
    std::printf("%s", report.counts.table().c_str());
}

void mlir::moe::exec::printJson(const Report &report) {
  const Plan &plan = report.plan;
  size_t index;
  plan.variant(index);
  Json json = {{"function", moe_bundle_function(plan.bundle)},
               {"arch", moe_bundle_arch(plan.bundle)},
               {"device", report.device},
               {"code", report.code},
               {"inputs", plan.options.inputs()},
               {"variant", index},
               {"launches", Json::array()},
               {"workspace_bytes", plan.workspaceBytes()},
               {"arguments", Json::array()},
               {"outputs", Json::array()}};
  for (size_t number : launchesOf(plan, index))
    json["launches"].push_back(kernelOf(plan, number).name);
  size_t output = 0;
  for (const ArgumentInfo &info : plan.arguments) {
    Json entry = {{"type", elementKindName(info.kind)}, {"shape", info.shape}};
    if (!info.isResult()) {
      entry["role"] = info.source;
      entry["bound"] = info.bound;
      json["arguments"].push_back(std::move(entry));
      continue;
    }
    const ArraySummary &summary = report.results[output++];
    entry["smallest"] = summary.smallest;
    entry["largest"] = summary.largest;
    entry["mean"] = summary.mean;
    entry["nan"] = summary.nans;
    json["outputs"].push_back(std::move(entry));
  }
  if (!report.counts.empty())
    json["kernels"] = report.counts.json();
  if (report.repeatable)
    json["repeatable"] = *report.repeatable;
  if (report.timing)
    json["time_us"] = {{"calls", plan.options.repeats},
                       {"device", report.timing->device},
                       {"host", report.timing->host}};
  printJsonText(json);
}
