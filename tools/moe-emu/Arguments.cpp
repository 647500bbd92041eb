//===- Arguments.cpp - buffers, tensor maps and parameters of a run -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "moe/Data/NpyFile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace mlir::moe;
using namespace mlir::moe::emu;

static constexpr int64_t kMaxElements = int64_t(1) << 40;

static void check(const std::string &problem) {
  if (!problem.empty())
    throw Failure(problem);
}

static ElementKind kindOf(const std::string &name) {
  for (ElementKind kind :
       {ElementKind::F64, ElementKind::F32, ElementKind::F16, ElementKind::BF16,
        ElementKind::F8E4M3FN, ElementKind::F8E5M2, ElementKind::I64,
        ElementKind::I32, ElementKind::I16, ElementKind::I8})
    if (name == elementKindName(kind))
      return kind;
  throw Failure("--buffer: there is no type \"" + name + "\"");
}

/// The same values for the same name: a plain linear congruential sequence.
static void fillRandom(ElementKind kind, void *data, int64_t elements,
                       const std::string &name) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (char c : name)
    state = (state ^ uint8_t(c)) * 0x100000001b3u;
  for (int64_t i = 0; i < elements; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double value = double(state >> 40) / double(1 << 24) - 0.5;
    if (isFloat(kind))
      storeFloat(kind, data, i, value);
    else
      storeInt(kind, data, i, int64_t(state >> 48));
  }
}

Arguments::Arguments(const Options &options) : options(options) {
  for (const BufferOption &option : options.buffers)
    addBuffer(option);
  for (const MapOption &option : options.maps)
    addMap(option);
}

void Arguments::addBuffer(const BufferOption &option) {
  Buffer buffer;
  buffer.kind = kindOf(option.type);
  size_t equals = option.values.find('=');
  std::string how = option.values.substr(0, equals);
  NpyReader file;
  bool fromFile = equals == std::string::npos ||
                  (how != "new" && how != "zero" && how != "random");
  if (fromFile) {
    check(file.open(option.values, buffer.kind));
    buffer.shape = file.shape();
  } else {
    buffer.shape = {parseNumber(
        "--buffer: " + how, option.values.substr(equals + 1), 0, kMaxElements)};
  }
  ShapeView view{buffer.shape.data(), buffer.shape.size()};
  buffer.bytes = static_cast<uint64_t>(view.size() * elementBytes(buffer.kind));
  buffer.data = memory.allocate(buffer.bytes, option.name);
  if (fromFile)
    check(file.read(buffer.data));
  else if (how == "zero")
    std::memset(buffer.data, 0, buffer.bytes);
  else if (how == "random")
    fillRandom(buffer.kind, buffer.data, view.size(), option.name);
  if (fromFile || how != "new")
    memory.markDefined(buffer.data, buffer.bytes);
  if (!buffers.emplace(option.name, buffer).second)
    throw Failure("there are two buffers named " + option.name);
}

const Arguments::Buffer &Arguments::buffer(const std::string &name) const {
  auto found = buffers.find(name);
  if (found == buffers.end())
    throw Failure("there is no buffer named \"" + name + "\"");
  return found->second;
}

/// Types that a tensor map does not have count as bytes of their size.
static emulator::ElementType mapTypeOf(ElementKind kind) {
  using emulator::ElementType;
  switch (kind) {
  case ElementKind::F16:
    return ElementType::Float16;
  case ElementKind::BF16:
    return ElementType::BFloat16;
  case ElementKind::F32:
    return ElementType::Float32;
  default:
    break;
  }
  switch (elementBytes(kind)) {
  case 2:
    return ElementType::UInt16;
  case 4:
    return ElementType::Int32;
  case 8:
    return ElementType::Int64;
  default:
    return ElementType::UInt8;
  }
}

