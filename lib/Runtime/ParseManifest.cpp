//===- ParseManifest.cpp - check manifest.json -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"
#include "Error.h"
#include "PtxEntries.h"

#include <cctype>
#include <set>

using namespace mlir::moe::runtime;

static constexpr int64_t kVersion = 2;
/// Extents of a tensor map fit 32 bits, those of its boxes are at most this.
static constexpr int64_t kMaxBox = 256;
static constexpr int64_t kMaxGrid[3] = {INT32_MAX, 65535, 65535};
/// Tensor maps take strides and inner boxes in units of this many bytes.
static constexpr uint64_t kMapGranularity = 16;

namespace {
/// Reads the parts of a manifest, in the order in which they build on each
/// other.
class ManifestParser {
public:
  ManifestParser(const JsonField &root, std::string ptx) : root(root) {
    bundle.ptx = std::move(ptx);
  }

  Bundle parse();

private:
  void checkVersion();
  void parseArch();
  void parseArguments();
  Argument parseArgument(const JsonField &field, size_t index);
  void parseInput(const JsonField &field, Argument &argument);
  void orderFollowing();
  void parseTokens();
  void parseKernels();
  void parseVariants();
  void parseRange(const JsonField &field, Variant &variant, bool last);
  void parseWorkspace(const JsonField &field, Variant &variant);
  TensorMapSpec parseMap(const JsonField &field, const Variant &variant);
  void checkBox(const JsonField &field, const TensorMapSpec &map);
  Launch parseLaunch(const JsonField &field, const Variant &variant);
  LaunchArgument parseLaunchArgument(const JsonField &field,
                                     const Variant &variant);
  void checkParameters(const JsonField &field, const Launch &launch);

  Expression expression(const JsonField &field) {
    return Expression::compile(field, ranks);
  }
  /// An expression that, if constant, is within [0, max].
  Expression size(const JsonField &field, int64_t max = INT64_MAX);
  std::vector<Expression> sizes(const JsonField &field, size_t maxRank);
  static moe_type type(const JsonField &field);
  uint32_t buffer(const JsonField &field, const Variant &variant);

