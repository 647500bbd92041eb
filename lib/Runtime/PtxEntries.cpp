//===- PtxEntries.cpp - the kernels of a PTX text -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxEntries.h"

#include "Error.h"

#include <cctype>
#include <cstdlib>
#include <string_view>

using namespace mlir::moe::runtime;

namespace {
/// Splits the text into words, numbers and single characters; skips blanks,
/// comments and strings. A word may start with a dot.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  /// The next token; empty at the end.
  std::string_view next() {
    skip();
    if (position == text.size())
      return "";
    size_t start = position++;
    if (isWord(text[start]))
      while (position < text.size() && isWord(text[position]))
        ++position;
    else if (text[start] == '"')
      position = std::min(text.find('"', position), text.size() - 1) + 1;
    return text.substr(start, position - start);
  }

private:
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '$' || c == '%' || c == '.';
  }
  void skip() {
    while (position < text.size()) {
      if (std::isspace(static_cast<unsigned char>(text[position])))
        ++position;
      else if (text.compare(position, 2, "//") == 0)
        position = std::min(text.find('\n', position), text.size());
      else if (text.compare(position, 2, "/*") == 0)
        position = std::min(text.find("*/", position + 2), text.size() - 2) + 2;
      else
        return;
    }
  }

  std::string_view text;
  size_t position = 0;
};
} // namespace

/// Bytes of ".u64" and the like; 0 for any other word.
static uint64_t bytesOfType(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' ||
      std::string_view("usbf").find(word[1]) == std::string_view::npos)
    return 0;
  std::string_view digits = word.substr(2);
  for (auto [bits, bytes] :
       {std::pair("8", 1), {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16}})
    if (digits == bits)
      return bytes;
  return 0;
}

[[noreturn]] static void refuse(const std::string &kernel) {
  failBundle("kernels.ptx: the parameters of kernel " + kernel +
             " are not declared as PTX has it");
}

/// Reads ".param .align 64 .b8 name[128]" up to the ',' or ')' that ends it.
static uint64_t parseParameter(Lexer &lexer, const std::string &kernel,
                               std::string_view &end) {
  uint64_t bytes = 0, elements = 1;
  for (std::string_view token = lexer.next(); !token.empty();
       token = lexer.next()) {
    if (token == "," || token == ")") {
      end = token;
      if (bytes == 0)
        refuse(kernel);
      return bytes * elements;
    }
    if (bytes == 0)
      bytes = bytesOfType(token);
    if (token == "[")
      elements = std::strtoull(std::string(lexer.next()).c_str(), nullptr, 10);
    if (elements == 0 || elements > (1u << 16))
      refuse(kernel);
  }
  refuse(kernel);
}

static PtxEntry parseEntry(Lexer &lexer, const std::string &kernel) {
  PtxEntry entry;
  std::string_view token = lexer.next();
  if (token != "(")
    return entry; // an entry without parameters may leave the list out
  token = lexer.next();
  if (token == ")")
    return entry;
  while (token == ".param") {
    std::string_view end;
    entry.parameterBytes.push_back(parseParameter(lexer, kernel, end));
    if (end == ")")
      return entry;
    token = lexer.next();
  }
  refuse(kernel);
}

PtxSummary mlir::moe::runtime::summarizePtx(const std::string &ptx) {
  PtxSummary summary;
  Lexer lexer(ptx);
  for (std::string_view token = lexer.next(); !token.empty();
       token = lexer.next()) {
    if (token == ".target" && summary.target.empty()) {
      summary.target = lexer.next();
    } else if (token == ".entry") {
      std::string name(lexer.next());
      summary.entries[name] = parseEntry(lexer, name);
    }
  }
  return summary;
}
