//===- Parser.h - tokens to syntax -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_PARSER_H
#define MOE_LIB_EMULATOR_PARSER_H

#include "Lexer.h"
#include "Syntax.h"

#include "moe/Emulator/Error.h"

#include <map>
#include <unordered_map>

namespace mlir::moe::emulator {

/// The bits of a fundamental type such as .b32, 1 for .pred, 0 for what is no
/// type. `name` comes without its dot.
uint32_t bitsOfType(std::string_view name);

/// Reads tokens with one token of look-ahead.
class TokenStream {
public:
  explicit TokenStream(std::string_view text) : lexer(text) { take(); }

  const Token &peek() const { return token; }
  Token take();
  bool takeIf(char c);
  bool takeIf(std::string_view word);
  void expect(char c);
  Token expect(Token::Kind kind, const char *what);
  uint64_t expectInteger(const char *what);
  [[noreturn]] void fail(const std::string &expected) const;

private:
  Lexer lexer;
  Token token;
};

/// Reads a variable after its state space: `.align 4 .b8 name[16] = {...}`.
VariableSyntax parseVariable(TokenStream &tokens, StateSpace space);

/// Reads the body of an entry, from its brace to the closing one.
class BodyParser {
public:
  BodyParser(TokenStream &tokens, ModuleSyntax &module, EntrySyntax &entry,
             const std::vector<std::string> &files)
      : tokens(tokens), module(module), entry(entry), files(files) {}

  void parse();

private:
  /// A pair of braces: registers and labels that are known in it.
  struct Scope {
    std::unordered_map<std::string_view, RegisterId> registers;
    /// First number of a range: %r of `.reg .b32 %r<10>`.
    std::map<std::string_view, std::pair<RegisterId, uint32_t>> ranges;
    std::unordered_map<std::string_view, RegisterId> labels;
    /// Labels that were named before they were seen: instruction, operand.
    std::vector<std::pair<size_t, size_t>> waiting;
    /// Labels of .branchtargets, and what they list.
    std::map<std::string_view, std::vector<std::string_view>> tables;
  };

  void parseScope();
  void parseStatement();
  void parseDirective();
  void parseRegisters();
  void parseLocation();
  void parseBranchTargets(const Token &name);
  void parseInstruction(Token name);
  /// Enters an instruction; its labels may be seen later.
  void append(InstructionSyntax instruction);
  void expandIndexedBranch(const InstructionSyntax &whole);
  void readGuard(InstructionSyntax &instruction);
  OperandSyntax parseOperand(bool insideAddress = false);
  OperandSyntax parseAddress();
  OperandSyntax parseVector();
  OperandSyntax parseConstant(bool negative);
  OperandSyntax parseName(Token name);
  int64_t parseSecond();
  void resolveLabels();
  bool findRegister(std::string_view name, RegisterId &id) const;
  const std::vector<std::string_view> *findTargets(std::string_view name) const;

  TokenStream &tokens;
  ModuleSyntax &module;
  EntrySyntax &entry;
  const std::vector<std::string> &files;
  std::vector<Scope> scopes;
  uint32_t location = 0;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_PARSER_H
