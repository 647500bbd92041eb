//===- CApi.cpp - the C interface of the runtime -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks pointers and numbers, and turns what is thrown into a status.
//
//===----------------------------------------------------------------------===//

#include "Error.h"
#include "Layer.h"

using namespace mlir::moe::runtime;

// NOLINTBEGIN(readability-identifier-naming): the names of the C interface.

struct moe_device {
  std::unique_ptr<Device> device;
};

struct moe_layer {
  Layer layer;
};

/// Fails where one of the pointers that a function needs is null.
template <typename T>
static void require(const T *pointer, const char *function, const char *name) {
  if (!pointer)
    failArgument(std::string(function) + ": " + name + " is null");
}

static void checkIndex(const char *what, size_t index, size_t count) {
  if (index >= count)
    failArgument("there is no " + std::string(what) + " " +
                 std::to_string(index) + ": the bundle has " +
                 std::to_string(count));
}

static void checkCount(const Bundle &bundle, const moe_tensor *args,
                       size_t count) {
  if (count != bundle.arguments.size())
    failArgument("function " + bundle.function + " takes " +
                 std::to_string(bundle.arguments.size()) +
                 " arguments, results included, but got " +
                 std::to_string(count));
  if (count > 0 && !args)
    failArgument("args is null");
}

uint32_t moe_runtime_version(void) { return MOE_RUNTIME_VERSION; }

const char *moe_last_error(void) { return lastError(); }

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

moe_status moe_bundle_open(const char *path, moe_bundle **bundle) {
  return guarded([&] {
    require(bundle, "moe_bundle_open", "bundle");
    *bundle = nullptr;
    require(path, "moe_bundle_open", "path");
    *bundle = new moe_bundle{openBundle(path)};
  });
}

moe_status moe_bundle_parse(const char *manifest, size_t manifest_bytes,
                            const char *ptx, size_t ptx_bytes,
                            moe_bundle **bundle) {
  return guarded([&] {
    require(bundle, "moe_bundle_parse", "bundle");
    *bundle = nullptr;
    require(manifest, "moe_bundle_parse", "manifest");
    require(ptx, "moe_bundle_parse", "ptx");
    *bundle = new moe_bundle{
        parseBundle({manifest, manifest_bytes}, {ptx, ptx_bytes}, "manifest")};
  });
}

void moe_bundle_close(moe_bundle *bundle) { delete bundle; }

const char *moe_bundle_function(const moe_bundle *bundle) {
  return bundle ? bundle->bundle.function.c_str() : nullptr;
}

const char *moe_bundle_arch(const moe_bundle *bundle) {
  return bundle ? bundle->bundle.arch.c_str() : nullptr;
}

size_t moe_bundle_num_arguments(const moe_bundle *bundle) {
  return bundle ? bundle->bundle.arguments.size() : 0;
}

moe_status moe_bundle_argument(const moe_bundle *bundle, size_t index,
                               moe_argument *argument) {
  return guarded([&] {
    require(bundle, "moe_bundle_argument", "bundle");
    require(argument, "moe_bundle_argument", "argument");
    checkIndex("argument", index, bundle->bundle.arguments.size());
    const Argument &from = bundle->bundle.arguments[index];
    *argument = moe_argument();
    argument->type = from.type;
    argument->rank = static_cast<int32_t>(from.rank());
    argument->is_result = from.isResult;
    argument->alignment = from.alignment;
    for (uint32_t i = 0; i < from.rank(); ++i) {
      argument->shape[i] =
          from.shape[i].isConstant() ? from.shape[i].constant() : -1;
      argument->strides[i] = from.strides.empty() ? -1 : from.strides[i];
    }
  });
}

moe_status moe_bundle_argument_is_written(const moe_bundle *bundle,
                                          size_t index, int32_t *is_written) {
  return guarded([&] {
    require(bundle, "moe_bundle_argument_is_written", "bundle");
    require(is_written, "moe_bundle_argument_is_written", "is_written");
    checkIndex("argument", index, bundle->bundle.arguments.size());
    *is_written = bundle->bundle.arguments[index].isWritten;
  });
}

