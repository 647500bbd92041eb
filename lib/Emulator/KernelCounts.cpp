//===- KernelCounts.cpp - what kernels counted, as text and JSON -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/KernelCounts.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace mlir::moe::emulator;
using Json = nlohmann::ordered_json;

Json mlir::moe::emulator::toJson(const Counts &counts) {
  Json classes = Json::object();
  for (auto &[name, count] : counts.byClass)
    classes[name] = count;
  return {{"warp_instructions", counts.warpInstructions},
          {"thread_instructions", counts.threadInstructions},
          {"classes", classes},
          {"global_bytes_read", counts.globalBytesRead},
          {"global_bytes_written", counts.globalBytesWritten},
          {"shared_bytes_read", counts.sharedBytesRead},
          {"shared_bytes_written", counts.sharedBytesWritten},
          {"sectors", counts.sectors},
          {"bank_conflicts", counts.bankConflicts},
          {"matrix_multiply_adds", counts.matrixMultiplyAdds},
          {"barrier_waits", counts.barrierWaits}};
}

/// `Counts::add` is for the blocks of one launch, whose instructions are
/// counted elsewhere.
static void addLaunch(Counts &sum, const Counts &counts) {
  uint64_t warps = sum.warpInstructions + counts.warpInstructions;
  uint64_t threads = sum.threadInstructions + counts.threadInstructions;
  auto byClass = sum.byClass;
  for (const auto &one : counts.byClass) {
    auto known =
        std::find_if(byClass.begin(), byClass.end(), [&](const auto &other) {
          return other.first == one.first;
        });
    if (known == byClass.end())
      byClass.push_back(one);
    else
      known->second += one.second;
  }
  sum.add(counts);
  sum.warpInstructions = warps;
  sum.threadInstructions = threads;
  sum.byClass = std::move(byClass);
}

KernelCounts::Kernel &KernelCounts::find(const std::string &name) {
  for (Kernel &kernel : kernels)
    if (kernel.name == name)
      return kernel;
  kernels.emplace_back();
  kernels.back().name = name;
  return kernels.back();
}

void KernelCounts::add(const std::string &kernel, const Report &report) {
  Kernel &sum = find(kernel);
  ++sum.launches;
  sum.seconds += report.seconds;
  addLaunch(sum.counts, report.counts);
}

static std::string row(const std::string &name, uint64_t launches,
                       const Counts &counts) {
  char numbers[160];
  std::snprintf(numbers, sizeof(numbers),
                " %8" PRIu64 " %14" PRIu64 " %14" PRIu64 " %12" PRIu64
                " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                launches, counts.threadInstructions, counts.matrixMultiplyAdds,
                counts.globalBytesRead, counts.globalBytesWritten,
                counts.bankConflicts, counts.barrierWaits);
  return name + std::string(name.size() < 36 ? 36 - name.size() : 0, ' ') +
         numbers;
}

std::string KernelCounts::table() const {
  char heading[200];
  std::snprintf(heading, sizeof(heading),
                "%-36s %8s %14s %14s %12s %12s %10s %10s\n", "kernel",
                "launches", "instructions", "multiply-adds", "bytes read",
                "written", "conflicts", "waits");
  std::string text = heading;
  uint64_t launches = 0;
  Counts all;
  for (const Kernel &kernel : kernels) {
    text += row(kernel.name, kernel.launches, kernel.counts);
    launches += kernel.launches;
    addLaunch(all, kernel.counts);
  }
  return kernels.size() > 1 ? text + row("all", launches, all) : text;
}

Json KernelCounts::json() const {
  Json json = Json::array();
  for (const Kernel &kernel : kernels) {
    Json entry = {{"kernel", kernel.name},
                  {"launches", kernel.launches},
                  {"seconds", kernel.seconds}};
    entry.update(toJson(kernel.counts));
    json.push_back(std::move(entry));
  }
  return json;
}
