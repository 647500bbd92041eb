//===- Layer.cpp - a bundle loaded onto a device -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layer.h"

#include "Error.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace mlir::moe::runtime;

static constexpr int64_t kMaxGrid[3] = {INT32_MAX, 65535, 65535};
/// What a tensor map can hold.
static constexpr int64_t kMaxMapExtent = int64_t(1) << 32;
static constexpr int64_t kMaxMapStrideBytes = (int64_t(1) << 40) - 1;

/// Runs `action` and puts the name of the variant in front of errors.
template <typename Action>
static void namingVariant(const Bundle &bundle, const Variant &variant,
                          Action action) {
  try {
    action();
  } catch (const Error &error) {
    fail(error.status(), "variant " +
                             std::to_string(&variant - bundle.variants.data()) +
                             ", " + std::to_string(variant.launches.size()) +
                             " launches: " + error.what());
  }
}

Layer::Layer(const Bundle &bundle, Device &device)
    : bundle(bundle), device(device), module(device.load(bundle)),
      graphs(new SharedGraph[bundle.variants.size()]) {
  for (size_t i = 0; i < bundle.kernels.size(); ++i)
    functions.push_back(module->function(i));
  DeviceScope scope(device);
  for (size_t i = 0; i < bundle.variants.size(); ++i)
    namingVariant(bundle, bundle.variants[i], [&] {
      graphs[i].graph = module->makeGraph(bundle.variants[i].launches);
    });
}

Layer::~Layer() {
  try {
    DeviceScope scope(device);
    graphs.reset();
  } catch (const Error &) {
    // A context that is gone has taken the graphs along.
    for (size_t i = 0; i < bundle.variants.size(); ++i) {
      LaunchGraph *gone = graphs[i].graph.release();
      static_cast<void>(gone);
    }
  }
}

/// What one call works on; lives on the stack.
struct Layer::Call {
  const Variant *variant;
  const moe_tensor *args;
  /// Of the arguments, then of the workspace buffers.
  void *addresses[kMaxArguments + kMaxWorkspaceBuffers];
  TensorMap maps[kMaxTensorMaps];
};

static void checkAddress(const Argument &argument, size_t index,
                         const moe_tensor &tensor) {
  if (!tensor.data) {
    for (size_t i = 0; i < argument.rank(); ++i)
      if (tensor.shape[i] == 0)
        return;
    failArgument("argument " + std::to_string(index) +
                 ": the address is null, but no extent is 0");
  }
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (address % argument.alignment)
    failArgument("argument " + std::to_string(index) +
                 ": the address must be a multiple of " +
                 std::to_string(argument.alignment) + " bytes, but is " +
                 std::to_string(address % argument.alignment) + " beyond one");
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Fills in the request; false where the map describes no element.
static bool fillRequest(const TensorMapSpec &map, const moe_tensor *args,
                        TensorMapRequest &request) {
  auto rank = static_cast<uint32_t>(map.shape.size());
  request.type = map.type;
  request.rank = rank;
  request.swizzle = map.swizzle;
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t outer = rank - 1 - i;
    int64_t extent = map.shape[outer].evaluate(args);
    if (extent == 0)
      return false;
    if (extent < 0 || extent > kMaxMapExtent)
      failArgument("extent " + std::to_string(outer) + " must be from 0 to " +
                   std::to_string(kMaxMapExtent) + ", but is " +
                   std::to_string(extent));
    request.extents[i] = static_cast<uint64_t>(extent);
    request.box[i] = map.box[outer];
    if (i == 0)
      continue;
    int64_t stride = map.strides[outer].evaluate(args), bytes;
    if (__builtin_mul_overflow(stride, int64_t(bytesOf(map.type)), &bytes) ||
        bytes < 0 || bytes > kMaxMapStrideBytes || bytes % 16)
      failArgument("stride " + std::to_string(outer) +
                   " must be a multiple of 16 bytes below 2^40, but is " +
                   std::to_string(stride) + " elements");
    request.strides[i - 1] = static_cast<uint64_t>(bytes);
  }
  return true;
}

