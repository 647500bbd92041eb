//===- Device.h - what can execute the kernels of a bundle -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One interface for every kind of device. A device fails by throwing Error.
// All but the constructor may be called from several threads at once.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_DEVICE_H
#define MOE_LIB_RUNTIME_DEVICE_H

#include "Bundle.h"

#include <functional>
#include <memory>

namespace mlir::moe::runtime {

/// A tensor map as kernels take it, by value.
struct alignas(64) TensorMap {
  unsigned char bytes[kTensorMapBytes];
};

/// What a tensor map describes; the innermost dimension comes first.
struct TensorMapRequest {
  moe_type type;
  uint32_t rank;
  void *address;
  uint64_t extents[kMaxMapRank];
  /// In bytes, of dimensions 1 and up.
  uint64_t strides[kMaxMapRank];
  uint32_t box[kMaxMapRank];
  uint32_t swizzle;
};

/// One kernel with its parameters; `parameters[i]` points to the value of
/// parameter i, which has `kernel->parameterBytes[i]` bytes.
struct LaunchRequest {
  const Kernel *kernel;
  /// What `Module::function` returned for the kernel.
  void *function;
  uint32_t grid[3];
  void **parameters;
};

/// The buffers of one call; `addresses` has those of the arguments, then those
/// of the workspace buffers of the variant. Null where there is no element. A
/// device may put workspace buffers elsewhere and change their addresses.
struct CallRequest {
  const Bundle *bundle;
  const Variant *variant;
  const moe_tensor *args;
  void **addresses;
};

/// Launches one behind the other that the device starts together, for less than
/// what they cost one by one. For one thread at a time.
class LaunchGraph {
public:
  virtual ~LaunchGraph() = default;
  /// Whether the next call may go through the graph. Else it has to launch
  /// kernel by kernel: the stream is being captured, or the graph's last call
  /// was on another stream and may still run, which would hold this one up.
  virtual bool begin(void *stream) = 0;
  /// What launch `index` of this call does. Calls that are on their way keep
  /// what they had.
  virtual void set(size_t index, const LaunchRequest &request) = 0;
  virtual void launch(void *stream) = 0;
};

/// The kernels of a bundle, loaded.
class Module {
public:
  virtual ~Module() = default;
  /// The handle of kernel number `kernel` of the bundle.
  virtual void *function(size_t kernel) const = 0;
  /// "cubin" or "ptx".
  virtual const char *code() const = 0;
  /// A graph of these launches; null where there is nothing to gain.
  virtual std::unique_ptr<LaunchGraph>
  makeGraph(const std::vector<Launch> &launches) {
    (void)launches;
    return nullptr;
  }
};

class Device {
public:
  virtual ~Device() = default;

  virtual const char *description() const = 0;
  /// The chip to compile for.
  virtual const char *arch() const = 0;
  virtual std::unique_ptr<Module> load(const Bundle &bundle) = 0;

  /// Between the two, this thread may encode and launch.
  virtual void enter() = 0;
  virtual void leave() noexcept = 0;
  /// What the launches from here to `leave` work on, and nothing else: for
  /// devices that look for other accesses.
  virtual void beginCall(const CallRequest &request) { (void)request; }
  virtual void encode(const TensorMapRequest &request, TensorMap &map) = 0;
  virtual void launch(const LaunchRequest &request, void *stream) = 0;

  virtual void *allocate(uint64_t bytes) = 0;
  virtual void release(void *data) noexcept = 0;
  virtual void upload(void *target, const void *source, uint64_t bytes) = 0;
  virtual void download(void *target, const void *source, uint64_t bytes) = 0;
  virtual void synchronize() = 0;
  /// Nothing has written these bytes, whatever was uploaded: for devices that
  /// look for uses of such memory.
  virtual void markUnwritten(void *data, uint64_t bytes) {
    (void)data;
    (void)bytes;
  }

  /// Microseconds on the device of one run of what `enqueue` puts on the stream
  /// that it gets, over `repeats` runs back to back.
  virtual double time(const std::function<void(void *stream)> &enqueue,
                      uint32_t repeats) = 0;
};

/// Enters a device for the time of a block.
class DeviceScope {
public:
  explicit DeviceScope(Device &device) : device(device) { device.enter(); }
  ~DeviceScope() { device.leave(); }
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  Device &device;
};

/// Opens device number `ordinal` of the kind `name`.
std::unique_ptr<Device> openDevice(const std::string &name, int ordinal);
std::unique_ptr<Device> openCudaDevice(int ordinal);
/// Makes `openDevice` know another kind, which this library does not hold.
/// `name` has to live as long as the program; before any device is opened.
void addDeviceKind(const char *name,
                   std::unique_ptr<Device> (*open)(int ordinal));

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_DEVICE_H
