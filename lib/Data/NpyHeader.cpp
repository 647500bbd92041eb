//===- NpyHeader.cpp - the text at the start of a .npy file -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpyHeader.h"

#include <cctype>

namespace mlir::moe {

/// NumPy's own limit on the number of dimensions.
static constexpr size_t kMaxRank = 64;

namespace {
/// Every method returns false on malformed text.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  bool parse(NpyHeader &header) {
    bool descr = false, order = false, shape = false;
    if (!consume('{'))
      return false;
    while (!consume('}')) {
      std::string key;
      if (!parseString(key) || !consume(':'))
        return false;
      if (key == "descr" && !descr)
        descr = parseString(header.descr);
      else if (key == "fortran_order" && !order)
        order = parseBool(header.fortranOrder);
      else if (key == "shape" && !shape)
        shape = parseShape(header.shape);
      else
        return false;
      if (!consume(',') && !startsWith('}'))
        return false;
    }
    skipBlanks();
    return descr && order && shape && text.empty();
  }

private:
  void skipBlanks() {
    while (!text.empty() &&
           std::isspace(static_cast<unsigned char>(text.front())))
      text.remove_prefix(1);
  }
  bool startsWith(char c) {
    skipBlanks();
    return !text.empty() && text.front() == c;
  }
  bool consume(char c) {
    if (!startsWith(c))
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool consume(std::string_view word) {
    skipBlanks();
    if (text.substr(0, word.size()) != word)
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  bool parseString(std::string &value) {
    if (!consume('\''))
      return false;
    size_t end = text.find('\'');
    if (end == std::string_view::npos)
      return false;
    value = text.substr(0, end);
    text.remove_prefix(end + 1);
    return true;
  }
  bool parseBool(bool &value) {
    value = consume("True");
    return value || consume("False");
  }
  bool parseExtent(int64_t &extent) {
    skipBlanks();
    size_t digits = 0;
    bool fits = true;
    for (extent = 0; digits < text.size() &&
                     std::isdigit(static_cast<unsigned char>(text[digits]));
         ++digits)
      fits &= !__builtin_mul_overflow(extent, 10, &extent) &&
              !__builtin_add_overflow(extent, text[digits] - '0', &extent);
    text.remove_prefix(digits);
    return fits && digits > 0;
  }
  bool parseShape(std::vector<int64_t> &shape) {
    if (!consume('('))
      return false;
    while (!consume(')')) {
      int64_t extent;
      if (!parseExtent(extent) || shape.size() == kMaxRank)
        return false;
      shape.push_back(extent);
      if (!consume(',') && !startsWith(')'))
        return false;
    }
    return true;
  }

  std::string_view text;
};

/// A type code of the elements of a kind. The first of a kind is written.
struct TypeCode {
  ElementKind kind;
  std::string_view descr;
};
} // namespace

static constexpr TypeCode kTypeCodes[] = {
    {ElementKind::F64, "<f8"},      {ElementKind::F32, "<f4"},
    {ElementKind::F16, "<f2"},      {ElementKind::BF16, "<u2"},
    {ElementKind::BF16, "|V2"},     {ElementKind::BF16, "<V2"},
    {ElementKind::F8E4M3FN, "|u1"}, {ElementKind::F8E4M3FN, "|V1"},
    {ElementKind::F8E5M2, "|u1"},   {ElementKind::F8E5M2, "|V1"},
    {ElementKind::I64, "<i8"},      {ElementKind::I32, "<i4"},
    {ElementKind::I16, "<i2"},      {ElementKind::I8, "|i1"},
    {ElementKind::I1, "|b1"}};

bool parseNpyHeader(std::string_view text, NpyHeader &header) {
  return HeaderParser(text).parse(header);
}

std::string npyHeaderText(std::string_view descr, ShapeView shape) {
  std::string text = "{'descr': '" + std::string(descr) +
                     "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.rank; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.rank == 1 ? ",), }" : "), }");
}

std::string_view npyDescr(ElementKind kind) {
  for (const TypeCode &code : kTypeCodes)
    if (code.kind == kind)
      return code.descr;
  return "";
}

bool npyStoredKind(std::string_view descr, ElementKind wanted,
                   ElementKind &stored) {
  for (const TypeCode &code : kTypeCodes)
    if (code.kind == wanted && code.descr == descr) {
      stored = wanted;
      return true;
    }
  if (isFloat(wanted) || wanted == ElementKind::I1)
    return false;
  for (const TypeCode &code : kTypeCodes)
    if (!isFloat(code.kind) && code.kind != ElementKind::I1 &&
        code.descr == descr) {
      stored = code.kind;
      return true;
    }
  return false;
}

} // namespace mlir::moe
