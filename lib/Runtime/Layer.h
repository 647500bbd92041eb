//===- Layer.h - a bundle loaded onto a device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_LAYER_H
#define MOE_LIB_RUNTIME_LAYER_H

#include "Device.h"

#include <mutex>

namespace mlir::moe::runtime {

class Layer {
public:
  /// Loads the kernels; both must outlive the layer.
  Layer(const Bundle &bundle, Device &device);
  ~Layer();

  /// Enqueues the launches; `args` has one entry per argument. Allocates only
  /// to fail, and waits for nothing.
  void launch(const moe_tensor *args, void *workspace, uint64_t workspaceBytes,
              void *stream) const;
  moe_timing time(const moe_tensor *args, void *workspace,
                  uint64_t workspaceBytes, uint32_t repeats) const;

  const Bundle &bundle;
  const char *code() const { return module->code(); }

private:
  struct Call;
  struct PreparedLaunch;
  /// The graph of a variant; null where the device makes none.
  struct SharedGraph {
    std::unique_ptr<LaunchGraph> graph;
    std::mutex busy;
  };
  void encodeMaps(Call &call) const;
  bool prepare(Call &call, size_t index, PreparedLaunch &prepared) const;
  void launchOneByOne(Call &call, void *stream) const;
  bool launchAsGraph(Call &call, SharedGraph &shared, void *stream) const;

  Device &device;
  std::unique_ptr<Module> module;
  /// By kernel number.
  std::vector<void *> functions;
  /// By variant number.
  std::unique_ptr<SharedGraph[]> graphs;
};

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_LAYER_H