  JsonField root;
  Bundle bundle;
  std::vector<uint32_t> ranks;
  std::map<std::string, uint32_t> kernelNumbers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

Expression ManifestParser::size(const JsonField &field, int64_t max) {
  Expression value = expression(field);
  if (value.isConstant() && (value.constant() < 0 || value.constant() > max))
    field.complain("must be from 0 to " + std::to_string(max) + ", but is " +
                   std::to_string(value.constant()));
  return value;
}

std::vector<Expression> ManifestParser::sizes(const JsonField &field,
                                              size_t maxRank) {
  std::vector<Expression> all;
  for (size_t i = 0, e = field.arraySize(0, maxRank); i < e; ++i)
    all.push_back(size(field.at(i)));
  return all;
}

moe_type ManifestParser::type(const JsonField &field) {
  std::string name = field.text(16);
  for (moe_type known : {MOE_F32, MOE_F16, MOE_BF16, MOE_I32, MOE_I64, MOE_I8})
    if (name == nameOf(known))
      return known;
  field.refuse("must be f32, f16, bf16, i32, i64 or i8");
}

uint32_t ManifestParser::buffer(const JsonField &field,
                                const Variant &variant) {
  size_t count = bundle.arguments.size() + variant.workspace.size();
  return static_cast<uint32_t>(
      field.integer(0, static_cast<int64_t>(count) - 1));
}

void ManifestParser::checkVersion() {
  int64_t version = root["version"].integer(0, INT64_MAX);
  if (version == kVersion)
    return;
  std::string text = "is version " + std::to_string(version) +
                     ", this runtime reads version " + std::to_string(kVersion);
  root["version"].complain(
      text + (version < kVersion
                  ? "; compile the layer again with the moe-compile beside it"
                  : "; take the runtime that came with the compiler"));
}

void ManifestParser::parseArch() {
  JsonField field = root["arch"];
  bundle.arch = field.text(16);
  const std::string &arch = bundle.arch;
  size_t end = 3;
  while (end < arch.size() &&
         std::isdigit(static_cast<unsigned char>(arch[end])))
    ++end;
  bool suffix =
      end + 1 == arch.size() && (arch[end] == 'a' || arch[end] == 'f');
  if (arch.compare(0, 3, "sm_") != 0 || end < 5 || end > 6 ||
      (end != arch.size() && !suffix))
    field.refuse("must be a chip such as sm_90a");
  bundle.archNumber = std::stoi(arch.substr(3, end - 3));
  bundle.archSuffix = suffix ? arch[end] : '\0';
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Argument ManifestParser::parseArgument(const JsonField &field, size_t index) {
  Argument argument;
  argument.type = type(field["type"]);
  argument.isResult = field["result"].boolean();
  std::optional<JsonField> written = field.find("written");
  argument.isWritten = (written && written->boolean()) || argument.isResult;
  argument.shape = sizes(field["shape"], MOE_MAX_RANK);
  for (uint32_t i = 0; i < argument.rank(); ++i) {
    Dimension dimension;
    argument.given.push_back(argument.shape[i].isDimension(dimension) &&
                             dimension ==
                                 Dimension{static_cast<uint32_t>(index), i});
  }
  argument.alignment = static_cast<uint32_t>(bytesOf(argument.type));
  if (std::optional<JsonField> alignment = field.find("alignment")) {
    int64_t bytes = alignment->integer(1, 4096);
    if (bytes & (bytes - 1))
      alignment->refuse("must be a power of two");
    argument.alignment =
        std::max(argument.alignment, static_cast<uint32_t>(bytes));
  }
  if (std::optional<JsonField> strides = field.find("strides"))
    for (size_t i = 0, e = strides->arraySize(argument.rank(), argument.rank());
         i < e; ++i)
      argument.strides.push_back(strides->at(i).integer(0, int64_t(1) << 40));
  return argument;
}

void ManifestParser::parseInput(const JsonField &field, Argument &argument) {
  std::optional<JsonField> input = field.find("input");
  if (!input) {
    bool isFloat = argument.type == MOE_F32 || argument.type == MOE_F16 ||
                   argument.type == MOE_BF16;
    if (isFloat && !argument.isResult)
      argument.role = "uniform";
    return;
  }
  if (argument.isResult)
    input->complain("a result has no input");
  argument.role = (*input)["role"].text(64);
  if (std::optional<JsonField> bound = input->find("bound"))
    argument.bound = expression(*bound);
}

/// Orders the extents that follow from others, so that one pass solves them.
void ManifestParser::orderFollowing() {
  std::vector<Dimension> pending;
  std::set<std::pair<uint32_t, uint32_t>> known;
  for (uint32_t i = 0; i < bundle.arguments.size(); ++i)
    for (uint32_t j = 0; j < ranks[i]; ++j) {
      if (bundle.arguments[i].given[j])
        known.emplace(i, j);
      else
        pending.push_back({i, j});
    }
  while (!pending.empty()) {
    std::vector<Dimension> left;
    for (Dimension dimension : pending) {
      bool ready = true;
      for (Dimension needed : bundle.arguments[dimension.argument]
                                  .shape[dimension.dim]
                                  .dimensions())
        ready &= known.count({needed.argument, needed.dim}) != 0;
      if (!ready) {
        left.push_back(dimension);
        continue;
      }
      known.emplace(dimension.argument, dimension.dim);
      bundle.following.push_back(dimension);
    }
    if (left.size() == pending.size())
      root["arguments"].complain(
          "extents that follow from each other in a circle: args[" +
          std::to_string(left[0].argument) + "].shape[" +
          std::to_string(left[0].dim) + "] is one");
    pending = std::move(left);
  }
}

void ManifestParser::parseArguments() {
  JsonField fields = root["arguments"];
  size_t count = fields.arraySize(0, kMaxArguments);
  // Expressions name any argument, so that all ranks come first.
  for (size_t i = 0; i < count; ++i)
    ranks.push_back(static_cast<uint32_t>(
        fields.at(i)["shape"].arraySize(0, MOE_MAX_RANK)));
  for (size_t i = 0; i < count; ++i) {
    bundle.arguments.push_back(parseArgument(fields.at(i), i));
    parseInput(fields.at(i), bundle.arguments.back());
  }
  orderFollowing();
}

void ManifestParser::parseTokens() {
  if (std::optional<JsonField> tokens = root.find("tokens"))
    bundle.tokens = expression(*tokens);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void ManifestParser::parseKernels() {
  PtxSummary ptx = summarizePtx(bundle.ptx);
  if (ptx.target != bundle.arch)
    root["arch"].complain("is " + bundle.arch + ", but kernels.ptx is for " +
                          (ptx.target.empty() ? "no chip" : ptx.target));
  JsonField fields = root["kernels"];
  for (size_t i = 0, e = fields.arraySize(0, kMaxKernels); i < e; ++i) {
    JsonField field = fields.at(i);
    Kernel kernel;
    kernel.name = field["name"].text(1024);
    kernel.threads = static_cast<uint32_t>(field["threads"].integer(1, 1024));
    kernel.sharedBytes =
        static_cast<uint32_t>(field["shared"].integer(0, 1 << 20));
    if (std::optional<JsonField> schedule = field.find("schedule"))
      kernel.schedule = schedule->text(4096);
    auto entry = ptx.entries.find(kernel.name);
    if (entry == ptx.entries.end())
      field["name"].refuse("must be an .entry of kernels.ptx");
    kernel.parameterBytes = entry->second.parameterBytes;
    if (!kernelNumbers.emplace(kernel.name, i).second)
      field["name"].refuse("must differ from the other kernels' names");
    bundle.kernels.push_back(std::move(kernel));
  }
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

void ManifestParser::parseRange(const JsonField &field, Variant &variant,
                                bool last) {
  field.arraySize(2, 2);
  variant.minTokens = field.at(0).integer(0, INT64_MAX);
  if (field.at(1).isNull() && !last)
    field.at(1).refuse("must be a number of tokens: only the last variant may "
                       "have no bound");
  variant.maxTokens = field.at(1).isNull()
                          ? INT64_MAX
                          : field.at(1).integer(variant.minTokens, INT64_MAX);
  bool all = variant.minTokens == 0 && variant.maxTokens == INT64_MAX;
  if (!bundle.tokens && !all)
    field.complain("must be [0, null], because \"tokens\" is null");
  if (!bundle.variants.empty() &&
      variant.minTokens <= bundle.variants.back().maxTokens)
    field.at(0).refuse("must exceed the " +
                       std::to_string(bundle.variants.back().maxTokens) +
                       " of the variant before");
}

void ManifestParser::parseWorkspace(const JsonField &field, Variant &variant) {
  for (size_t i = 0, e = field.arraySize(0, kMaxWorkspaceBuffers); i < e; ++i)
    variant.workspace.push_back(
        {type(field.at(i)["type"]), sizes(field.at(i)["shape"], 64)});
}

/// What the hardware asks of a box under its swizzle.
void ManifestParser::checkBox(const JsonField &field,
                              const TensorMapSpec &map) {
  uint64_t inner = map.box.back() * bytesOf(map.type);
  if (inner % kMapGranularity)
    field["box"].complain(
        "must have a multiple of " + std::to_string(kMapGranularity) +
        " bytes as innermost extent, but has " + std::to_string(inner));
  if (map.swizzle > 0 && inner > map.swizzle)
    field["box"].complain(
        "must have at most the swizzle's " + std::to_string(map.swizzle) +
        " bytes as innermost extent, but has " + std::to_string(inner));
  for (size_t i = 0; i + 1 < map.strides.size(); ++i)
    if (map.strides[i].isConstant() &&
        static_cast<uint64_t>(map.strides[i].constant()) * bytesOf(map.type) %
            kMapGranularity)
      field["strides"].at(i).refuse("must be a multiple of " +
                                    std::to_string(kMapGranularity) + " bytes");
  if (!map.strides.back().isConstant() || map.strides.back().constant() != 1)
    field["strides"].complain("must end with 1");
}

TensorMapSpec ManifestParser::parseMap(const JsonField &field,
                                       const Variant &variant) {
  TensorMapSpec map;
  map.buffer = buffer(field["buffer"], variant);
  map.type = type(field["type"]);
  field["shape"].arraySize(1, kMaxMapRank);
  map.shape = sizes(field["shape"], kMaxMapRank);
  field["strides"].arraySize(map.shape.size(), map.shape.size());
  for (size_t i = 0; i < map.shape.size(); ++i)
    map.strides.push_back(size(field["strides"].at(i), (int64_t(1) << 40) - 1));
  field["box"].arraySize(map.shape.size(), map.shape.size());
  for (size_t i = 0; i < map.shape.size(); ++i)
    map.box.push_back(
        static_cast<uint32_t>(field["box"].at(i).integer(1, kMaxBox)));
  int64_t swizzle = field["swizzle"].integer(0, 128);
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    field["swizzle"].refuse("must be 0, 32, 64 or 128");
  map.swizzle = static_cast<uint32_t>(swizzle);
  checkBox(field, map);
  return map;
}

LaunchArgument ManifestParser::parseLaunchArgument(const JsonField &field,
                                                   const Variant &variant) {
  if (std::optional<JsonField> number = field.find("buffer"))
    return {LaunchArgument::Buffer, buffer(*number, variant), {}};
  if (std::optional<JsonField> number = field.find("map"))
    return {LaunchArgument::Map,
            static_cast<uint32_t>(number->integer(
                0, static_cast<int64_t>(variant.maps.size()) - 1)),
            {}};
  std::optional<JsonField> scalar = field.find("scalar");
  if (!scalar)
    field.complain("has no \"buffer\", \"map\" or \"scalar\"");
  std::string name = field["type"].text(16);
  if (name != "i32" && name != "i64")
    field["type"].refuse("must be i32 or i64");
  LaunchArgument arg{name == "i32" ? LaunchArgument::I32 : LaunchArgument::I64,
                     0, expression(*scalar)};
  int64_t value = arg.scalar.isConstant() ? arg.scalar.constant() : 0;
  if (name == "i32" && (value < INT32_MIN || value > INT32_MAX))
    scalar->complain("does not fit i32: " + std::to_string(value));
  return arg;
}

void ManifestParser::checkParameters(const JsonField &field,
                                     const Launch &launch) {
  const Kernel &kernel = bundle.kernels[launch.kernel];
  const std::vector<uint64_t> &declared = kernel.parameterBytes;
  if (launch.args.size() != declared.size())
    field["args"].complain("has " + std::to_string(launch.args.size()) +
                           " elements, but kernel " + kernel.name + " takes " +
                           std::to_string(declared.size()));
  for (size_t i = 0; i < declared.size(); ++i) {
    uint64_t bytes = launch.args[i].kind == LaunchArgument::I32 ? 4
                     : launch.args[i].kind == LaunchArgument::Map
                         ? kTensorMapBytes
                         : 8;
    if (bytes != declared[i])
      field["args"].at(i).complain(
          "is a parameter of " + std::to_string(bytes) + " bytes, but kernel " +
          kernel.name + " declares " + std::to_string(declared[i]));
  }
}

Launch ManifestParser::parseLaunch(const JsonField &field,
                                   const Variant &variant) {
  Launch launch;
  std::string name = field["kernel"].text(1024);
  auto kernel = kernelNumbers.find(name);
  if (kernel == kernelNumbers.end())
    field["kernel"].refuse("must be the name of one of \"kernels\"");
  launch.kernel = kernel->second;
  field["grid"].arraySize(3, 3);
  for (size_t i = 0; i < 3; ++i)
    launch.grid[i] = size(field["grid"].at(i), kMaxGrid[i]);
  JsonField args = field["args"];
  for (size_t i = 0, e = args.arraySize(0, kMaxLaunchArguments); i < e; ++i)
    launch.args.push_back(parseLaunchArgument(args.at(i), variant));
  checkParameters(field, launch);
  return launch;
}

void ManifestParser::parseVariants() {
  JsonField fields = root["variants"];
  size_t count = fields.arraySize(1, bundle.tokens ? kMaxVariants : 1);
  for (size_t i = 0; i < count; ++i) {
    JsonField field = fields.at(i);
    Variant variant;
    parseRange(field["tokens"], variant, i + 1 == count);
    parseWorkspace(field["workspace"], variant);
    JsonField maps = field["maps"];
    for (size_t j = 0, e = maps.arraySize(0, kMaxTensorMaps); j < e; ++j)
      variant.maps.push_back(parseMap(maps.at(j), variant));
    JsonField launches = field["launches"];
    for (size_t j = 0, e = launches.arraySize(0, kMaxLaunches); j < e; ++j)
      variant.launches.push_back(parseLaunch(launches.at(j), variant));
    bundle.variants.push_back(std::move(variant));
  }
}

Bundle ManifestParser::parse() {
  checkVersion();
  bundle.function = root["function"].text(1024);
  parseArch();
  parseArguments();
  parseTokens();
  parseKernels();
  parseVariants();
  return std::move(bundle);
}

Bundle mlir::moe::runtime::parseBundle(const std::string &manifest,
                                       std::string ptx,
                                       const std::string &source) {
  try {
    nlohmann::json document = parseJson(manifest.data(), manifest.size());
    return ManifestParser(JsonField(document), std::move(ptx)).parse();
  } catch (const Error &error) {
    fail(error.status(), source + ": " + error.what());
  }
}