void Arguments::addMap(const MapOption &option) {
  const Buffer &from = buffer(option.buffer);
  size_t rank = option.extents.size();
  if (rank < 1 || rank > emulator::kMaxTensorRank ||
      option.box.size() != rank || option.strides.size() != rank - 1)
    throw Failure("--map=" + option.name +
                  ": needs 1 to 5 dims, as many box extents, and one stride "
                  "less");
  emulator::TensorMap map;
  map.address = from.data;
  map.rank = static_cast<uint32_t>(rank);
  map.type = mapTypeOf(from.kind);
  std::copy(option.extents.begin(), option.extents.end(), map.extents);
  std::copy(option.strides.begin(), option.strides.end(), map.strides);
  std::copy(option.box.begin(), option.box.end(), map.box);
  map.swizzle = static_cast<uint32_t>(option.swizzle);
  map.encode(maps[option.name].bytes);
}

void Arguments::setParameter(emulator::Launch &launch, size_t index,
                             const emulator::Parameter &parameter,
                             const std::string &text) const {
  if (auto map = maps.find(text); map != maps.end())
    return launch.setParameter(index, map->second.bytes,
                               emulator::kTensorMapBytes);
  size_t plus = text.find('+');
  auto found = buffers.find(text.substr(0, plus));
  uint64_t value = 0;
  if (found != buffers.end()) {
    value = reinterpret_cast<uint64_t>(found->second.data);
    if (plus != std::string::npos)
      value += static_cast<uint64_t>(
          parseNumber("--arg=" + text, text.substr(plus + 1), 0, INT64_MAX));
  } else if (text.find('.') != std::string::npos) {
    double number = std::strtod(text.c_str(), nullptr);
    auto single = static_cast<float>(number);
    if (parameter.bytes == sizeof(single))
      std::memcpy(&value, &single, sizeof(single));
    else
      std::memcpy(&value, &number, sizeof(number));
  } else if (text != "null") {
    value = static_cast<uint64_t>(
        parseNumber("--arg (no buffer or map has that name; it)", text,
                    INT64_MIN, INT64_MAX));
  }
  if (parameter.bytes > sizeof(value))
    throw Failure("parameter " + std::to_string(index) + " has " +
                  std::to_string(parameter.bytes) +
                  " bytes: it takes a tensor map");
  launch.setParameter(index, &value, parameter.bytes);
}

emulator::BufferContract
Arguments::contractOf(const ContractOption &option) const {
  const Buffer &from = buffer(option.buffer);
  auto each = static_cast<uint64_t>(elementBytes(from.kind));
  emulator::BufferContract contract;
  contract.name = option.buffer;
  contract.data = from.data;
  contract.bytes = from.bytes;
  contract.mayRead = option.mayRead;
  contract.mayWrite = option.mayWrite;
  contract.once = option.once;
  contract.complete = option.complete;
  contract.pieces = option.pieces;
  for (auto [first, end] : option.untouched) {
    if (end > from.bytes / each)
      throw Failure("--contract=" + option.buffer + ": there are " +
                    std::to_string(from.bytes / each) +
                    " elements, but untouched names number " +
                    std::to_string(end - 1));
    contract.untouched.emplace_back(first * each, end * each);
  }
  return contract;
}

void Arguments::set(emulator::Launch &launch) const {
  for (const ContractOption &option : options.contracts)
    launch.contracts.push_back(contractOf(option));
  const emulator::EntryInfo &info = launch.module->entry(launch.entry);
  if (options.arguments.size() != info.parameters.size())
    throw Failure("entry " + info.name + " has " +
                  std::to_string(info.parameters.size()) +
                  " parameters, but there are " +
                  std::to_string(options.arguments.size()) + " of --arg");
  for (size_t i = 0; i < info.parameters.size(); ++i)
    setParameter(launch, i, info.parameters[i], options.arguments[i]);
}

void Arguments::save() const {
  for (const SaveOption &option : options.saves) {
    const Buffer &from = buffer(option.name);
    check(writeNpyFile(option.file, from.kind,
                       {from.shape.data(), from.shape.size()}, from.data));
  }
}
