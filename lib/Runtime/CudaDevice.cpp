//===- CudaDevice.cpp - NVIDIA GPUs through the driver -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "CudaLaunchGraph.h"
#include "Device.h"
#include "Error.h"

#include <algorithm>
#include <vector>

using namespace mlir::moe::runtime;
using namespace mlir::moe::runtime::cuda;

/// Takes the driver's log about code that it refuses.
static constexpr size_t kJitLogBytes = 4096;

namespace {
class CudaDevice;

class CudaModule : public Module {
public:
  CudaModule(CudaDevice &device, const Bundle &bundle);
  ~CudaModule() override;

  void *function(size_t kernel) const override { return functions[kernel]; }
  const char *code() const override { return isCubin ? "cubin" : "ptx"; }
  std::unique_ptr<LaunchGraph>
  makeGraph(const std::vector<Launch> &launches) override;

private:
  Result loadImage(const std::string &image, std::string &log);
  void loadCode(const Bundle &bundle);
  void loadFunction(const Kernel &kernel);
  void checkParameters(const Kernel &kernel, Handle function) const;

  CudaDevice &device;
  const Bundle &bundle;
  Handle module = nullptr;
  bool isCubin = false;
  std::vector<void *> functions;
};

class CudaDevice : public Device {
public:
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;

  const char *description() const override { return text.c_str(); }
  const char *arch() const override;
  std::unique_ptr<Module> load(const Bundle &bundle) override;
  void enter() override;
  void leave() noexcept override;
  bool tryEnter() noexcept { return driver.contextPush(context) == kSuccess; }
  void encode(const TensorMapRequest &request, TensorMap &map) override;
  void launch(const LaunchRequest &request, void *stream) override;
  void *allocate(uint64_t bytes) override;
  void release(void *data) noexcept override;
  void upload(void *target, const void *source, uint64_t bytes) override;
  void download(void *target, const void *source, uint64_t bytes) override;
  void synchronize() override;
  double time(const std::function<void(void *)> &enqueue,
              uint32_t repeats) override;

  int attribute(DeviceAttribute attribute) const;
  /// 90 for 9.0.
  int capability() const { return computeCapability; }
  int maxSharedBytes() const { return sharedBytes; }

  const CudaDriver &driver;

private:
  int device = 0;
  int computeCapability = 0;
  int sharedBytes = 0;
  Handle context = nullptr;
  std::string text;
};
} // namespace

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

CudaDevice::CudaDevice(int ordinal) : driver(CudaDriver::get()) {
  int count = 0;
  driver.check(driver.deviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count)
    fail(MOE_NO_DEVICE, "there is no cuda device " + std::to_string(ordinal) +
                            ": the driver shows " + std::to_string(count));
  driver.check(driver.deviceGet(&device, ordinal), "cuDeviceGet");
  computeCapability = attribute(ComputeCapabilityMajor) * 10 +
                      attribute(ComputeCapabilityMinor);
  sharedBytes = attribute(MaxSharedPerBlockOptin);
  char name[128] = "";
  driver.check(driver.deviceGetName(name, sizeof(name), device),
               "cuDeviceGetName");
  text = std::string(name) + " (sm_" + std::to_string(computeCapability) + ")";
  driver.check(driver.primaryRetain(&context, device),
               "cuDevicePrimaryCtxRetain");
}

CudaDevice::~CudaDevice() { driver.primaryRelease(device); }

const char *CudaDevice::arch() const {
  if (computeCapability == 90)
    return "sm_90a";
  // Code for a chip runs on later ones; the instructions of sm_90a do not.
  if (computeCapability > 90)
    return "sm_90";
  return computeCapability == 89 ? "sm_89" : "sm_80";
}

int CudaDevice::attribute(DeviceAttribute attribute) const {
  int value = 0;
  driver.check(driver.deviceGetAttribute(&value, attribute, device),
               "cuDeviceGetAttribute");
  return value;
}