void Layer::encodeMaps(Call &call) const {
  const std::vector<TensorMapSpec> &maps = call.variant->maps;
  for (size_t i = 0; i < maps.size(); ++i) {
    TensorMapRequest request;
    request.address = call.addresses[maps[i].buffer];
    try {
      // A map of nothing cannot be encoded; no kernel reads through it.
      if (request.address && fillRequest(maps[i], call.args, request))
        device.encode(request, call.maps[i]);
      else
        std::memset(&call.maps[i], 0, sizeof(TensorMap));
    } catch (const Error &error) {
      fail(error.status(), "tensor map " + std::to_string(i) + " of buffer " +
                               std::to_string(maps[i].buffer) + ": " +
                               error.what());
    }
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Evaluates the grid; false where it has no block.
static bool evaluateGrid(const Launch &launch, const moe_tensor *args,
                         uint32_t *grid) {
  bool empty = false;
  for (size_t i = 0; i < 3; ++i) {
    int64_t extent = launch.grid[i].evaluate(args);
    if (extent < 0 || extent > kMaxGrid[i])
      failArgument("extent " + std::to_string(i) +
                   " of the grid must be from 0 to " +
                   std::to_string(kMaxGrid[i]) + ", but is " +
                   std::to_string(extent) + " = " + launch.grid[i].text());
    grid[i] = static_cast<uint32_t>(extent);
    empty |= extent == 0;
  }
  return !empty;
}

/// A launch with what its parameters point to; lives on the stack.
struct Layer::PreparedLaunch {
  LaunchRequest request;
  int64_t scalars[kMaxLaunchArguments];
  void *parameters[kMaxLaunchArguments];
};

/// Fills in the launch; false where it has no block to run.
bool Layer::prepare(Call &call, size_t index, PreparedLaunch &prepared) const {
  const Launch &launch = call.variant->launches[index];
  LaunchRequest &request = prepared.request;
  if (!evaluateGrid(launch, call.args, request.grid))
    return false;
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const LaunchArgument &arg = launch.args[i];
    void *&parameter = prepared.parameters[i];
    if (arg.kind == LaunchArgument::Buffer) {
      parameter = static_cast<void *>(&call.addresses[arg.index]);
      continue;
    }
    if (arg.kind == LaunchArgument::Map) {
      parameter = &call.maps[arg.index];
      continue;
    }
    // An i32 is the low half, which comes first in memory.
    int64_t &scalar = prepared.scalars[i];
    scalar = arg.scalar.evaluate(call.args);
    if (arg.kind == LaunchArgument::I32 &&
        (scalar < INT32_MIN || scalar > INT32_MAX))
      failArgument("parameter " + std::to_string(i) +
                   " must fit 32 bits, but is " + std::to_string(scalar) +
                   " = " + arg.scalar.text());
    parameter = &scalar;
  }
  request.kernel = &bundle.kernels[launch.kernel];
  request.function = functions[launch.kernel];
  request.parameters = prepared.parameters;
  return true;
}

/// Runs `action` for launch `index` and puts its name in front of errors.
template <typename Action>
static void namingLaunch(const Bundle &bundle, const Variant &variant,
                         size_t index, Action action) {
  try {
    action();
  } catch (const Error &error) {
    fail(error.status(),
         "launch " + std::to_string(index) + ", kernel " +
             bundle.kernels[variant.launches[index].kernel].name + ": " +
             error.what());
  }
}

void Layer::launchOneByOne(Call &call, void *stream) const {
  PreparedLaunch prepared;
  for (size_t i = 0; i < call.variant->launches.size(); ++i)
    namingLaunch(bundle, *call.variant, i, [&] {
      if (prepare(call, i, prepared))
        device.launch(prepared.request, stream);
    });
}

/// False where nothing was launched: another thread is using the graph, it does
/// not suit the stream, or not every kernel has a block to run.
bool Layer::launchAsGraph(Call &call, SharedGraph &shared, void *stream) const {
  if (!shared.graph)
    return false;
  std::unique_lock<std::mutex> lock(shared.busy, std::try_to_lock);
  if (!lock || !shared.graph->begin(stream))
    return false;
  PreparedLaunch prepared;
  bool complete = true;
  for (size_t i = 0; i < call.variant->launches.size() && complete; ++i)
    namingLaunch(bundle, *call.variant, i, [&] {
      complete = prepare(call, i, prepared);
      if (complete)
        shared.graph->set(i, prepared.request);
    });
  if (complete)
    namingVariant(bundle, *call.variant, [&] { shared.graph->launch(stream); });
  return complete;
}

void Layer::launch(const moe_tensor *args, void *workspace,
                   uint64_t workspaceBytes, void *stream) const {
  checkShapes(bundle, args);
  Call call;
  call.args = args;
  size_t numArguments = bundle.arguments.size();
  for (size_t i = 0; i < numArguments; ++i) {
    checkAddress(bundle.arguments[i], i, args[i]);
    call.addresses[i] = args[i].data;
  }
  size_t variant = chooseVariant(bundle, args);
  call.variant = &bundle.variants[variant];

  uint64_t offsets[kMaxWorkspaceBuffers];
  uint64_t needed = layOutWorkspace(*call.variant, args, offsets);
  if (needed > workspaceBytes || (needed > 0 && !workspace))
    failArgument("the workspace must have " + std::to_string(needed) +
                 " bytes, but " +
                 (workspace ? "has " + std::to_string(workspaceBytes)
                            : std::string("is null")));
  if (reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment)
    failArgument("the address of the workspace must be a multiple of " +
                 std::to_string(kWorkspaceAlignment));
  for (size_t i = 0; i < call.variant->workspace.size(); ++i)
    call.addresses[numArguments + i] =
        workspace ? static_cast<char *>(workspace) + offsets[i] : nullptr;

  DeviceScope scope(device);
  device.beginCall({&bundle, call.variant, args, call.addresses});
  encodeMaps(call);
  if (!launchAsGraph(call, graphs[variant], stream))
    launchOneByOne(call, stream);
}

moe_timing Layer::time(const moe_tensor *args, void *workspace,
                       uint64_t workspaceBytes, uint32_t repeats) const {
  using Clock = std::chrono::steady_clock;
  constexpr uint32_t kWarmUps = 3;
  // Longer queues block the caller, which would count as its own time.
  constexpr uint32_t kQueued = 16;
  auto enqueue = [&](void *stream) {
    launch(args, workspace, workspaceBytes, stream);
  };
  for (uint32_t i = 0; i < kWarmUps; ++i)
    enqueue(nullptr);
  std::chrono::duration<double, std::micro> host(0);
  for (uint32_t done = 0; done < repeats; done += kQueued) {
    device.synchronize();
    auto start = Clock::now();
    for (uint32_t i = done; i < std::min(repeats, done + kQueued); ++i)
      enqueue(nullptr);
    host += Clock::now() - start;
  }
  device.synchronize();
  return {device.time(enqueue, repeats), host.count() / repeats};
}
