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

namespace mlir::moe::runtime {

class Layer {
public:
  /// Loads the kernels; both must outlive the layer.
  Layer(const Bundle &bundle, Device &device);

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
  void encodeMaps(Call &call) const;
  void launchKernel(Call &call, size_t index, void *stream) const;

  Device &device;
  std::unique_ptr<Module> module;
  /// By kernel number.
  std::vector<void *> functions;
};

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_LAYER_H