// Pushing and popping costs tens of nanoseconds and leaves the caller's
// context, if any, as it was.
void CudaDevice::enter() {
  driver.check(driver.contextPush(context), "cuCtxPushCurrent");
}

void CudaDevice::leave() noexcept {
  Handle ours = nullptr;
  driver.contextPop(&ours);
}

static int dataTypeOf(moe_type type) {
  switch (type) {
  case MOE_I8: // by size: the copy does not look at the values
    return 0;
  case MOE_I32:
    return 3;
  case MOE_I64:
    return 5;
  case MOE_F16:
    return 6;
  case MOE_F32:
    return 7;
  case MOE_BF16:
    return 9;
  }
  return 0;
}

void CudaDevice::encode(const TensorMapRequest &request, TensorMap &map) {
  constexpr int kInterleaveNone = 0, kPromotion256B = 3, kFillNone = 0;
  constexpr uint32_t kOnes[kMaxMapRank] = {1, 1, 1, 1, 1};
  int swizzle = request.swizzle == 0    ? 0
                : request.swizzle == 32 ? 1
                : request.swizzle == 64 ? 2
                                        : 3;
  if (!driver.tensorMapEncodeTiled)
    fail(MOE_DEVICE_ERROR, "the driver is too old for tensor maps: CUDA 12 "
                           "has cuTensorMapEncodeTiled");
  driver.check(driver.tensorMapEncodeTiled(&map, dataTypeOf(request.type),
                                           request.rank, request.address,
                                           request.extents, request.strides,
                                           request.box, kOnes, kInterleaveNone,
                                           swizzle, kPromotion256B, kFillNone),
               "cuTensorMapEncodeTiled");
}

void CudaDevice::launch(const LaunchRequest &request, void *stream) {
  const Kernel &kernel = *request.kernel;
  driver.check(driver.launchKernel(request.function, request.grid[0],
                                   request.grid[1], request.grid[2],
                                   kernel.threads, 1, 1, kernel.sharedBytes,
                                   stream, request.parameters, nullptr),
               "cuLaunchKernel");
}

/// The driver's addresses are numbers, ours are pointers.
static DevicePtr numberOf(const void *address) {
  return reinterpret_cast<DevicePtr>(address);
}

void *CudaDevice::allocate(uint64_t bytes) {
  DeviceScope scope(*this);
  DevicePtr data = 0;
  // The driver refuses to allocate nothing.
  if (Result code = driver.memAlloc(&data, std::max<uint64_t>(bytes, 1)))
    driver.refuse(code, "cuMemAlloc of " + std::to_string(bytes) + " bytes");
  return reinterpret_cast<void *>(data);
}

void CudaDevice::release(void *data) noexcept {
  if (!data || !tryEnter())
    return;
  driver.memFree(numberOf(data));
  leave();
}

void CudaDevice::upload(void *target, const void *source, uint64_t bytes) {
  if (bytes == 0)
    return;
  DeviceScope scope(*this);
  driver.check(driver.upload(numberOf(target), source, bytes), "cuMemcpyHtoD");
}

void CudaDevice::download(void *target, const void *source, uint64_t bytes) {
  if (bytes == 0)
    return;
  DeviceScope scope(*this);
  driver.check(driver.download(target, numberOf(source), bytes),
               "cuMemcpyDtoH");
}

void CudaDevice::synchronize() {
  DeviceScope scope(*this);
  driver.check(driver.contextSynchronize(), "cuCtxSynchronize");
}

