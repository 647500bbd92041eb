//===- Module.cpp - PTX text, read -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/Module.h"

#include "Decode.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

Module::~Module() = default;

/// Memory for a variable, aligned as it asks, with its initial value.
static uint8_t *placeVariable(const VariableSyntax &variable,
                              std::unique_ptr<uint8_t[]> &storage) {
  uint64_t alignment = std::max<uint64_t>(variable.alignment, 16);
  storage.reset(new uint8_t[variable.bytes + alignment]());
  uint64_t begin = reinterpret_cast<uint64_t>(storage.get());
  uint8_t *data = storage.get() + (alignment - begin % alignment) % alignment;
  if (!variable.initial.empty())
    std::memcpy(data, variable.initial.data(), variable.initial.size());
  return data;
}

static EntryInfo infoOf(const Program &program) {
  EntryInfo info{program.entry,
                 program.parameters,
                 program.parameterBytes,
                 {},
                 {},
                 program.shared.staticBytes,
                 program.instructions.size()};
  std::copy(program.requiredBlock, program.requiredBlock + 3,
            info.requiredBlock);
  std::copy(program.cluster, program.cluster + 3, info.cluster);
  return info;
}

std::shared_ptr<const Module> Module::parse(std::string text) {
  std::shared_ptr<Module> module(new Module());
  module->text = std::move(text);
  ModuleSyntax syntax = parseModule(module->text);
  std::map<std::string_view, SymbolValue> globals;
  for (const VariableSyntax &variable : syntax.variables) {
    if (variable.space == StateSpace::Shared)
      continue;
    module->storage.emplace_back();
    uint8_t *data = placeVariable(variable, module->storage.back());
    module->globals.push_back(
        {std::string(variable.name), data, variable.bytes});
    globals[variable.name] = {variable.space, reinterpret_cast<uint64_t>(data),
                              variable.bytes};
  }
  for (EntrySyntax &entry : syntax.entries) {
    for (bool checks : {false, true}) {
      auto program = std::make_unique<Program>();
      program->checks = checks;
      decodeEntry(syntax, entry, globals, *program);
      (checks ? module->checked : module->unchecked)
          .push_back(std::move(program));
    }
    module->infos.push_back(infoOf(*module->checked.back()));
  }
  return module;
}

size_t Module::indexOf(const std::string &name) const {
  std::string known;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name)
      return i;
    known += (known.empty() ? "" : ", ") + infos[i].name;
  }
  throw Error(0, "there is no entry \"" + name +
                     "\"; the text has: " + (known.empty() ? "none" : known));
}

const EntryInfo &Module::entry(const std::string &name) const {
  return infos[indexOf(name)];
}

const Program &Module::program(const std::string &name, bool checks) const {
  return *(checks ? checked : unchecked)[indexOf(name)];
}
