//===- Lexer.h - PTX text to tokens -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_LEXER_H
#define MOE_LIB_EMULATOR_LEXER_H

#include <cstdint>
#include <string_view>

namespace mlir::moe::emulator {

struct Token {
  enum Kind {
    End,
    /// A name, a directive, a register, an opcode with its modifiers.
    Word,
    Integer,
    /// 0f and 8 hexadecimal digits, or 0d and 16, or decimal as Float64;
    /// `value` holds the bits.
    Float32,
    Float64,
    String,
    /// One character, `text[0]`.
    Punctuation,
  };

  Kind kind = End;
  std::string_view text;
  uint64_t value = 0;
  uint32_t line = 1;

  bool is(char c) const { return kind == Punctuation && text[0] == c; }
  bool is(std::string_view word) const { return kind == Word && text == word; }
};

/// Reads one token after the other; throws Error at what is no token.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  Token next();

private:
  void skipSpace();
  Token word(Token token);
  Token number(Token token);
  Token string(Token token);
  bool takeDecimal(Token &token);
  Token floatBits(Token token, Token::Kind kind, size_t digits);
  char peek(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }

  std::string_view text;
  size_t position = 0;
  uint32_t line = 1;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_LEXER_H