moe_status moe_bundle_random_input(const moe_bundle *bundle,
                                   const moe_tensor *args, size_t num_args,
                                   size_t index, const char **role,
                                   int64_t *bound) {
  return guarded([&] {
    require(bundle, "moe_bundle_random_input", "bundle");
    require(role, "moe_bundle_random_input", "role");
    require(bound, "moe_bundle_random_input", "bound");
    checkCount(bundle->bundle, args, num_args);
    checkIndex("argument", index, num_args);
    checkShapes(bundle->bundle, args);
    const Argument &argument = bundle->bundle.arguments[index];
    *role = argument.role.empty() ? nullptr : argument.role.c_str();
    *bound = argument.bound.evaluate(args);
  });
}

moe_status moe_bundle_set_tokens(const moe_bundle *bundle, int64_t tokens,
                                 moe_tensor *args, size_t num_args) {
  return guarded([&] {
    require(bundle, "moe_bundle_set_tokens", "bundle");
    checkCount(bundle->bundle, args, num_args);
    setTokens(bundle->bundle, tokens, args);
  });
}

moe_status moe_bundle_solve_shapes(const moe_bundle *bundle, moe_tensor *args,
                                   size_t num_args) {
  return guarded([&] {
    require(bundle, "moe_bundle_solve_shapes", "bundle");
    checkCount(bundle->bundle, args, num_args);
    solveShapes(bundle->bundle, args);
  });
}

moe_status moe_bundle_workspace(const moe_bundle *bundle,
                                const moe_tensor *args, size_t num_args,
                                uint64_t *bytes) {
  return guarded([&] {
    require(bundle, "moe_bundle_workspace", "bundle");
    require(bytes, "moe_bundle_workspace", "bytes");
    checkCount(bundle->bundle, args, num_args);
    checkShapes(bundle->bundle, args);
    size_t variant = chooseVariant(bundle->bundle, args);
    *bytes = layOutWorkspace(bundle->bundle.variants[variant], args, nullptr);
  });
}

size_t moe_bundle_num_kernels(const moe_bundle *bundle) {
  return bundle ? bundle->bundle.kernels.size() : 0;
}

moe_status moe_bundle_kernel(const moe_bundle *bundle, size_t index,
                             moe_kernel *kernel) {
  return guarded([&] {
    require(bundle, "moe_bundle_kernel", "bundle");
    require(kernel, "moe_bundle_kernel", "kernel");
    checkIndex("kernel", index, bundle->bundle.kernels.size());
    const Kernel &from = bundle->bundle.kernels[index];
    *kernel = {from.name.c_str(), from.schedule.c_str(), from.threads,
               from.sharedBytes};
  });
}

size_t moe_bundle_num_variants(const moe_bundle *bundle) {
  return bundle ? bundle->bundle.variants.size() : 0;
}

moe_status moe_bundle_variant(const moe_bundle *bundle, size_t index,
                              moe_variant *variant) {
  return guarded([&] {
    require(bundle, "moe_bundle_variant", "bundle");
    require(variant, "moe_bundle_variant", "variant");
    checkIndex("variant", index, bundle->bundle.variants.size());
    const Variant &from = bundle->bundle.variants[index];
    *variant = {from.minTokens,
                from.maxTokens == INT64_MAX ? -1 : from.maxTokens,
                from.launches.size(), from.maps.size(), from.workspace.size()};
  });
}

moe_status moe_bundle_launch(const moe_bundle *bundle, size_t variant,
                             size_t launch, size_t *kernel) {
  return guarded([&] {
    require(bundle, "moe_bundle_launch", "bundle");
    require(kernel, "moe_bundle_launch", "kernel");
    checkIndex("variant", variant, bundle->bundle.variants.size());
    const Variant &from = bundle->bundle.variants[variant];
    checkIndex("launch", launch, from.launches.size());
    *kernel = from.launches[launch].kernel;
  });
}

