//===- RuntimeDevice.cpp - the emulator as a device of the runtime -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/RuntimeDevice.h"

#include "../Runtime/Error.h"
#include "CallMemory.h"

#include "moe/Emulator/Launch.h"
#include "moe/Emulator/TensorMap.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

using namespace mlir::moe;

/// Of all devices of this process that are opened from now on.
static emulator::DeviceOptions deviceOptions;

namespace {
/// A kernel of a loaded bundle.
struct Function {
  std::shared_ptr<const emulator::Module> module;
  std::string entry;
};

class EmulatorModule : public runtime::Module {
public:
  explicit EmulatorModule(const runtime::Bundle &bundle);

  void *function(size_t kernel) const override {
    return const_cast<Function *>(&functions[kernel]);
  }
  const char *code() const override { return "ptx"; }

private:
  std::vector<Function> functions;
};

/// Runs a launch before it returns from it: streams have nothing to order. One
/// call runs at a time, on all processors.
class EmulatorDevice : public runtime::Device {
public:
  const char *description() const override { return "emulator (sm_90a)"; }
  const char *arch() const override { return "sm_90a"; }
  std::unique_ptr<runtime::Module> load(const runtime::Bundle &bundle) override;
  void enter() override { busy.lock(); }
  void leave() noexcept override;
  void beginCall(const runtime::CallRequest &request) override;
  void encode(const runtime::TensorMapRequest &request,
              runtime::TensorMap &map) override;
  void launch(const runtime::LaunchRequest &request, void *stream) override;
  void *allocate(uint64_t bytes) override;
  void release(void *data) noexcept override;
  void upload(void *target, const void *source, uint64_t bytes) override;
  void download(void *target, const void *source, uint64_t bytes) override;
  void synchronize() override {}
  void markUnwritten(void *data, uint64_t bytes) override;
  double time(const std::function<void(void *)> &enqueue,
              uint32_t repeats) override;

private:
  /// Held from `enter` to `leave`, and while `memory` changes.
  std::recursive_mutex busy;
  emulator::Memory memory;
  /// From `beginCall` to `leave`.
  std::optional<emulator::CallMemory> call;
  emulator::DeviceOptions options = deviceOptions;
};
} // namespace

/// Runs `action`; errors of the emulator become errors of the runtime.
template <typename Action>
static void translating(moe_status status, Action action) {
  try {
    action();
  } catch (const emulator::Error &error) {
    runtime::fail(status, error.what());
  }
}

EmulatorModule::EmulatorModule(const runtime::Bundle &bundle) {
  translating(MOE_INVALID_BUNDLE, [&] {
    auto module = emulator::Module::parse(bundle.ptx);
    for (const runtime::Kernel &kernel : bundle.kernels) {
      module->entry(kernel.name);
      functions.push_back({module, kernel.name});
    }
  });
}

std::unique_ptr<runtime::Module>
EmulatorDevice::load(const runtime::Bundle &bundle) {
  return std::make_unique<EmulatorModule>(bundle);
}

static emulator::ElementType elementTypeOf(moe_type type) {
  switch (type) {
  case MOE_I8:
    return emulator::ElementType::UInt8;
  case MOE_I32:
    return emulator::ElementType::UInt32;
  case MOE_I64:
    return emulator::ElementType::Int64;
  case MOE_F16:
    return emulator::ElementType::Float16;
  case MOE_F32:
    return emulator::ElementType::Float32;
  case MOE_BF16:
    return emulator::ElementType::BFloat16;
  }
  return emulator::ElementType::UInt8;
}

void EmulatorDevice::encode(const runtime::TensorMapRequest &request,
                            runtime::TensorMap &map) {
  emulator::TensorMap ours;
  ours.address = request.address;
  ours.rank = request.rank;
  ours.type = elementTypeOf(request.type);
  ours.swizzle = request.swizzle;
  std::copy(request.extents, request.extents + request.rank, ours.extents);
  std::copy(request.strides, request.strides + (request.rank - 1),
            ours.strides);
  std::copy(request.box, request.box + request.rank, ours.box);
  translating(MOE_INVALID_ARGUMENT, [&] { ours.encode(&map); });
}

void EmulatorDevice::beginCall(const runtime::CallRequest &request) {
  translating(MOE_INVALID_ARGUMENT, [&] { call.emplace(request, memory); });
}

void EmulatorDevice::leave() noexcept {
  if (call)
    call->finish();
  call.reset();
  busy.unlock();
}

void EmulatorDevice::launch(const runtime::LaunchRequest &request, void *) {
  const auto &function = *static_cast<const Function *>(request.function);
  const runtime::Kernel &kernel = *request.kernel;
  emulator::Launch launch;
  launch.module = function.module;
  launch.entry = function.entry;
  std::copy(request.grid, request.grid + 3, launch.grid);
  launch.block[0] = kernel.threads;
  launch.sharedBytes = kernel.sharedBytes;
  launch.checks = options.checks;
  // An op computes a row that nobody wrote from one that nobody wrote; where
  // that is wrong, the result is NaN and the reference's is not.
  launch.carriesUndefined = true;
  launch.seed = options.seed;
  launch.contracts = call->contracts();
  translating(MOE_DEVICE_ERROR, [&] {
    for (size_t i = 0; i < kernel.parameterBytes.size(); ++i)
      launch.setParameter(i, request.parameters[i], kernel.parameterBytes[i]);
    emulator::Report report = run(launch, call->memory());
    if (options.finished)
      options.finished(kernel.name, report);
    std::string text;
    for (const emulator::Hazard &hazard : report.hazards)
      text += (text.empty() ? "" : "\n") + hazard.format();
    if (!text.empty())
      runtime::fail(MOE_DEVICE_ERROR, text);
  });
}

void *EmulatorDevice::allocate(uint64_t bytes) {
  void *data = nullptr;
  std::lock_guard<std::recursive_mutex> lock(busy);
  translating(MOE_OUT_OF_MEMORY,
              [&] { data = memory.allocate(bytes, "device memory"); });
  return data;
}

void EmulatorDevice::release(void *data) noexcept {
  std::lock_guard<std::recursive_mutex> lock(busy);
  memory.release(data);
}

void EmulatorDevice::upload(void *target, const void *source, uint64_t bytes) {
  if (bytes == 0)
    return;
  std::lock_guard<std::recursive_mutex> lock(busy);
  translating(MOE_INVALID_ARGUMENT, [&] { memory.markDefined(target, bytes); });
  std::memcpy(target, source, bytes);
}

void EmulatorDevice::download(void *target, const void *source,
                              uint64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(busy);
  if (bytes > 0)
    std::memcpy(target, source, bytes);
}

void EmulatorDevice::markUnwritten(void *data, uint64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(busy);
  translating(MOE_INVALID_ARGUMENT, [&] { memory.markUndefined(data, bytes); });
}

double EmulatorDevice::time(const std::function<void(void *)> &enqueue,
                            uint32_t repeats) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  for (uint32_t i = 0; i < repeats; ++i)
    enqueue(nullptr);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
             .count() /
         repeats;
}

static std::unique_ptr<runtime::Device> openEmulatorDevice(int ordinal) {
  if (ordinal != 0)
    runtime::fail(MOE_NO_DEVICE, "there is no emulator " +
                                     std::to_string(ordinal) +
                                     ": there is one, number 0");
  return std::make_unique<EmulatorDevice>();
}

void emulator::addEmulatorDevice(const DeviceOptions &options) {
  static const bool added =
      (runtime::addDeviceKind("emulator", openEmulatorDevice), true);
  (void)added;
  deviceOptions = options;
}
