//===- ParseBody.cpp - registers, labels and instructions -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <algorithm>
#include <charconv>

using namespace mlir::moe::emulator;

/// More would be a mistake in the text, or an attempt to exhaust memory.
static constexpr uint64_t kMaxRegisters = 1 << 20;
static constexpr size_t kMaxDepth = 64;

void BodyParser::parse() {
  parseScope();
  if (entry.instructions.empty())
    throw Error(entry.line,
                "entry " + std::string(entry.name) + " has no instruction");
}

void BodyParser::parseScope() {
  if (scopes.size() >= kMaxDepth)
    tokens.fail("fewer nested braces");
  tokens.expect('{');
  scopes.emplace_back();
  while (!tokens.peek().is('}'))
    parseStatement();
  resolveLabels();
  scopes.pop_back();
  tokens.expect('}');
}

void BodyParser::parseStatement() {
  if (tokens.peek().is('{'))
    return parseScope();
  if (tokens.takeIf(';'))
    return;
  if (tokens.peek().is('@'))
    return parseInstruction(Token());
  if (tokens.peek().kind != Token::Word)
    tokens.fail("an instruction");
  if (tokens.peek().text[0] == '.')
    return parseDirective();
  Token name = tokens.take();
  if (tokens.takeIf(':')) {
    if (tokens.takeIf(".branchtargets"))
      return parseBranchTargets(name);
    if (!scopes.back()
             .labels.emplace(name.text, entry.instructions.size())
             .second)
      throw Error(name.line,
                  "label " + std::string(name.text) + " is there twice");
    return;
  }
  parseInstruction(name);
}

void BodyParser::parseDirective() {
  uint32_t line = tokens.peek().line;
  if (tokens.takeIf(".reg"))
    return parseRegisters();
  if (tokens.takeIf(".loc"))
    return parseLocation();
  if (tokens.takeIf(".pragma")) {
    // Hints of loop unrolling for the assembler.
    tokens.expect(Token::String, "a pragma");
    tokens.expect(';');
    return;
  }
  StateSpace space;
  if (tokens.takeIf(".shared"))
    space = StateSpace::Shared;
  else if (tokens.takeIf(".local"))
    space = StateSpace::Local;
  else
    throw Error(line, "directive " + std::string(tokens.peek().text) +
                          " is not known in an entry");
  entry.variables.push_back(parseVariable(tokens, space));
  tokens.expect(';');
}

void BodyParser::parseBranchTargets(const Token &name) {
  std::vector<std::string_view> &targets = scopes.back().tables[name.text];
  do
    targets.push_back(tokens.expect(Token::Word, "a label").text);
  while (tokens.takeIf(','));
  tokens.expect(';');
}

void BodyParser::parseRegisters() {
  Token type = tokens.expect(Token::Word, "the type of a register");
  uint32_t bits = bitsOfType(type.text.substr(1));
  if (bits == 0)
    throw Error(type.line,
                std::string(type.text) + " is not a type of a register");
  do {
    Token name = tokens.expect(Token::Word, "the name of a register");
    auto first = static_cast<RegisterId>(entry.registers.size());
    uint64_t count = 1;
    if (tokens.takeIf('<')) {
      count = tokens.expectInteger("a number of registers");
      tokens.expect('>');
      if (count + first > kMaxRegisters)
        throw Error(name.line, "more than 2^20 registers");
      scopes.back().ranges[name.text] = {first, static_cast<uint32_t>(count)};
    } else {
      scopes.back().registers[name.text] = first;
    }
    for (uint64_t i = 0; i < count; ++i)
      entry.registers.push_back(
          {std::string(name.text) + (count > 1 ? std::to_string(i) : ""),
           bits});
  } while (tokens.takeIf(','));
  tokens.expect(';');
}

