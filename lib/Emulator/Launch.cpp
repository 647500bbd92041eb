//===- Launch.cpp - a grid over the machine's processors -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessChecks.h"
#include "Block.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

using namespace mlir::moe::emulator;

/// What every GPU allows.
static constexpr uint64_t kMaxThreads = 1024;
static constexpr uint64_t kMaxShared = 232448;
static constexpr uint64_t kMaxCluster = 16;

void Launch::setParameter(size_t index, const void *value, size_t bytes) {
  const EntryInfo &info = module->entry(entry);
  if (index >= info.parameters.size())
    throw Error(
        0, "entry " + entry + " has " + std::to_string(info.parameters.size()) +
               " parameters, but number " + std::to_string(index) + " is set");
  const Parameter &parameter = info.parameters[index];
  if (parameter.bytes != bytes)
    throw Error(0, "parameter " + std::to_string(index) + " of entry " + entry +
                       " has " + std::to_string(parameter.bytes) +
                       " bytes, but gets " + std::to_string(bytes));
  parameters.resize(info.parameterBytes);
  std::memcpy(parameters.data() + parameter.offset, value, bytes);
}

static uint64_t volume(const uint32_t extents[3]) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

static std::string text(const uint32_t extents[3]) {
  return std::to_string(extents[0]) + "x" + std::to_string(extents[1]) + "x" +
         std::to_string(extents[2]);
}

static void checkBlock(const Launch &launch, const Program &program) {
  uint64_t threads = volume(launch.block);
  if (threads == 0 || threads > kMaxThreads || launch.block[0] > kMaxThreads)
    throw Error(0, "a block of " + text(launch.block) +
                       " threads: 1 to 1024 are possible");
  const uint32_t *required = program.requiredBlock;
  if (required[0] != 0 && !std::equal(required, required + 3, launch.block))
    throw Error(0, "entry " + program.entry + " needs blocks of " +
                       text(required) + " threads, but the launch has " +
                       text(launch.block));
  if (program.maximalThreads != 0 && threads > program.maximalThreads)
    throw Error(0, "entry " + program.entry + " takes at most " +
                       std::to_string(program.maximalThreads) +
                       " threads a block, but the launch has " +
                       std::to_string(threads));
}

static void checkShared(const Launch &launch, const Program &program) {
  uint64_t bytes = uint64_t(launch.sharedBytes) + program.shared.dynamicOffset -
                   kSharedStart;
  if (bytes > kMaxShared)
    throw Error(0, "entry " + program.entry + " needs " +
                       std::to_string(bytes) +
                       " bytes of shared memory per block; 232448 is the most "
                       "that a GPU of this kind has");
}

/// The extents of a cluster, checked against the entry and the grid.
static void chooseCluster(const Launch &launch, const Program &program,
                          uint32_t extents[3]) {
  bool given = launch.cluster[0] != 0;
  std::copy(given ? launch.cluster : program.cluster,
            (given ? launch.cluster : program.cluster) + 3, extents);
  for (int i = 0; i < 3; ++i)
    extents[i] = std::max(extents[i], 1u);
  if (given && program.cluster[0] != 0 &&
      !std::equal(extents, extents + 3, program.cluster))
    throw Error(0, "entry " + program.entry + " needs clusters of " +
                       text(program.cluster) + " blocks, but the launch has " +
                       text(extents));
  if (volume(extents) > kMaxCluster)
    throw Error(0, "a cluster of " + text(extents) + " blocks: at most 16");
  for (int i = 0; i < 3; ++i)
    if (launch.grid[i] % extents[i] != 0)
      throw Error(0, "a grid of " + text(launch.grid) +
                         " blocks is no multiple of clusters of " +
                         text(extents));
}

