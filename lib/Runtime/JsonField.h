//===- JsonField.h - a checked look into a JSON document -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every access checks what it finds and fails with the place in the document:
//
//   variants[1].launches[3].args[0].buffer: must be an integer from 0 to 7,
//   but got "x"
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_JSONFIELD_H
#define MOE_LIB_RUNTIME_JSONFIELD_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mlir::moe::runtime {

/// Parses a document. Fails for text that is not JSON, and for JSON that no
/// compiler writes: nested deeper than 100, or with a key twice.
nlohmann::json parseJson(const char *text, size_t bytes);

/// One value of a document and where it stands. The document must outlive it.
class JsonField {
public:
  explicit JsonField(const nlohmann::json &root) : value(&root) {}

  /// A member of an object.
  JsonField operator[](const char *key) const;
  /// A member that may be absent; null counts as absent.
  std::optional<JsonField> find(const char *key) const;

  /// Number of elements of an array, which must be within [min, max].
  size_t arraySize(size_t min, size_t max) const;
  /// Element `index` of an array.
  JsonField at(size_t index) const;

  bool isNull() const { return value->is_null(); }
  bool isArray() const { return value->is_array(); }
  bool isInteger() const { return value->is_number_integer(); }

  int64_t integer(int64_t min, int64_t max) const;
  bool boolean() const;
  /// A text of 1 to `maxBytes` printable characters.
  std::string text(size_t maxBytes) const;

  /// Fails with "<path>: <rule>, but got <value>".
  [[noreturn]] void refuse(const std::string &rule) const;
  /// Fails with "<path>: <complaint>".
  [[noreturn]] void complain(const std::string &complaint) const;

private:
  JsonField(const nlohmann::json &value, std::string path)
      : value(&value), path(std::move(path)) {}

  const nlohmann::json *value;
  std::string path;
};

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_JSONFIELD_H
