//===- JsonField.cpp - a checked look into a JSON document -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonField.h"

#include "Error.h"

#include <algorithm>
#include <set>

using namespace mlir::moe::runtime;
using Json = nlohmann::json;

static constexpr int kMaxDepth = 100;

Json mlir::moe::runtime::parseJson(const char *text, size_t bytes) {
  // The parser takes a NUL for the end and would not look behind it.
  if (std::find(text, text + bytes, '\0') != text + bytes)
    failBundle("is not JSON: it has a byte that is 0");
  // The keys seen so far, per object that is open.
  std::vector<std::set<std::string>> open;
  auto check = [&](int depth, Json::parse_event_t event, Json &parsed) {
    if (depth > kMaxDepth)
      failBundle("nested deeper than " + std::to_string(kMaxDepth));
    if (event == Json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open.pop_back();
    else if (event == Json::parse_event_t::key &&
             !open.back().insert(parsed.get<std::string>()).second)
      failBundle("has the key " +
                 parsed.dump(-1, ' ', true, Json::error_handler_t::replace) +
                 " twice in one object");
    return true;
  };
  try {
    return Json::parse(text, text + bytes, check);
  } catch (const Json::exception &error) {
    failBundle(std::string("is not JSON: ") + error.what());
  }
}

[[noreturn]] void JsonField::complain(const std::string &complaint) const {
  failBundle((path.empty() ? "the document" : path) + ": " + complaint);
}

[[noreturn]] void JsonField::refuse(const std::string &rule) const {
  // Containers could be large; their kind is enough.
  std::string found;
  if (value->is_object() || value->is_array())
    found = std::string(value->type_name()) + " of " +
            std::to_string(value->size());
  else
    found = value->dump(-1, ' ', true, Json::error_handler_t::replace);
  if (found.size() > 80)
    found = found.substr(0, 77) + "...";
  complain(rule + ", but got " + found);
}

std::optional<JsonField> JsonField::find(const char *key) const {
  if (!value->is_object())
    refuse("must be an object");
  auto member = value->find(key);
  if (member == value->end() || member->is_null())
    return std::nullopt;
  return JsonField(*member, path.empty() ? key : path + "." + key);
}

JsonField JsonField::operator[](const char *key) const {
  std::optional<JsonField> member = find(key);
  if (!member)
    complain(std::string("has no \"") + key + "\"");
  return *member;
}

size_t JsonField::arraySize(size_t min, size_t max) const {
  if (!value->is_array())
    refuse("must be an array");
  size_t size = value->size();
  if (size < min || size > max)
    complain("must have " +
             (min == max ? std::to_string(min)
                         : std::to_string(min) + " to " + std::to_string(max)) +
             " elements, but has " + std::to_string(size));
  return size;
}

JsonField JsonField::at(size_t index) const {
  if (!value->is_array() || index >= value->size())
    refuse("must have an element " + std::to_string(index));
  return {(*value)[index], path + "[" + std::to_string(index) + "]"};
}

int64_t JsonField::integer(int64_t min, int64_t max) const {
  bool fits = value->is_number_integer();
  if (fits && value->is_number_unsigned())
    fits = value->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
  int64_t number = fits ? value->get<int64_t>() : 0;
  if (fits && number >= min && number <= max)
    return number;
  if (min == INT64_MIN && max == INT64_MAX)
    refuse("must be an integer of 64 bits");
  refuse("must be an integer from " + std::to_string(min) + " to " +
         std::to_string(max));
}

bool JsonField::boolean() const {
  if (!value->is_boolean())
    refuse("must be true or false");
  return value->get<bool>();
}

std::string JsonField::text(size_t maxBytes) const {
  if (!value->is_string())
    refuse("must be a text");
  const auto &text = value->get_ref<const std::string &>();
  bool printable = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (text.empty() || text.size() > maxBytes || !printable)
    refuse("must be a text of 1 to " + std::to_string(maxBytes) +
           " printable bytes");
  return text;
}
