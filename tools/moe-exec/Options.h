//===- Options.h - the command line of moe-exec -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_EXEC_OPTIONS_H
#define MOE_TOOLS_MOE_EXEC_OPTIONS_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace mlir::moe::exec {

/// Ends the program with its text as the message.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string bundle;
  std::string device = "cuda";
  int ordinal = 0;
  /// -1: not given.
  int64_t tokens = -1;
  /// A folder, or empty where `seed` counts.
  std::string inputFolder;
  uint64_t seed = 0;
  /// By argument number.
  std::map<size_t, std::string> inputFiles;
  /// Empty: not written.
  std::string outputFolder;
  /// Calls to time; 0: none.
  uint32_t repeats = 0;
  bool checkTwice = false;
  /// Of the emulator: its schedule, and whether its counts are printed.
  uint64_t emulatorSeed = 0;
  bool counts = false;
  bool json = false;
  bool list = false;
  bool help = false;
  bool version = false;

  /// "seed:0" or the folder.
  std::string inputs() const;
};

/// Throws Failure for a command line that makes no sense.
Options parseOptions(int argc, char **argv);
void printHelp();

} // namespace mlir::moe::exec

#endif // MOE_TOOLS_MOE_EXEC_OPTIONS_H