namespace {
/// 64-byte aligned bytes.
class AlignedBytes {
public:
  AlignedBytes(const uint8_t *source, size_t bytes) : storage(bytes + 64) {
    uint64_t begin = reinterpret_cast<uint64_t>(storage.data());
    data = storage.data() + (64 - begin % 64) % 64;
    if (source)
      std::copy(source, source + bytes, data);
  }
  uint8_t *data;

private:
  std::vector<uint8_t> storage;
};
} // namespace

static void collect(const Grid &grid,
                    const std::vector<std::unique_ptr<Cluster>> &clusters,
                    Report &report) {
  const Program &program = grid.program;
  std::vector<uint64_t> byClass(kClasses);
  for (const auto &cluster : clusters) {
    report.counts.add(cluster->counts);
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      auto [warps, threads] = cluster->executed[i];
      report.counts.warpInstructions += warps;
      report.counts.threadInstructions += threads;
      byClass[size_t(program.instructions[i].kind)] += threads;
    }
  }
  static constexpr const char *kNames[kClasses] = {
      "integer", "float", "convert", "move",    "control", "memory",
      "atomic",  "async", "shuffle", "barrier", "matrix",  "other"};
  for (size_t i = 0; i < kClasses; ++i)
    if (byClass[i] != 0)
      report.counts.byClass.emplace_back(kNames[i], byClass[i]);
}

static void runClusters(const Grid &grid, Report &report) {
  uint64_t count = volume(grid.launch.grid) / volume(grid.clusterExtents);
  unsigned threads = grid.launch.threads ? grid.launch.threads
                                         : std::thread::hardware_concurrency();
  threads = static_cast<unsigned>(
      std::min<uint64_t>(std::max(threads, 1u), std::max<uint64_t>(count, 1)));
  std::vector<std::unique_ptr<Cluster>> runners;
  for (unsigned i = 0; i < threads; ++i)
    runners.push_back(std::make_unique<Cluster>(grid));
  std::atomic<uint64_t> next{0};
  auto work = [&](Cluster &runner) {
    for (uint64_t i = next++; i < count && !grid.hazards.full(); i = next++)
      runner.run(i);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back(work, std::ref(*runners[i]));
  work(*runners[0]);
  for (std::thread &other : others)
    other.join();
  collect(grid, runners, report);
}

Report mlir::moe::emulator::run(const Launch &launch, const Memory &memory) {
  if (!launch.module)
    throw Error(0, "a launch without a module");
  const Program &program = launch.module->program(launch.entry, launch.checks);
  checkBlock(launch, program);
  checkShared(launch, program);
  if (launch.parameters.size() != program.parameterBytes)
    throw Error(0, "entry " + program.entry + " takes " +
                       std::to_string(program.parameterBytes) +
                       " bytes of parameters, but the launch has " +
                       std::to_string(launch.parameters.size()));
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535)
    throw Error(0, "a grid of " + text(launch.grid) +
                       " blocks: at most 65535 in y and z");
  AlignedBytes parameters(launch.parameters.data(), launch.parameters.size());
  AlignedBytes constants(program.constants.data(), program.constants.size());
  AlignedBytes clean(nullptr, program.constants.size() / 8 + 64);
  HazardSink hazards(launch.maxHazards, launch.seed);
  Grid grid{
      launch, program, memory, parameters.data, constants.data, clean.data,
      {},     {},      0,      hazards};
  std::copy(launch.block, launch.block + 3, grid.block);
  grid.sharedBytes =
      program.shared.dynamicOffset - kSharedStart + launch.sharedBytes;
  chooseCluster(launch, program, grid.clusterExtents);
  std::optional<LaunchChecks> checks;
  if (program.checks) {
    checks.emplace(program, memory, launch.contracts);
    grid.checks = &*checks;
  }
  Report report;
  auto begin = std::chrono::steady_clock::now();
  if (volume(launch.grid) != 0)
    runClusters(grid, report);
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  if (checks) {
    checks->contracts.finish(program.entry, hazards);
    report.buffers = checks->contracts.uses();
  }
  report.hazards = hazards.take();
  return report;
}
