//===- Plan.cpp - the extents and values of one call -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "moe/Data/NpyFile.h"
#include "moe/Data/RandomInputs.h"

#include <new>

using namespace mlir::moe;
using namespace mlir::moe::exec;

/// No argument has a meaning beyond this; sums of it stay far from 64 bits.
static constexpr int64_t kMaxBound = int64_t(1) << 40;

void mlir::moe::exec::check(moe_status status) {
  if (status != MOE_OK)
    throw Failure(moe_last_error());
}

HostBuffer mlir::moe::exec::allocateHost(uint64_t bytes,
                                         const std::string &purpose) {
  HostBuffer buffer(new (std::nothrow) unsigned char[bytes > 0 ? bytes : 1]);
  if (!buffer)
    throw Failure("there is no host memory for the " + std::to_string(bytes) +
                  " bytes of " + purpose);
  return buffer;
}

static ElementKind kindOf(moe_type type) {
  switch (type) {
  case MOE_F32:
    return ElementKind::F32;
  case MOE_F16:
    return ElementKind::F16;
  case MOE_BF16:
    return ElementKind::BF16;
  case MOE_I32:
    return ElementKind::I32;
  case MOE_I64:
    return ElementKind::I64;
  case MOE_I8:
    return ElementKind::I8;
  }
  throw Failure("the runtime knows a type that moe-exec does not");
}

uint64_t ArgumentInfo::deviceBytes() const {
  int64_t bytes;
  if (!bytesOfArray(kind, view(), bytes))
    throw Failure("an array of " + description() + " is too large");
  if (!isStrided() || bytes == 0)
    return static_cast<uint64_t>(bytes);
  int64_t last = 0;
  bool overflow = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t span;
    overflow |=
        __builtin_mul_overflow(shape[i] - 1, argument.strides[i], &span) ||
        __builtin_add_overflow(last, span, &last);
  }
  overflow |= __builtin_add_overflow(last, int64_t(1), &last) ||
              __builtin_mul_overflow(last, elementBytes(kind), &last);
  if (overflow)
    throw Failure("an array of " + description() + " is too large");
  return static_cast<uint64_t>(last);
}

Plan::Plan(const Options &options) : options(options) {
  check(moe_bundle_open(options.bundle.c_str(), &bundle));
  for (size_t i = 0; i < moe_bundle_num_arguments(bundle); ++i) {
    ArgumentInfo info;
    check(moe_bundle_argument(bundle, i, &info.argument));
    int32_t isWritten = 0;
    check(moe_bundle_argument_is_written(bundle, i, &isWritten));
    info.isWritten = isWritten != 0;
    info.kind = kindOf(info.argument.type);
    info.shape.assign(info.argument.shape,
                      info.argument.shape + info.argument.rank);
    moe_tensor tensor = {};
    for (size_t j = 0; j < info.shape.size(); ++j)
      tensor.shape[j] = info.shape[j];
    arguments.push_back(std::move(info));
    tensors.push_back(tensor);
  }
}

std::string Plan::fileOf(size_t index) const {
  auto file = options.inputFiles.find(index);
  if (file != options.inputFiles.end())
    return file->second;
  if (options.inputFolder.empty() || arguments[index].isResult())
    return "";
  return options.inputFolder + "/" + std::to_string(index) + ".npy";
}

void Plan::readExtents(size_t index, const std::string &file) {
  ArgumentInfo &info = arguments[index];
  std::string prefix = "argument " + std::to_string(index) + ": ";
  NpyReader reader;
  std::string problem = reader.open(file, info.kind);
  if (!problem.empty())
    throw Failure(prefix + problem);
  if (reader.shape().size() != info.shape.size())
    throw Failure(prefix + file + ": must have " +
                  std::to_string(info.shape.size()) + " dimensions, but has " +
                  std::to_string(reader.shape().size()));
  for (size_t i = 0; i < info.shape.size(); ++i)
    tensors[index].shape[i] = reader.shape()[i];
  info.source = "file";
}

/// Where the values of an argument without a file come from.
void Plan::chooseSource(size_t index) {
  ArgumentInfo &info = arguments[index];
  const char *role = nullptr;
  check(moe_bundle_random_input(bundle, tensors.data(), tensors.size(), index,
                                &role, &info.bound));
  InputRole known;
  bool usable = role && parseInputRole(role, known) && info.bound >= 0 &&
                info.bound <= kMaxBound;
  if (!usable)
    throw Failure("argument " + std::to_string(index) + ", " +
                  info.description() +
                  ", has no rule for random values; give the array with "
                  "--input=" +
                  std::to_string(index) + ":FILE.npy");
  info.source = role;
}

void Plan::solve() {
  for (const auto &[index, file] : options.inputFiles) {
    if (index >= arguments.size())
      throw Failure("--input=" + std::to_string(index) + ":" + file +
                    ": the layer has " + std::to_string(arguments.size()) +
                    " arguments");
    if (arguments[index].isResult())
      throw Failure("--input=" + std::to_string(index) + ":" + file +
                    ": argument " + std::to_string(index) + " is a result");
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    if (std::string file = fileOf(i); !file.empty())
      readExtents(i, file);
  if (options.tokens >= 0)
    check(moe_bundle_set_tokens(bundle, options.tokens, tensors.data(),
                                tensors.size()));
  moe_status status =
      moe_bundle_solve_shapes(bundle, tensors.data(), tensors.size());
  if (status != MOE_OK)
    throw Failure(std::string(moe_last_error()) +
                  (options.tokens < 0 && options.inputFolder.empty()
                       ? "; --tokens=T sets the number of tokens"
                       : ""));
  for (size_t i = 0; i < arguments.size(); ++i) {
    ArgumentInfo &info = arguments[i];
    info.shape.assign(tensors[i].shape, tensors[i].shape + info.argument.rank);
    if (!info.isResult() && info.source.empty() && !options.list)
      chooseSource(i);
  }
  size_t index;
  variant(index); // a number of tokens that no variant takes fails here
}

moe_variant Plan::variant(size_t &index) const {
  moe_variant variant;
  check(moe_bundle_choose(bundle, tensors.data(), tensors.size(), &index));
  check(moe_bundle_variant(bundle, index, &variant));
  return variant;
}

uint64_t Plan::workspaceBytes() const {
  uint64_t bytes = 0;
  check(moe_bundle_workspace(bundle, tensors.data(), tensors.size(), &bytes));
  return bytes;
}

HostBuffer Plan::makeInput(size_t index) const {
  const ArgumentInfo &info = arguments[index];
  int64_t bytes;
  if (!bytesOfArray(info.kind, info.view(), bytes))
    throw Failure("an array of " + info.description() + " is too large");
  HostBuffer values = allocateHost(static_cast<uint64_t>(bytes),
                                   "argument " + std::to_string(index));
  if (info.source != "file") {
    InputRole role = InputRole::Uniform;
    parseInputRole(info.source, role);
    fillRandom(role, info.bound, info.kind, info.view(), options.seed, index,
               values.get());
    return values;
  }
  NpyReader reader;
  std::string problem = reader.open(fileOf(index), info.kind);
  if (problem.empty() && reader.shape() != info.shape)
    problem = fileOf(index) + ": has changed";
  if (problem.empty())
    problem = reader.read(values.get());
  if (!problem.empty())
    throw Failure("argument " + std::to_string(index) + ": " + problem);
  return values;
}
