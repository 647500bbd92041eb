//===- moe-exec.cpp - run a compiled layer -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "moe/Data/NpyFile.h"
#include "moe/Emulator/RuntimeDevice.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::moe;
using namespace mlir::moe::exec;

static constexpr int kSuccess = 0;
static constexpr int kError = 1;
static constexpr int kOtherBits = 2;

/// Makes the folder and those above it.
static void makeFolder(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      throw Failure(part + ": " + std::strerror(errno));
    if (end == std::string::npos)
      return;
  }
}

static void writeResults(const Plan &plan,
                         const std::vector<HostBuffer> &results) {
  const std::string &folder = plan.options.outputFolder;
  makeFolder(folder);
  size_t output = 0;
  for (const ArgumentInfo &info : plan.arguments) {
    if (!info.isResult())
      continue;
    std::string problem =
        writeNpyFile(folder + "/" + std::to_string(output) + ".npy", info.kind,
                     info.view(), results[output].get());
    if (!problem.empty())
      throw Failure(problem);
    ++output;
  }
}

static bool sameBits(const Plan &plan, const std::vector<HostBuffer> &first,
                     const std::vector<HostBuffer> &second) {
  size_t output = 0;
  bool same = true;
  for (const ArgumentInfo &info : plan.arguments) {
    if (!info.isResult())
      continue;
    auto bytes =
        static_cast<size_t>(info.view().size() * elementBytes(info.kind));
    same &= std::memcmp(first[output].get(), second[output].get(), bytes) == 0;
    ++output;
  }
  return same;
}

static int runLayer(Plan &plan) {
  emulator::KernelCounts counts;
  emulator::DeviceOptions emulated;
  emulated.seed = plan.options.emulatorSeed;
  emulated.finished = [&](const std::string &kernel,
                          const emulator::Report &launch) {
    counts.add(kernel, launch);
  };
  emulator::addEmulatorDevice(emulated);
  Session session(plan);
  Report report{plan, session.device(), session.code(), {}, {}, {}, {}};
  std::vector<HostBuffer> results = session.run();
  report.counts = counts;
  size_t output = 0;
  for (const ArgumentInfo &info : plan.arguments)
    if (info.isResult())
      report.results.emplace_back(info.kind, info.view(),
                                  results[output++].get());
  if (plan.options.checkTwice)
    report.repeatable = sameBits(plan, results, session.run());
  if (plan.options.repeats > 0)
    report.timing = session.time(plan.options.repeats);
  if (!plan.options.outputFolder.empty())
    writeResults(plan, results);
  if (plan.options.json)
    printJson(report);
  else
    printTable(report);
  return report.repeatable.value_or(true) ? kSuccess : kOtherBits;
}

static int runTool(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  if (options.version) {
    std::puts("MoE compiler " MOE_VERSION " (runtime)");
    return kSuccess;
  }
  if (options.help) {
    printHelp();
    return kSuccess;
  }
  Plan plan(options);
  bool solve = !options.list || options.tokens >= 0 ||
               !options.inputFolder.empty() || !options.inputFiles.empty();
  if (solve)
    plan.solve();
  if (!options.list)
    return runLayer(plan);
  printList(plan, solve);
  return kSuccess;
}

int main(int argc, char **argv) {
  std::string problem;
  try {
    return runTool(argc, argv);
  } catch (const std::bad_alloc &) {
    problem = "there is no host memory left";
  } catch (const std::exception &error) {
    problem = error.what();
  }
  bool color = isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "moe-exec: %serror:%s %s\n", color ? "\033[1;31m" : "",
               color ? "\033[0m" : "", problem.c_str());
  return kError;
}
