//===- Session.h - a bundle on a device, with its arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_EXEC_SESSION_H
#define MOE_TOOLS_MOE_EXEC_SESSION_H

#include "Options.h"

#include "moe/Data/Elements.h"
#include "moe/Runtime/moe_runtime.h"

#include <memory>
#include <vector>

namespace mlir::moe::exec {

/// Throws the runtime's last error unless `status` is MOE_OK.
void check(moe_status status);

/// Bytes of host memory.
using HostBuffer = std::unique_ptr<unsigned char[]>;
/// Throws Failure, which says what it was for, where there is no memory.
HostBuffer allocateHost(uint64_t bytes, const std::string &purpose);

/// What a bundle says of one argument, and what this run makes of it.
struct ArgumentInfo {
  moe_argument argument;
  bool isWritten;
  ElementKind kind;
  /// Where its values come from: a role with its number, or "file".
  std::string source;
  int64_t bound = 0;
  std::vector<int64_t> shape;

  ShapeView view() const { return {shape.data(), shape.size()}; }
  bool isResult() const { return argument.is_result != 0; }
  bool isStrided() const {
    return argument.rank > 0 && argument.strides[0] >= 0;
  }
  /// Bytes on the device, those between strided rows included.
  uint64_t deviceBytes() const;
  std::string description() const { return describeArray(kind, view()); }
};

/// The bundle with the extents of one call.
class Plan {
public:
  explicit Plan(const Options &options);
  ~Plan() { moe_bundle_close(bundle); }
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  /// Finds every extent: from the files, from --tokens, from the rest.
  void solve();
  /// The variant of this call, and its number.
  moe_variant variant(size_t &index) const;
  uint64_t workspaceBytes() const;

  /// The elements of an argument that is no result, dense.
  HostBuffer makeInput(size_t index) const;
  /// The file that an argument comes from, or empty.
  std::string fileOf(size_t index) const;

  const Options &options;
  moe_bundle *bundle = nullptr;
  std::vector<ArgumentInfo> arguments;
  std::vector<moe_tensor> tensors;

private:
  void readExtents(size_t index, const std::string &file);
  void chooseSource(size_t index);
};

/// The call on a device: memory, launches, results.
class Session {
public:
  /// Opens the device, loads the layer, makes the arguments.
  explicit Session(Plan &plan);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Fills results and workspace with NaN and -1, runs, waits, and returns the
  /// results, dense.
  std::vector<HostBuffer> run();
  moe_timing time(uint32_t repeats);

  std::string device() const { return moe_device_description(handle); }
  std::string code() const { return moe_layer_code(layer); }

private:
  void open();
  void close();
  void uploadInput(size_t index);
  void poison();
  HostBuffer downloadResult(size_t index);

  Plan &plan;
  moe_device *handle = nullptr;
  moe_layer *layer = nullptr;
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
};

} // namespace mlir::moe::exec

#endif // MOE_TOOLS_MOE_EXEC_SESSION_H