void BodyParser::parseLocation() {
  LocationSyntax where;
  uint64_t file = tokens.expectInteger("the number of a file");
  where.line = tokens.expectInteger("a line");
  where.column = tokens.expectInteger("a column");
  while (tokens.takeIf(',')) { // function_name X, inlined_at F L C
    tokens.expect(Token::Word, "an attribute of a location");
    while (!tokens.peek().is(',') && (tokens.peek().kind == Token::Integer ||
                                      tokens.peek().kind == Token::Punctuation))
      tokens.take();
    if (tokens.peek().kind == Token::Word && tokens.peek().text[0] == '$')
      tokens.take();
  }
  if (file < files.size())
    where.file = files[file];
  module.locations.push_back(std::move(where));
  location = static_cast<uint32_t>(module.locations.size());
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void BodyParser::readGuard(InstructionSyntax &instruction) {
  instruction.guarded = true;
  instruction.guardNegated = tokens.takeIf('!');
  Token name = tokens.expect(Token::Word, "a predicate");
  if (!findRegister(name.text, instruction.guard) ||
      entry.registers[instruction.guard].bits != 1)
    throw Error(name.line, std::string(name.text) + " is not a predicate");
}

void BodyParser::parseInstruction(Token name) {
  InstructionSyntax instruction;
  if (tokens.takeIf('@')) {
    readGuard(instruction);
    name = tokens.expect(Token::Word, "an instruction");
  }
  instruction.line = name.line;
  instruction.location = location;
  instruction.name = name.text;
  std::string_view rest = name.text;
  for (bool first = true; !rest.empty(); first = false) {
    size_t dot = std::min(rest.find('.'), rest.size());
    if (first)
      instruction.opcode = rest.substr(0, dot);
    else
      instruction.modifiers.push_back(rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  while (!tokens.peek().is(';')) {
    instruction.operands.push_back(parseOperand());
    if (!tokens.takeIf(','))
      break;
  }
  tokens.expect(';');
  if (instruction.opcode == "brx")
    return expandIndexedBranch(instruction);
  append(std::move(instruction));
}

void BodyParser::append(InstructionSyntax instruction) {
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    if (instruction.operands[i].kind == OperandSyntax::Label)
      scopes.back().waiting.emplace_back(entry.instructions.size(), i);
  entry.instructions.push_back(std::move(instruction));
}

const std::vector<std::string_view> *
BodyParser::findTargets(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto found = scope->tables.find(name);
    if (found != scope->tables.end())
      return &found->second;
  }
  return nullptr;
}

/// A comparison and a branch for each target. The ISA leaves a number open that
/// is no target's: it traps.
void BodyParser::expandIndexedBranch(const InstructionSyntax &whole) {
  const std::vector<std::string_view> *targets =
      whole.operands.size() == 2 ? findTargets(whole.operands[1].name)
                                 : nullptr;
  if (!targets || whole.modifiers.empty() || whole.modifiers[0] != "idx")
    throw Error(whole.line, std::string(whole.name) +
                                ": needs .idx, a register and the label of "
                                ".branchtargets above it");
  auto hit = static_cast<RegisterId>(entry.registers.size());
  entry.registers.push_back({"%brx", 1});
  InstructionSyntax part;
  part.line = whole.line;
  part.location = whole.location;
  part.name = whole.name;
  part.opcode = "bra";
  OperandSyntax label;
  label.kind = OperandSyntax::Label;
  if (whole.guarded) {
    // Past the comparisons, the branches, and the trap.
    part.guarded = true;
    part.guard = whole.guard;
    part.guardNegated = !whole.guardNegated;
    label.id = static_cast<RegisterId>(entry.instructions.size() + 2 +
                                       2 * targets->size());
    part.operands = {label};
    entry.instructions.push_back(part);
  }
  InstructionSyntax compare = part, trap = part;
  compare.guarded = trap.guarded = false;
  compare.opcode = "setp";
  compare.modifiers = {"eq", "u32"};
  trap.opcode = "trap";
  trap.operands.clear();
  part.guarded = true;
  part.guard = hit;
  part.guardNegated = false;
  OperandSyntax number, result;
  number.kind = OperandSyntax::Integer;
  result.kind = OperandSyntax::Register;
  result.id = hit;
  for (std::string_view target : *targets) {
    compare.operands = {result, whole.operands[0], number};
    entry.instructions.push_back(compare);
    label.name = target;
    part.operands = {label};
    append(part);
    ++number.value;
  }
  entry.instructions.push_back(trap);
}

void BodyParser::resolveLabels() {
  Scope &scope = scopes.back();
  for (auto [instruction, index] : scope.waiting) {
    InstructionSyntax &user = entry.instructions[instruction];
    OperandSyntax &operand = user.operands[index];
    auto found = scope.labels.find(operand.name);
    if (found != scope.labels.end()) {
      operand.id = found->second;
    } else if (scopes.size() > 1) {
      scopes[scopes.size() - 2].waiting.emplace_back(instruction, index);
    } else {
      // A variable, which the decoder looks up.
      operand.kind = OperandSyntax::Symbol;
    }
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool BodyParser::findRegister(std::string_view name, RegisterId &id) const {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto single = scope->registers.find(name);
    if (single != scope->registers.end()) {
      id = single->second;
      return true;
    }
    auto range = scope->ranges.find(name.substr(0, digits));
    if (range == scope->ranges.end() || digits == name.size())
      continue;
    uint32_t number = 0;
    auto [end, code] = std::from_chars(name.data() + digits,
                                       name.data() + name.size(), number);
    if (code == std::errc() && number < range->second.second) {
      id = range->second.first + number;
      return true;
    }
  }
  return false;
}

/// The second register of a pair; -1 for none.
int64_t BodyParser::parseSecond() {
  if (!tokens.takeIf('|'))
    return -1;
  Token name = tokens.expect(Token::Word, "a register");
  if (name.text == "_")
    return -1;
  RegisterId id = 0;
  if (!findRegister(name.text, id))
    throw Error(name.line,
                "register " + std::string(name.text) + " is not declared");
  return id;
}

OperandSyntax BodyParser::parseName(Token name) {
  OperandSyntax operand;
  operand.name = name.text;
  if (name.text == "_") {
    operand.kind = OperandSyntax::Sink;
    operand.second = parseSecond();
  } else if (findRegister(name.text, operand.id)) {
    operand.kind = OperandSyntax::Register;
    operand.second = parseSecond();
  } else if (name.text[0] == '%') {
    operand.kind = OperandSyntax::Special;
  } else {
    operand.kind = OperandSyntax::Label;
    if (tokens.takeIf('+')) {
      operand.kind = OperandSyntax::Symbol;
      bool negative = tokens.takeIf('-');
      operand.value = tokens.expectInteger("an offset");
      operand.value = negative ? 0 - operand.value : operand.value;
    }
  }
  return operand;
}

OperandSyntax BodyParser::parseConstant(bool negative) {
  OperandSyntax operand;
  Token token = tokens.take();
  operand.value = negative ? 0 - token.value : token.value;
  operand.kind = token.kind == Token::Float32   ? OperandSyntax::Float32
                 : token.kind == Token::Float64 ? OperandSyntax::Float64
                                                : OperandSyntax::Integer;
  if (negative && operand.kind != OperandSyntax::Integer)
    throw Error(token.line, "a sign in front of the bits of a float");
  return operand;
}

OperandSyntax BodyParser::parseVector() {
  OperandSyntax operand;
  operand.kind = OperandSyntax::Vector;
  do
    operand.elements.push_back(parseOperand(true));
  while (tokens.takeIf(','));
  tokens.expect('}');
  return operand;
}

OperandSyntax BodyParser::parseAddress() {
  uint32_t line = tokens.peek().line;
  OperandSyntax operand = parseOperand(true);
  operand.base = operand.kind == OperandSyntax::Label ? OperandSyntax::Symbol
                                                      : operand.kind;
  if (operand.base != OperandSyntax::Register &&
      operand.base != OperandSyntax::Symbol &&
      operand.base != OperandSyntax::Integer)
    throw Error(line, "an address is a register, a variable or a number");
  operand.kind = OperandSyntax::Address;
  if (tokens.takeIf('+')) {
    bool negative = tokens.takeIf('-');
    operand.value += (negative ? -1 : 1) * tokens.expectInteger("an offset");
  } else if (tokens.takeIf('-')) {
    operand.value -= tokens.expectInteger("an offset");
  }
  if (tokens.takeIf(',')) {
    tokens.expect('{');
    operand.elements = parseVector().elements;
  }
  tokens.expect(']');
  return operand;
}

OperandSyntax BodyParser::parseOperand(bool inside) {
  if (!inside && tokens.takeIf('['))
    return parseAddress();
  if (!inside && tokens.takeIf('{'))
    return parseVector();
  if (tokens.takeIf('!')) {
    OperandSyntax operand =
        parseName(tokens.expect(Token::Word, "a predicate"));
    operand.negated = true;
    return operand;
  }
  bool negative = tokens.takeIf('-');
  const Token &token = tokens.peek();
  if (token.kind == Token::Integer || token.kind == Token::Float32 ||
      token.kind == Token::Float64)
    return parseConstant(negative);
  if (negative || token.kind != Token::Word)
    tokens.fail("an operand");
  return parseName(tokens.take());
}
