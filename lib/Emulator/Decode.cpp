//===- Decode.cpp - entries to programs -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include <algorithm>

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static TypeClass classOf(const InstructionSyntax &syntax) {
  for (size_t i = syntax.modifiers.size(); i-- > 0;) {
    Type type = parseType(syntax.modifiers[i]);
    if (type.kind == Type::Predicate)
      return TypeClass::Predicate;
    if (type.isFloat())
      return TypeClass::Float;
    if (type.kind != Type::None)
      return TypeClass::Integer;
  }
  return TypeClass::Any;
}

DecodeFunction InstructionTable::find(const InstructionSyntax &syntax) const {
  for (TypeClass types : {classOf(syntax), TypeClass::Any}) {
    auto found = rows.find({syntax.opcode, types});
    if (found != rows.end())
      return found->second;
  }
  return nullptr;
}

const InstructionTable &InstructionTable::get() {
  static const InstructionTable table = [] {
    InstructionTable table;
    addAsyncCopyInstructions(table);
    addAtomicInstructions(table);
    addBarrierInstructions(table);
    addBitFieldInstructions(table);
    addBitInstructions(table);
    addCarryInstructions(table);
    addCompareInstructions(table);
    addControlInstructions(table);
    addConvertInstructions(table);
    addFloatInstructions(table);
    addFloatUnaryInstructions(table);
    addIntegerInstructions(table);
    addIntegerProductInstructions(table);
    addMBarrierInstructions(table);
    addMatrixLoadInstructions(table);
    addMemoryInstructions(table);
    addMmaSyncInstructions(table);
    addMoveInstructions(table);
    addShuffleInstructions(table);
    addVoteInstructions(table);
    addWgmmaInstructions(table);
    return table;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

static void layOutParameters(DecodeState &state) {
  uint64_t offset = 0;
  for (const VariableSyntax &variable : state.entry.parameters) {
    offset = roundUp(offset, variable.alignment);
    if (variable.bytes > 65536)
      throw Error(variable.line, "parameter " + std::string(variable.name) +
                                     " has more than 65536 bytes");
    state.symbols[variable.name] = {StateSpace::Parameter, offset,
                                    variable.bytes};
    state.program.parameters.push_back(
        {std::string(variable.name), static_cast<uint32_t>(variable.bytes),
         static_cast<uint32_t>(variable.alignment),
         static_cast<uint32_t>(offset)});
    offset += variable.bytes;
  }
  state.program.parameterBytes = static_cast<uint32_t>(offset);
}

/// Names that an entry uses, so that shared memory of other entries takes no
/// room in it.
static void collectNames(const OperandSyntax &operand,
                         std::map<std::string_view, bool> &names) {
  if (!operand.name.empty())
    names[operand.name] = true;
  for (const OperandSyntax &element : operand.elements)
    collectNames(element, names);
}

static void layOutVariables(DecodeState &state, const ModuleSyntax &module) {
  std::map<std::string_view, bool> used;
  for (const InstructionSyntax &instruction : state.entry.instructions)
    for (const OperandSyntax &operand : instruction.operands)
      collectNames(operand, used);
  std::vector<const VariableSyntax *> shared, external;
  uint64_t local = 0;
  auto add = [&](const VariableSyntax &variable) {
    if (variable.space == StateSpace::Local) {
      local = roundUp(local, variable.alignment);
      state.symbols[variable.name] = {StateSpace::Local, local, variable.bytes};
      local += variable.bytes;
    } else if (variable.space == StateSpace::Shared && used[variable.name]) {
      (variable.external ? external : shared).push_back(&variable);
    }
  };
  for (const VariableSyntax &variable : module.variables)
    add(variable);
  for (const VariableSyntax &variable : state.entry.variables)
    add(variable);
  uint64_t offset = kSharedStart;
  for (const VariableSyntax *variable : shared) {
    offset = roundUp(offset, variable->alignment);
    state.symbols[variable->name] = {StateSpace::Shared, offset,
                                     variable->bytes};
    offset += variable->bytes;
    if (offset > kSharedOffsetMask)
      throw Error(variable->line, "more than 16 MiB of shared memory");
  }
  SharedLayout &layout = state.program.shared;
  layout.staticBytes = static_cast<uint32_t>(offset - kSharedStart);
  for (const VariableSyntax *variable : external)
    offset = roundUp(offset, variable->alignment);
  layout.dynamicOffset = static_cast<uint32_t>(offset);
  for (const VariableSyntax *variable : external)
    state.symbols[variable->name] = {StateSpace::Shared, offset, 0};
  layout.localBytes = static_cast<uint32_t>(roundUp(local, 16));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static void decodeInstruction(DecodeState &state,
                              const InstructionSyntax &syntax,
                              Instruction &instruction) {
  DecodeFunction decode = InstructionTable::get().find(syntax);
  DecodeContext context(state, syntax, instruction);
  if (!decode)
    context.fail("the emulator does not know this instruction");
  decode(context);
  context.finish();
}

static std::string textOf(const ModuleSyntax &module, uint32_t location) {
  if (location == 0)
    return {};
  const LocationSyntax &where = module.locations[location - 1];
  return where.file + ":" + std::to_string(where.line) + ":" +
         std::to_string(where.column);
}

static uint32_t entryRegistersOf(const EntrySyntax &entry) {
  constexpr uint64_t kOfProcessor = 65536, kUnit = 8, kMost = 248;
  if (entry.maximalRegisters != 0)
    return entry.maximalRegisters / kUnit * kUnit;
  uint64_t threads = entry.maximalThreads;
  if (entry.requiredBlock[0] != 0)
    threads = uint64_t(entry.requiredBlock[0]) * entry.requiredBlock[1] *
              entry.requiredBlock[2];
  threads *= entry.blocksPerProcessor;
  uint64_t each = threads ? kOfProcessor / threads / kUnit * kUnit : 0;
  return each > kMost ? 0 : static_cast<uint32_t>(each);
}

void mlir::moe::emulator::decodeEntry(
    const ModuleSyntax &module, EntrySyntax &entry,
    const std::map<std::string_view, SymbolValue> &globals, Program &program) {
  DecodeState state{program, entry, globals, {}, {}, {}, {}};
  program.entry = std::string(entry.name);
  std::copy(entry.requiredBlock, entry.requiredBlock + 3,
            program.requiredBlock);
  std::copy(entry.cluster, entry.cluster + 3, program.cluster);
  program.maximalThreads = entry.maximalThreads;
  program.entryRegisters = entryRegistersOf(entry);
  layOutParameters(state);
  layOutVariables(state, module);
  size_t registers = entry.registers.size();
  state.exclusive.assign(registers, false);
  program.instructions.resize(entry.instructions.size());
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const InstructionSyntax &syntax = entry.instructions[i];
    decodeInstruction(state, syntax, program.instructions[i]);
    program.names.emplace_back(syntax.name);
    program.locations.push_back(textOf(module, syntax.location));
  }
  if (!program.instructions.back().ends)
    throw Error(entry.instructions.back().line,
                "entry " + program.entry + " ends without ret");
  findMeetingPoints(program);
  placeRegisters(state);
  // Decoding again, with other checks, starts from the same registers.
  entry.registers.resize(registers);
}
