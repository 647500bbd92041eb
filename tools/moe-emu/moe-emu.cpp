//===- moe-emu.cpp - run PTX on the CPU -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "moe/Emulator/KernelCounts.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace mlir::moe;
using namespace mlir::moe::emu;
using Json = nlohmann::ordered_json;

static constexpr int kClean = 0;
static constexpr int kError = 1;
static constexpr int kHazards = 2;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  if (!file && text.empty())
    throw Failure(path + ": cannot be read");
  return text;
}

static void printEntries(const emulator::Module &module) {
  for (const emulator::EntryInfo &entry : module.entries()) {
    std::printf("%s: %zu instructions, %u bytes of static shared memory",
                entry.name.c_str(), entry.instructions,
                entry.staticSharedBytes);
    if (entry.requiredBlock[0] != 0)
      std::printf(", blocks of %ux%ux%u threads", entry.requiredBlock[0],
                  entry.requiredBlock[1], entry.requiredBlock[2]);
    std::puts("");
    for (size_t i = 0; i < entry.parameters.size(); ++i)
      std::printf("  param %zu  %s: %u bytes\n", i,
                  entry.parameters[i].name.c_str(), entry.parameters[i].bytes);
  }
}

static emulator::Launch
launchOf(const Options &options,
         std::shared_ptr<const emulator::Module> module) {
  emulator::Launch launch;
  if (options.entry.empty() && module->entries().size() != 1)
    throw Failure("the text has " + std::to_string(module->entries().size()) +
                  " entries: choose one with --entry (--list prints them)");
  launch.entry =
      options.entry.empty() ? module->entries()[0].name : options.entry;
  const emulator::EntryInfo &info = module->entry(launch.entry);
  bool given = options.block[0] != 0;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = options.grid[i];
    launch.block[i] = given ? options.block[i] : info.requiredBlock[i];
    launch.cluster[i] = options.cluster[i];
  }
  if (launch.block[0] == 0)
    throw Failure("entry " + launch.entry +
                  " does not say how many threads a block has: --block=N");
  launch.module = std::move(module);
  launch.sharedBytes = options.sharedBytes;
  launch.checks = options.checks;
  launch.seed = options.seed;
  launch.threads = options.threads;
  return launch;
}

static void printUse(const emulator::BufferUse &buffer) {
  std::printf("%s: %" PRIu64 " bytes read, %" PRIu64 " written",
              buffer.name.c_str(), buffer.bytesRead, buffer.bytesWritten);
  if (buffer.piecesRead.size() > 1) {
    std::printf("; read of each piece:");
    for (uint64_t bytes : buffer.piecesRead)
      std::printf(" %" PRIu64, bytes);
  }
  std::puts("");
}

static void printText(const emulator::Report &report) {
  for (const emulator::Hazard &hazard : report.hazards)
    std::printf("%s\n", hazard.format().c_str());
  const emulator::Counts &counts = report.counts;
  std::printf("%zu hazards\n", report.hazards.size());
  std::printf("%" PRIu64 " instructions of warps, %" PRIu64
              " of threads, in %.3f s: %.0f million a second\n",
              counts.warpInstructions, counts.threadInstructions,
              report.seconds,
              double(counts.threadInstructions) * 1e-6 /
                  std::max(report.seconds, 1e-9));
  for (auto &[name, count] : counts.byClass)
    std::printf("  %-8s %14" PRIu64 "\n", name.c_str(), count);
  std::printf("global memory: %" PRIu64 " bytes read, %" PRIu64 " written\n",
              counts.globalBytesRead, counts.globalBytesWritten);
  std::printf("shared memory: %" PRIu64 " bytes read, %" PRIu64 " written\n",
              counts.sharedBytesRead, counts.sharedBytesWritten);
  for (const emulator::BufferUse &buffer : report.buffers)
    printUse(buffer);
  std::printf("matrix products: %" PRIu64 " multiply-adds\n",
              counts.matrixMultiplyAdds);
}

static Json jsonOf(const emulator::Hazard &hazard) {
  return {{"kind", emulator::nameOf(hazard.kind)},
          {"message", hazard.message},
          {"kernel", hazard.kernel},
          {"line", hazard.line},
          {"instruction", hazard.instruction},
          {"location", hazard.location},
          {"block", {hazard.block[0], hazard.block[1], hazard.block[2]}},
          {"thread", {hazard.thread[0], hazard.thread[1], hazard.thread[2]}},
          {"count", hazard.count},
          {"seed", hazard.seed}};
}

static void printJson(const emulator::Report &report) {
  Json hazards = Json::array();
  for (const emulator::Hazard &hazard : report.hazards)
    hazards.push_back(jsonOf(hazard));
  Json json = {{"hazards", hazards}, {"seconds", report.seconds}};
  json.update(emulator::toJson(report.counts));
  for (const emulator::BufferUse &buffer : report.buffers)
    json["buffers"][buffer.name] = {{"bytes_read", buffer.bytesRead},
                                    {"bytes_written", buffer.bytesWritten},
                                    {"pieces_read", buffer.piecesRead}};
  std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

static int runTool(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  if (options.help) {
    printHelp();
    return kClean;
  }
  auto module = emulator::Module::parse(readFile(options.ptx));
  if (options.list) {
    printEntries(*module);
    return kClean;
  }
  Arguments arguments(options);
  emulator::Launch launch = launchOf(options, std::move(module));
  arguments.set(launch);
  emulator::Report report = run(launch, arguments.memory);
  arguments.save();
  if (options.json)
    printJson(report);
  else
    printText(report);
  return report.clean() ? kClean : kHazards;
}

int main(int argc, char **argv) {
  std::string problem;
  try {
    return runTool(argc, argv);
  } catch (const std::bad_alloc &) {
    problem = "there is no memory left";
  } catch (const std::exception &error) {
    problem = error.what();
  }
  std::fprintf(stderr, "moe-emu: error: %s\n", problem.c_str());
  return kError;
}
