//===- Module.h - PTX text, read -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_MODULE_H
#define MOE_EMULATOR_MODULE_H

#include "moe/Emulator/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::moe::emulator {

/// A parameter of an entry: `bytes` bytes at `offset` of the parameter block,
/// laid out as the driver does.
struct Parameter {
  std::string name;
  uint32_t bytes;
  uint32_t alignment;
  uint32_t offset;
};

/// What an entry says of itself. Extents are 0 where it does not say.
struct EntryInfo {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes;
  uint32_t requiredBlock[3];
  uint32_t cluster[3];
  uint32_t staticSharedBytes;
  size_t instructions;
};

struct Program;

/// The entries of one PTX text, decoded twice: with the checks of a run and
/// without. Never changes once it is parsed, but for the data of `.global`
/// variables.
class Module {
public:
  /// Throws Error: at text that is not PTX, and at an instruction or a modifier
  /// that the emulator does not know.
  static std::shared_ptr<const Module> parse(std::string text);

  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  ~Module();

  const std::vector<EntryInfo> &entries() const { return infos; }
  /// Throws Error when there is none of that name; it lists those that are.
  const EntryInfo &entry(const std::string &name) const;
  const Program &program(const std::string &name, bool checks) const;

  /// Memory of the `.global` and `.const` variables.
  struct Variable {
    std::string name;
    uint8_t *data;
    uint64_t bytes;
  };
  const std::vector<Variable> &variables() const { return globals; }

private:
  Module() = default;

  size_t indexOf(const std::string &name) const;

  std::string text;
  std::vector<EntryInfo> infos;
  std::vector<std::unique_ptr<Program>> checked, unchecked;
  std::vector<Variable> globals;
  std::vector<std::unique_ptr<uint8_t[]>> storage;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_MODULE_H