std::unique_ptr<Module> CudaDevice::load(const Bundle &bundle) {
  int arch = bundle.archNumber;
  // Code for sm_90a runs on 9.0 alone, for sm_100f within its family, other
  // PTX on everything later.
  bool runs =
      bundle.archSuffix == 'a' ? computeCapability == arch
      : bundle.archSuffix == 'f'
          ? computeCapability >= arch && computeCapability / 10 == arch / 10
          : computeCapability >= arch;
  if (!runs)
    fail(MOE_INVALID_ARGUMENT,
         "function " + bundle.function + " was compiled for " + bundle.arch +
             ", which needs compute capability " +
             (bundle.archSuffix == 'a' ? "exactly " : "at least ") +
             std::to_string(arch / 10) + "." + std::to_string(arch % 10) +
             ", but the device is " + text +
             "; compile the layer for the device's chip");
  DeviceScope scope(*this);
  return std::make_unique<CudaModule>(*this, bundle);
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

CudaModule::CudaModule(CudaDevice &device, const Bundle &bundle)
    : device(device), bundle(bundle) {
  loadCode(bundle);
  try {
    for (const Kernel &kernel : bundle.kernels)
      loadFunction(kernel);
  } catch (...) {
    device.driver.moduleUnload(module);
    throw;
  }
}

CudaModule::~CudaModule() {
  // A context that is gone has taken the module along.
  if (!device.tryEnter())
    return;
  device.driver.moduleUnload(module);
  device.leave();
}

Result CudaModule::loadImage(const std::string &image, std::string &log) {
  char buffer[kJitLogBytes] = "";
  int options[] = {JitErrorLog, JitErrorLogBytes};
  void *values[] = {buffer, reinterpret_cast<void *>(sizeof(buffer))};
  Result code =
      device.driver.moduleLoad(&module, image.c_str(), 2, options, values);
  buffer[sizeof(buffer) - 1] = '\0';
  log = buffer;
  return code;
}

void CudaModule::loadCode(const Bundle &bundle) {
  std::string log;
  if (!bundle.cubin.empty() && device.capability() == bundle.archNumber) {
    isCubin = loadImage(bundle.cubin, log) == kSuccess;
    if (isCubin)
      return;
  }
  if (Result code = loadImage(bundle.ptx, log))
    device.driver.refuse(code, "function " + bundle.function +
                                   ": the driver does not take kernels.ptx: " +
                                   (log.empty() ? "" : log + ": ") +
                                   "cuModuleLoadDataEx");
}

/// The driver would read parameters past the ones that a launch has.
void CudaModule::checkParameters(const Kernel &kernel, Handle function) const {
  const CudaDriver &driver = device.driver;
  if (!driver.functionParameter)
    return;
  size_t count = kernel.parameterBytes.size(), offset = 0, bytes = 0;
  for (size_t i = 0; i < count; ++i)
    if (driver.functionParameter(function, i, &offset, &bytes) != kSuccess ||
        bytes != kernel.parameterBytes[i])
      failBundle("kernel " + kernel.name + ": parameter " + std::to_string(i) +
                 " in kernels." + code() + " is not that of kernels.ptx");
  if (driver.functionParameter(function, count, &offset, &bytes) == kSuccess)
    failBundle("kernel " + kernel.name + ": kernels." + code() +
               " has more parameters than kernels.ptx");
}

void CudaModule::loadFunction(const Kernel &kernel) {
  const CudaDriver &driver = device.driver;
  std::string prefix = "kernel " + kernel.name + ": ";
  auto check = [&](Result code, const char *call) {
    if (code != kSuccess)
      driver.refuse(code, prefix + call);
  };
  Handle function = nullptr;
  check(driver.moduleGetFunction(&function, module, kernel.name.c_str()),
        "cuModuleGetFunction");
  // Drivers load a function when it is first used; that would be a wait within
  // a launch, and is an error within a capture.
  if (driver.functionLoad)
    check(driver.functionLoad(function), "cuFuncLoad");
  checkParameters(kernel, function);
  int threads = 0, staticBytes = 0;
  check(driver.functionGetAttribute(&threads, MaxThreadsPerBlock, function),
        "cuFuncGetAttribute");
  check(driver.functionGetAttribute(&staticBytes, StaticSharedBytes, function),
        "cuFuncGetAttribute");
  if (static_cast<int>(kernel.threads) > threads)
    fail(MOE_DEVICE_ERROR, prefix + "needs " + std::to_string(kernel.threads) +
                               " threads per block, but the device gives it " +
                               std::to_string(threads));
  int64_t shared = int64_t(kernel.sharedBytes) + staticBytes;
  if (shared > device.maxSharedBytes())
    fail(MOE_DEVICE_ERROR, prefix + "needs " + std::to_string(shared) +
                               " bytes of shared memory per block, but " +
                               device.description() + " has " +
                               std::to_string(device.maxSharedBytes()));
  if (kernel.sharedBytes > 0)
    check(driver.functionSetAttribute(function, MaxDynamicSharedBytes,
                                      static_cast<int>(kernel.sharedBytes)),
          "cuFuncSetAttribute");
  functions.push_back(function);
}

std::unique_ptr<LaunchGraph>
CudaModule::makeGraph(const std::vector<Launch> &launches) {
  return makeLaunchGraph(device.driver, bundle, functions, launches);
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {
/// A stream with a graph of calls and two events; releases all of them.
class Stopwatch {
public:
  explicit Stopwatch(const CudaDriver &driver) : driver(driver) {
    driver.check(driver.streamCreate(&stream, kStreamNonBlocking),
                 "cuStreamCreate");
    for (Handle &event : events)
      driver.check(driver.eventCreate(&event, kEventDefault), "cuEventCreate");
  }
  ~Stopwatch() {
    if (executable)
      driver.graphExecDestroy(executable);
    if (graph)
      driver.graphDestroy(graph);
    for (Handle event : events)
      if (event)
        driver.eventDestroy(event);
    if (stream)
      driver.streamDestroy(stream);
  }
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  void capture(const std::function<void(void *)> &enqueue, uint32_t calls);
  /// Milliseconds of one replay.
  float replay();

private:
  const CudaDriver &driver;
  Handle stream = nullptr;
  Handle events[2] = {nullptr, nullptr};
  Handle graph = nullptr;
  Handle executable = nullptr;
};
} // namespace

void Stopwatch::capture(const std::function<void(void *)> &enqueue,
                        uint32_t calls) {
  driver.check(driver.beginCapture(stream, kCaptureThreadLocal),
               "cuStreamBeginCapture");
  try {
    for (uint32_t i = 0; i < calls; ++i)
      enqueue(stream);
  } catch (...) {
    driver.endCapture(stream, &graph);
    throw;
  }
  driver.check(driver.endCapture(stream, &graph), "cuStreamEndCapture");
  driver.check(driver.graphInstantiate(&executable, graph, 0),
               "cuGraphInstantiateWithFlags");
}

float Stopwatch::replay() {
  float milliseconds = 0;
  driver.check(driver.eventRecord(events[0], stream), "cuEventRecord");
  driver.check(driver.graphLaunch(executable, stream), "cuGraphLaunch");
  driver.check(driver.eventRecord(events[1], stream), "cuEventRecord");
  driver.check(driver.eventSynchronize(events[1]), "cuEventSynchronize");
  driver.check(driver.eventElapsed(&milliseconds, events[0], events[1]),
               "cuEventElapsedTime");
  return milliseconds;
}

double CudaDevice::time(const std::function<void(void *)> &enqueue,
                        uint32_t repeats) {
  // Several calls per graph keep the cost of starting one out of the result.
  constexpr uint32_t kCallsPerGraph = 20;
  uint32_t calls = std::min(repeats, kCallsPerGraph);
  uint32_t replays = (repeats + calls - 1) / calls;
  DeviceScope scope(*this);
  Stopwatch stopwatch(driver);
  stopwatch.capture(enqueue, calls);
  stopwatch.replay();
  std::vector<float> milliseconds;
  for (uint32_t i = 0; i < replays; ++i)
    milliseconds.push_back(stopwatch.replay());
  // The median: a clock that ramps up or a neighbour does not shift it.
  auto middle = milliseconds.begin() + milliseconds.size() / 2;
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  return *middle * 1000.0 / calls;
}

std::unique_ptr<Device> mlir::moe::runtime::openCudaDevice(int ordinal) {
  return std::make_unique<CudaDevice>(ordinal);
}
