//===- ParseModule.cpp - variables, entries and their directives -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

using namespace mlir::moe::emulator;

/// Arrays have no more dimensions than that.
static constexpr int kMaxInitializerDepth = 8;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Token TokenStream::take() {
  Token taken = token;
  token = lexer.next();
  return taken;
}

bool TokenStream::takeIf(char c) {
  if (!token.is(c))
    return false;
  take();
  return true;
}

bool TokenStream::takeIf(std::string_view word) {
  if (!token.is(word))
    return false;
  take();
  return true;
}

void TokenStream::fail(const std::string &expected) const {
  throw Error(token.line, "expected " + expected + ", but found " +
                              (token.kind == Token::End
                                   ? "the end of the text"
                                   : "\"" + std::string(token.text) + "\""));
}

void TokenStream::expect(char c) {
  if (!takeIf(c))
    fail(std::string("'") + c + "'");
}

Token TokenStream::expect(Token::Kind kind, const char *what) {
  if (token.kind != kind)
    fail(what);
  return take();
}

uint64_t TokenStream::expectInteger(const char *what) {
  return expect(Token::Integer, what).value;
}

uint32_t mlir::moe::emulator::bitsOfType(std::string_view name) {
  if (name == "pred")
    return 1;
  size_t letters = name.substr(0, 2) == "bf" ? 2 : 1;
  if (name.empty() || std::string_view("bsuf").find(name[0]) == name.npos)
    return 0;
  std::string_view digits = name.substr(letters);
  for (uint32_t bits : {8, 16, 32, 64, 128})
    if (digits == std::to_string(bits))
      return bits;
  return 0;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static void appendBytes(std::vector<uint8_t> &bytes, uint64_t value,
                        uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

static void parseInitializer(TokenStream &tokens, VariableSyntax &variable,
                             uint32_t elementBytes, int depth = 0) {
  if (depth < kMaxInitializerDepth && tokens.takeIf('{')) {
    do
      parseInitializer(tokens, variable, elementBytes, depth + 1);
    while (tokens.takeIf(','));
    tokens.expect('}');
    return;
  }
  bool negative = tokens.takeIf('-');
  Token::Kind kind = tokens.peek().kind;
  if (kind != Token::Integer && kind != Token::Float32 &&
      kind != Token::Float64)
    tokens.fail("a number: addresses as initial values are not supported");
  uint64_t value = tokens.take().value;
  appendBytes(variable.initial, negative ? 0 - value : value, elementBytes);
}

VariableSyntax mlir::moe::emulator::parseVariable(TokenStream &tokens,
                                                  StateSpace space) {
  VariableSyntax variable;
  variable.space = space;
  variable.line = tokens.peek().line;
  uint64_t elements = 1;
  uint32_t bits = 0;
  bool aligned = false;
  while (tokens.peek().kind == Token::Word && tokens.peek().text[0] == '.') {
    std::string_view word = tokens.take().text.substr(1);
    if (word == "align") {
      variable.alignment = tokens.expectInteger("an alignment");
      aligned = true;
    } else if (word == "v2") {
      elements = 2;
    } else if (word == "v4") {
      elements = 4;
    } else if (word == "ptr") {
      // .ptr .global .align 1: what the pointer points to, not what it is.
      for (const char *space : {".global", ".shared", ".const", ".local"})
        tokens.takeIf(space);
      if (tokens.takeIf(".align"))
        tokens.expectInteger("an alignment");
    } else if (bits = bitsOfType(word); bits < 8) {
      throw Error(variable.line, "\"." + std::string(word) +
                                     "\" does not belong to a variable");
    }
  }
  if (bits == 0)
    tokens.fail("a type of a variable");
  if (!aligned)
    variable.alignment = bits / 8 * elements;
  if (variable.alignment == 0 ||
      (variable.alignment & (variable.alignment - 1)) != 0)
    throw Error(variable.line, "an alignment that is no power of two");
  variable.name = tokens.expect(Token::Word, "the name of a variable").text;
  bool unsized = false;
  while (tokens.takeIf('[')) {
    unsized = tokens.peek().is(']');
    uint64_t extent = unsized ? 0 : tokens.expectInteger("an extent");
    if (extent > (uint64_t(1) << 40) / (elements + 1))
      throw Error(variable.line, "a variable of more than 2^40 elements");
    elements *= extent;
    tokens.expect(']');
  }
  variable.bytes = elements * bits / 8;
  if (tokens.takeIf('=')) {
    parseInitializer(tokens, variable, bits / 8);
    if (unsized)
      variable.bytes = variable.initial.size();
    if (variable.initial.size() > variable.bytes)
      throw Error(variable.line, "more initial values than elements");
    variable.initial.resize(variable.bytes);
  }
  return variable;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
class ModuleParser {
public:
  explicit ModuleParser(std::string_view text) : tokens(text) {}

  ModuleSyntax parse();

private:
  void parseTopLevel();
  void parseFile();
  void skipSection();
  void parseEntry();
  void parseParameters(EntrySyntax &entry);
  void parseEntryDirectives(EntrySyntax &entry);
  void parseExtents(uint32_t extents[3]);

  TokenStream tokens;
  ModuleSyntax module;
  std::vector<std::string> files;
};
} // namespace

ModuleSyntax ModuleParser::parse() {
  while (tokens.peek().kind != Token::End)
    parseTopLevel();
  if (module.version.empty())
    throw Error(0, "the text has no .version: it is no PTX");
  return std::move(module);
}

void ModuleParser::parseTopLevel() {
  if (tokens.takeIf(".version")) {
    // 8.6 looks like a float constant.
    module.version = tokens.expect(Token::Float64, "a version").text;
    return;
  }
  if (tokens.takeIf(".target")) {
    module.target = tokens.expect(Token::Word, "a target").text;
    while (tokens.takeIf(','))
      tokens.expect(Token::Word, "an option of the target");
    return;
  }
  if (tokens.takeIf(".address_size")) {
    if (tokens.expectInteger("an address size") != 64)
      tokens.fail("addresses of 64 bits");
    return;
  }
  if (tokens.takeIf(".file"))
    return parseFile();
  if (tokens.takeIf(".section"))
    return skipSection();
  bool external = false;
  while (tokens.peek().is(".visible") || tokens.peek().is(".extern") ||
         tokens.peek().is(".weak") || tokens.peek().is(".common"))
    external |= tokens.take().text == ".extern";
  if (tokens.takeIf(".entry"))
    return parseEntry();
  StateSpace space;
  if (tokens.takeIf(".shared"))
    space = StateSpace::Shared;
  else if (tokens.takeIf(".global"))
    space = StateSpace::Global;
  else if (tokens.takeIf(".const"))
    space = StateSpace::Constant;
  else
    tokens.fail("a directive of a module that is known: an entry, a variable");
  VariableSyntax variable = parseVariable(tokens, space);
  variable.external = external;
  if (external && space != StateSpace::Shared)
    throw Error(variable.line, "only shared memory may be external");
  tokens.expect(';');
  module.variables.push_back(std::move(variable));
}

void ModuleParser::parseFile() {
  uint64_t index = tokens.expectInteger("the number of a file");
  if (index > 0xffff)
    tokens.fail("fewer than 65536 files");
  std::string_view name = tokens.expect(Token::String, "a file name").text;
  while (tokens.takeIf(','))
    tokens.expectInteger("a time or a size");
  files.resize(std::max<size_t>(files.size(), index + 1));
  files[index] = std::string(name);
}

void ModuleParser::skipSection() {
  tokens.expect(Token::Word, "the name of a section");
  tokens.expect('{');
  while (!tokens.takeIf('}')) {
    if (tokens.peek().kind == Token::End)
      tokens.fail("'}' at the end of a section");
    tokens.take();
  }
}

void ModuleParser::parseEntry() {
  EntrySyntax entry;
  entry.line = tokens.peek().line;
  entry.name = tokens.expect(Token::Word, "the name of an entry").text;
  parseParameters(entry);
  parseEntryDirectives(entry);
  BodyParser(tokens, module, entry, files).parse();
  module.entries.push_back(std::move(entry));
}

void ModuleParser::parseParameters(EntrySyntax &entry) {
  if (!tokens.takeIf('(') || tokens.takeIf(')'))
    return;
  do {
    if (!tokens.takeIf(".param"))
      tokens.fail("a parameter");
    entry.parameters.push_back(parseVariable(tokens, StateSpace::Parameter));
  } while (tokens.takeIf(','));
  tokens.expect(')');
}

void ModuleParser::parseExtents(uint32_t extents[3]) {
  extents[0] = extents[1] = extents[2] = 1;
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && !tokens.takeIf(','))
      return;
    uint64_t value = tokens.expectInteger("an extent");
    if (value == 0 || value > 0x7fffffff)
      throw Error(tokens.peek().line, "an extent of " + std::to_string(value));
    extents[i] = static_cast<uint32_t>(value);
  }
}

void ModuleParser::parseEntryDirectives(EntrySyntax &entry) {
  for (;;) {
    uint32_t extents[3];
    if (tokens.takeIf(".reqntid")) {
      parseExtents(entry.requiredBlock);
    } else if (tokens.takeIf(".maxntid")) {
      parseExtents(extents);
      entry.maximalThreads = extents[0] * extents[1] * extents[2];
    } else if (tokens.takeIf(".reqnctapercluster")) {
      parseExtents(entry.cluster);
    } else if (tokens.takeIf(".minnctapersm")) {
      entry.blocksPerProcessor =
          static_cast<uint32_t>(tokens.expectInteger("a number"));
    } else if (tokens.takeIf(".maxnreg")) {
      entry.maximalRegisters =
          static_cast<uint32_t>(tokens.expectInteger("a number"));
    } else if (tokens.takeIf(".maxnctapersm") ||
               tokens.takeIf(".maxclusterrank")) {
      // Limits of the launch.
      tokens.expectInteger("a number");
    } else if (!tokens.takeIf(".explicitcluster") &&
               !tokens.takeIf(".noreturn")) {
      return;
    }
  }
}

ModuleSyntax mlir::moe::emulator::parseModule(std::string_view text) {
  return ModuleParser(text).parse();
}
