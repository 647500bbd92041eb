//===- Options.h - the command line of moe-emu -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_EMU_OPTIONS_H
#define MOE_TOOLS_MOE_EMU_OPTIONS_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mlir::moe::emu {

/// Ends the program with its text as the message.
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `--buffer=NAME:TYPE:VALUES`.
struct BufferOption {
  std::string name;
  std::string type;
  /// FILE.npy, or `new`, `zero` or `random`, each with a number of elements.
  std::string values;
};

/// `--map=NAME:BUFFER:key=a,b:...`.
struct MapOption {
  std::string name;
  std::string buffer;
  std::vector<uint64_t> extents, strides, box;
  uint64_t swizzle = 0;
};

/// `--contract=BUFFER:KEY:...`; elements, not bytes.
struct ContractOption {
  std::string buffer;
  bool mayRead = true, mayWrite = true, once = false, complete = false;
  std::vector<std::pair<uint64_t, uint64_t>> untouched;
  uint32_t pieces = 1;
};

/// `--save=NAME:FILE.npy`.
struct SaveOption {
  std::string name;
  std::string file;
};

struct Options {
  std::string ptx;
  std::string entry;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {0, 0, 0};
  uint32_t cluster[3] = {0, 0, 0};
  uint32_t sharedBytes = 0;
  std::vector<BufferOption> buffers;
  std::vector<MapOption> maps;
  /// In order of the parameters.
  std::vector<std::string> arguments;
  std::vector<SaveOption> saves;
  std::vector<ContractOption> contracts;
  uint64_t seed = 0;
  unsigned threads = 0;
  bool checks = true;
  bool json = false;
  bool list = false;
  bool help = false;
};

/// Throws Failure for a command line that makes no sense.
Options parseOptions(int argc, char **argv);
void printHelp();

/// The whole text as a number in [least, most]; `what` names it in messages.
int64_t parseNumber(const std::string &what, const std::string &text,
                    int64_t least, int64_t most);

} // namespace mlir::moe::emu

#endif // MOE_TOOLS_MOE_EMU_OPTIONS_H