moe_status moe_bundle_choose(const moe_bundle *bundle, const moe_tensor *args,
                             size_t num_args, size_t *variant) {
  return guarded([&] {
    require(bundle, "moe_bundle_choose", "bundle");
    require(variant, "moe_bundle_choose", "variant");
    checkCount(bundle->bundle, args, num_args);
    checkShapes(bundle->bundle, args);
    *variant = chooseVariant(bundle->bundle, args);
  });
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

moe_status moe_device_open(const char *name, int ordinal, moe_device **device) {
  return guarded([&] {
    require(device, "moe_device_open", "device");
    *device = nullptr;
    require(name, "moe_device_open", "name");
    *device = new moe_device{openDevice(name, ordinal)};
  });
}

void moe_device_close(moe_device *device) { delete device; }

const char *moe_device_description(const moe_device *device) {
  return device ? device->device->description() : nullptr;
}

const char *moe_device_arch(const moe_device *device) {
  return device ? device->device->arch() : nullptr;
}

moe_status moe_device_allocate(moe_device *device, uint64_t bytes,
                               void **data) {
  return guarded([&] {
    require(device, "moe_device_allocate", "device");
    require(data, "moe_device_allocate", "data");
    *data = nullptr;
    *data = device->device->allocate(bytes);
  });
}

void moe_device_free(moe_device *device, void *data) {
  if (device)
    device->device->release(data);
}

moe_status moe_device_upload(moe_device *device, void *target,
                             const void *source, uint64_t bytes) {
  return guarded([&] {
    require(device, "moe_device_upload", "device");
    if (bytes == 0)
      return;
    require(target, "moe_device_upload", "target");
    require(source, "moe_device_upload", "source");
    device->device->upload(target, source, bytes);
  });
}

moe_status moe_device_download(moe_device *device, void *target,
                               const void *source, uint64_t bytes) {
  return guarded([&] {
    require(device, "moe_device_download", "device");
    if (bytes == 0)
      return;
    require(target, "moe_device_download", "target");
    require(source, "moe_device_download", "source");
    device->device->download(target, source, bytes);
  });
}

moe_status moe_device_mark_unwritten(moe_device *device, void *data,
                                     uint64_t bytes) {
  return guarded([&] {
    require(device, "moe_device_mark_unwritten", "device");
    if (bytes == 0)
      return;
    require(data, "moe_device_mark_unwritten", "data");
    device->device->markUnwritten(data, bytes);
  });
}

moe_status moe_device_synchronize(moe_device *device) {
  return guarded([&] {
    require(device, "moe_device_synchronize", "device");
    device->device->synchronize();
  });
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

moe_status moe_layer_load(const moe_bundle *bundle, moe_device *device,
                          moe_layer **layer) {
  return guarded([&] {
    require(layer, "moe_layer_load", "layer");
    *layer = nullptr;
    require(bundle, "moe_layer_load", "bundle");
    require(device, "moe_layer_load", "device");
    *layer = new moe_layer{Layer(bundle->bundle, *device->device)};
  });
}

void moe_layer_unload(moe_layer *layer) { delete layer; }

moe_status moe_layer_launch(moe_layer *layer, const moe_tensor *args,
                            size_t num_args, void *workspace,
                            uint64_t workspace_bytes, void *stream) {
  return guarded([&] {
    require(layer, "moe_layer_launch", "layer");
    checkCount(layer->layer.bundle, args, num_args);
    layer->layer.launch(args, workspace, workspace_bytes, stream);
  });
}

moe_status moe_layer_time(moe_layer *layer, const moe_tensor *args,
                          size_t num_args, void *workspace,
                          uint64_t workspace_bytes, uint32_t repeats,
                          moe_timing *timing) {
  return guarded([&] {
    require(layer, "moe_layer_time", "layer");
    require(timing, "moe_layer_time", "timing");
    checkCount(layer->layer.bundle, args, num_args);
    if (repeats == 0)
      failArgument("moe_layer_time: repeats must be at least 1");
    *timing = layer->layer.time(args, workspace, workspace_bytes, repeats);
  });
}

const char *moe_layer_code(const moe_layer *layer) {
  return layer ? layer->layer.code() : nullptr;
}

// NOLINTEND(readability-identifier-naming)
