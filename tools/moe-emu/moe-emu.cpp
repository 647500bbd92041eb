//===- moe-emu.cpp - run PTX on the CPU -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/Launch.h"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace mlir::moe::emulator;

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
    try {
      auto module = Module::parse(std::move(text));
      for (const EntryInfo &entry : module->entries())
        std::printf("%s: %zu instructions\n", entry.name.c_str(),
                    entry.instructions);
    } catch (const Error &error) {
      std::fprintf(stderr, "%s: %s\n", argv[i], error.what());
    }
  }
  return 0;
}
