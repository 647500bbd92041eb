//===- Lexer.cpp - PTX text to tokens -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include "moe/Emulator/Error.h"

#include <cctype>
#include <charconv>
#include <cstring>

using namespace mlir::moe::emulator;

static bool startsWord(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

static bool continuesWord(char c) {
  return startsWord(c) || std::isdigit(static_cast<unsigned char>(c));
}

static int digitOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

void Lexer::skipSpace() {
  while (position < text.size()) {
    char c = peek();
    if (c == '\n') {
      ++line;
      ++position;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++position;
    } else if (c == '/' && peek(1) == '/') {
      while (position < text.size() && peek() != '\n')
        ++position;
    } else if (c == '/' && peek(1) == '*') {
      uint32_t opened = line;
      for (position += 2; peek() != '*' || peek(1) != '/'; ++position) {
        if (position >= text.size())
          throw Error(opened, "a comment that does not end");
        line += peek() == '\n';
      }
      position += 2;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skipSpace();
  Token token;
  token.line = line;
  if (position >= text.size())
    return token;
  char c = peek();
  if (startsWord(c))
    return word(token);
  if (std::isdigit(static_cast<unsigned char>(c)))
    return number(token);
  if (c == '"')
    return string(token);
  if (!std::ispunct(static_cast<unsigned char>(c)))
    throw Error(line, "byte " + std::to_string(static_cast<unsigned char>(c)) +
                          " belongs to no token");
  token.kind = Token::Punctuation;
  token.text = text.substr(position++, 1);
  return token;
}

Token Lexer::word(Token token) {
  size_t begin = position++;
  for (;;) {
    if (continuesWord(peek()))
      ++position;
    else if (peek() == ':' && peek(1) == ':') // .shared::cta
      position += 2;
    else
      break;
  }
  token.kind = Token::Word;
  token.text = text.substr(begin, position - begin);
  return token;
}

Token Lexer::floatBits(Token token, Token::Kind kind, size_t digits) {
  size_t begin = position;
  position += 2;
  for (size_t i = 0; i < digits; ++i, ++position) {
    int digit = digitOf(peek());
    if (digit >= 16)
      throw Error(line, "a float constant needs " + std::to_string(digits) +
                            " hexadecimal digits");
    token.value = token.value << 4 | digit;
  }
  token.kind = kind;
  token.text = text.substr(begin, position - begin);
  return token;
}

/// 1.5, 2.0e-3: an f64.
bool Lexer::takeDecimal(Token &token) {
  size_t digits = 0;
  while (std::isdigit(static_cast<unsigned char>(peek(digits))))
    ++digits;
  if (peek(digits) != '.')
    return false;
  double value = 0;
  const char *begin = text.data() + position;
  auto [end, code] = std::from_chars(begin, text.data() + text.size(), value);
  if (code != std::errc())
    throw Error(line, "a float constant that f64 does not hold");
  std::memcpy(&token.value, &value, sizeof(value));
  token.kind = Token::Float64;
  token.text = text.substr(position, end - begin);
  position += token.text.size();
  return true;
}

Token Lexer::number(Token token) {
  if (peek() == '0' && (peek(1) == 'f' || peek(1) == 'F'))
    return floatBits(token, Token::Float32, 8);
  if (peek() == '0' && (peek(1) == 'd' || peek(1) == 'D'))
    return floatBits(token, Token::Float64, 16);
  size_t begin = position;
  if (takeDecimal(token))
    return token;
  int base = 10;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    base = 16;
    position += 2;
  } else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B')) {
    base = 2;
    position += 2;
  } else if (peek() == '0') {
    base = 8;
  }
  while (digitOf(peek()) < 16) {
    if (digitOf(peek()) >= base)
      throw Error(line, "digit " + std::string(1, peek()) +
                            " in a number of base " + std::to_string(base));
    uint64_t wider = token.value * base + digitOf(peek());
    if ((wider - digitOf(peek())) / base != token.value)
      throw Error(line, "an integer of more than 64 bits");
    token.value = wider;
    ++position;
  }
  if (peek() == 'U')
    ++position;
  token.kind = Token::Integer;
  token.text = text.substr(begin, position - begin);
  return token;
}

Token Lexer::string(Token token) {
  size_t begin = ++position;
  while (peek() != '"') {
    if (position >= text.size() || peek() == '\n')
      throw Error(line, "a string that does not end in its line");
    ++position;
  }
  token.kind = Token::String;
  token.text = text.substr(begin, position++ - begin);
  return token;
}
