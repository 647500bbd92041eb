//===- Syntax.h - PTX as it is written -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parser makes of a module: names are resolved to registers, labels
// to instruction numbers, and nothing is known yet of what an instruction does.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_SYNTAX_H
#define MOE_LIB_EMULATOR_SYNTAX_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::moe::emulator {

enum class StateSpace { Register, Parameter, Shared, Global, Constant, Local };

/// A virtual register: its number in EntrySyntax::registers.
using RegisterId = uint32_t;

struct RegisterSyntax {
  std::string name;
  /// 1 for predicates.
  uint32_t bits;
};

/// A variable of memory, or a parameter of an entry.
struct VariableSyntax {
  std::string_view name;
  StateSpace space = StateSpace::Shared;
  uint32_t line = 0;
  /// Bytes; 0 for an external array whose size the launch gives.
  uint64_t bytes = 0;
  uint64_t alignment = 1;
  bool external = false;
  std::vector<uint8_t> initial;
};

struct OperandSyntax {
  enum Kind {
    Register, // %r1, !%p1; with a second one for %r1|%p1
    Special,  // %tid.x
    Symbol,   // a variable
    Label,
    Integer,
    Float32,
    Float64,
    Address, // [a], [a+8], [a, {x, y}]; `base` is what a is
    Vector,  // {a, b}
    Sink,    // _
  };

  Kind kind = Sink;
  /// Of an address: Register, Symbol or Integer.
  Kind base = Integer;
  bool negated = false;
  /// Of Special and Symbol, and of an address with a symbol.
  std::string_view name;
  /// Register and an address with a register; Label: instruction number.
  RegisterId id = 0;
  /// Of a pair.
  int64_t second = -1;
  /// Bits of a constant; bytes that an address adds.
  uint64_t value = 0;
  /// Of a vector, and the coordinates of an address.
  std::vector<OperandSyntax> elements;
};

struct InstructionSyntax {
  uint32_t line = 0;
  /// Index into ModuleSyntax::locations, plus 1; 0: none.
  uint32_t location = 0;
  bool guarded = false;
  bool guardNegated = false;
  RegisterId guard = 0;
  /// "cp" of cp.async.commit_group, and the rest in order, without dots.
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<OperandSyntax> operands;
  /// As it is written, modifiers included.
  std::string_view name;
};

struct EntrySyntax {
  std::string_view name;
  uint32_t line = 0;
  std::vector<VariableSyntax> parameters;
  std::vector<VariableSyntax> variables;
  std::vector<RegisterSyntax> registers;
  std::vector<InstructionSyntax> instructions;
  /// Threads of a block that .reqntid or .maxntid ask for; 0: not said.
  uint32_t requiredBlock[3] = {0, 0, 0};
  uint32_t maximalThreads = 0;
  /// Registers of a thread by .maxnreg, 0: not said; .minnctapersm.
  uint32_t maximalRegisters = 0;
  uint32_t blocksPerProcessor = 1;
  /// Blocks of a cluster by .reqnctapercluster; 0: not said.
  uint32_t cluster[3] = {0, 0, 0};
};

struct LocationSyntax {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

struct ModuleSyntax {
  std::string_view version;
  std::string_view target;
  std::vector<VariableSyntax> variables;
  std::vector<EntrySyntax> entries;
  std::vector<LocationSyntax> locations;
};

/// Throws Error. The result points into `text`.
ModuleSyntax parseModule(std::string_view text);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_SYNTAX_H
