//===- Bundle.h - a compiled layer as the runtime keeps it -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What manifest.json says (include/moe/Bundle/Manifest.h), checked once, in a
// form that a launch only evaluates.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_BUNDLE_H
#define MOE_LIB_RUNTIME_BUNDLE_H

#include "Expression.h"

#include <optional>

namespace mlir::moe::runtime {

/// What a launch keeps on its stack is bounded by these.
constexpr size_t kMaxArguments = 256;
constexpr size_t kMaxWorkspaceBuffers = 256;
constexpr size_t kMaxTensorMaps = 64;
constexpr size_t kMaxLaunchArguments = 256;
/// The rest only has to be sane.
constexpr size_t kMaxKernels = 4096;
constexpr size_t kMaxVariants = 256;
constexpr size_t kMaxLaunches = 4096;
constexpr uint64_t kWorkspaceAlignment = 256;
constexpr unsigned kMaxMapRank = 5;
constexpr uint64_t kTensorMapBytes = 128;

/// Bytes of one element.
uint64_t bytesOf(moe_type type);
const char *nameOf(moe_type type);

struct Argument {
  moe_type type;
  bool isResult;
  /// A result, or an argument that the layer changes in place.
  bool isWritten;
  uint32_t alignment;
  /// Extent i stands for itself where `given[i]`, else it follows.
  std::vector<Expression> shape;
  std::vector<bool> given;
  /// Empty where row-major.
  std::vector<int64_t> strides;
  /// Empty where no random array can be made.
  std::string role;
  Expression bound;

  uint32_t rank() const { return static_cast<uint32_t>(shape.size()); }
};

struct Kernel {
  std::string name;
  std::string schedule;
  uint32_t threads;
  uint32_t sharedBytes;
  /// As the PTX declares them.
  std::vector<uint64_t> parameterBytes;
};

struct WorkspaceBuffer {
  moe_type type;
  std::vector<Expression> shape;
};

/// A tensor map to encode, innermost dimension last.
struct TensorMapSpec {
  uint32_t buffer;
  moe_type type;
  std::vector<Expression> shape;
  std::vector<Expression> strides;
  std::vector<uint32_t> box;
  uint32_t swizzle;
};

struct LaunchArgument {
  enum Kind : uint8_t { Buffer, Map, I32, I64 } kind;
  /// Of the buffer or map.
  uint32_t index;
  Expression scalar;
};

struct Launch {
  uint32_t kernel;
  Expression grid[3];
  std::vector<LaunchArgument> args;
};

/// The launch list for a range of token numbers.
struct Variant {
  int64_t minTokens;
  /// INT64_MAX where there is no bound.
  int64_t maxTokens;
  std::vector<WorkspaceBuffer> workspace;
  std::vector<TensorMapSpec> maps;
  std::vector<Launch> launches;
};

struct Bundle {
  std::string function;
  /// Such as "sm_90a", and its parts: 90 and 'a' (0 where there is none).
  std::string arch;
  int archNumber = 0;
  char archSuffix = 0;
  std::optional<Expression> tokens;
  std::vector<Argument> arguments;
  std::vector<Kernel> kernels;
  std::vector<Variant> variants;
  std::string ptx;
  /// Empty where the bundle has none.
  std::string cubin;
  /// The extents that follow from others, each behind those it needs.
  std::vector<Dimension> following;
};

/// Reads and checks the folder.
Bundle openBundle(const std::string &folder);
/// Checks the two texts; messages name the manifest as `source`.
Bundle parseBundle(const std::string &manifest, std::string ptx,
                   const std::string &source);

//===----------------------------------------------------------------------===//
// Extents of a call
//===----------------------------------------------------------------------===//

/// Fills in extents that are -1 and follow from the others.
void solveShapes(const Bundle &bundle, moe_tensor *args);
/// Checks every extent: none is negative, and those that follow are right.
void checkShapes(const Bundle &bundle, const moe_tensor *args);
/// Writes the number of tokens to the extent that counts them.
void setTokens(const Bundle &bundle, int64_t tokens, moe_tensor *args);
/// The variant for these extents.
size_t chooseVariant(const Bundle &bundle, const moe_tensor *args);
/// From the first byte of argument `index` to behind its last, those between
/// rows included.
uint64_t bytesOfArgument(const Bundle &bundle, size_t index,
                         const moe_tensor *args);
/// Of workspace buffer `index` without what follows up to the next one.
uint64_t bytesOfWorkspace(const Variant &variant, size_t index,
                          const moe_tensor *args);
/// Bytes of the workspace. `offsets`, which may be null, gets where each buffer
/// starts.
uint64_t layOutWorkspace(const Variant &variant, const moe_tensor *args,
                         uint64_t *offsets);

} // namespace mlir::moe::runtime

/// The handle of the C interface.
struct moe_bundle {
  mlir::moe::runtime::Bundle bundle;
};

#endif // MOE_LIB_RUNTIME_BUNDLE_H
