//===- CudaDriver.h - the entry points of libcuda.so.1 -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver is opened when the first device is, so that the library loads on
// machines without one. Only what is called is declared; names, numbers and
// signatures are those of the CUDA driver API, whose binary interface is
// stable.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_CUDADRIVER_H
#define MOE_LIB_RUNTIME_CUDADRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace mlir::moe::runtime {

namespace cuda {
using Result = int;
using DevicePtr = unsigned long long;
using Handle = void *; // of a context, module, function, stream, event, graph

constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 2;

enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };
enum DeviceAttribute : int {
  MaxSharedPerBlockOptin = 97,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76
};
enum FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  StaticSharedBytes = 1,
  MaxDynamicSharedBytes = 8
};
constexpr unsigned kEventDefault = 0;
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureThreadLocal = 1;
constexpr int kCaptureNone = 0;

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Handle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  void **parameters;
  void **extra;
  Handle kernel;
  Handle context;
};
} // namespace cuda

// ENTRY(member, exported name, parameters): every driver that this library
// works with has it. OPTIONAL: null where the driver is too old.
#define MOE_CUDA_ENTRIES(ENTRY, OPTIONAL)                                      \
  ENTRY(init, "cuInit", (unsigned flags))                                      \
  ENTRY(getErrorString, "cuGetErrorString", (Result code, const char **text))  \
  ENTRY(deviceGet, "cuDeviceGet", (int *device, int ordinal))                  \
  ENTRY(deviceGetCount, "cuDeviceGetCount", (int *count))                      \
  ENTRY(deviceGetName, "cuDeviceGetName", (char *name, int bytes, int device)) \
  ENTRY(deviceGetAttribute, "cuDeviceGetAttribute",                            \
        (int *value, int attribute, int device))                               \
  ENTRY(primaryRetain, "cuDevicePrimaryCtxRetain",                             \
        (Handle * context, int device))                                        \
  ENTRY(primaryRelease, "cuDevicePrimaryCtxRelease_v2", (int device))          \
  ENTRY(contextPush, "cuCtxPushCurrent_v2", (Handle context))                  \
  ENTRY(contextPop, "cuCtxPopCurrent_v2", (Handle * context))                  \
  ENTRY(contextSynchronize, "cuCtxSynchronize", ())                            \
  ENTRY(moduleLoad, "cuModuleLoadDataEx",                                      \
        (Handle * module, const void *image, unsigned count, int *options,     \
         void **values))                                                       \
  ENTRY(moduleUnload, "cuModuleUnload", (Handle module))                       \
  ENTRY(moduleGetFunction, "cuModuleGetFunction",                              \
        (Handle * function, Handle module, const char *name))                  \
  ENTRY(functionGetAttribute, "cuFuncGetAttribute",                            \
        (int *value, int attribute, Handle function))                          \
  ENTRY(functionSetAttribute, "cuFuncSetAttribute",                            \
        (Handle function, int attribute, int value))                           \
  OPTIONAL(functionLoad, "cuFuncLoad", (Handle function))                      \
  OPTIONAL(functionParameter, "cuFuncGetParamInfo",                            \
           (Handle function, size_t index, size_t *offset, size_t *bytes))     \
  ENTRY(launchKernel, "cuLaunchKernel",                                        \
        (Handle function, unsigned gridX, unsigned gridY, unsigned gridZ,      \
         unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,   \
         Handle stream, void **parameters, void **extra))                      \
  OPTIONAL(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                     \
           (void *map, int type, unsigned rank, void *address,                 \
            const uint64_t *extents, const uint64_t *strides,                  \
            const uint32_t *box, const uint32_t *elementStrides,               \
            int interleave, int swizzle, int promotion, int oobFill))          \
  ENTRY(memAlloc, "cuMemAlloc_v2", (DevicePtr * data, size_t bytes))           \
  ENTRY(memFree, "cuMemFree_v2", (DevicePtr data))                             \
  ENTRY(upload, "cuMemcpyHtoD_v2",                                             \
        (DevicePtr target, const void *source, size_t bytes))                  \
  ENTRY(download, "cuMemcpyDtoH_v2",                                           \
        (void *target, DevicePtr source, size_t bytes))                        \
  ENTRY(streamCreate, "cuStreamCreate", (Handle * stream, unsigned flags))     \
  ENTRY(streamDestroy, "cuStreamDestroy_v2", (Handle stream))                  \
  ENTRY(streamSynchronize, "cuStreamSynchronize", (Handle stream))             \
  ENTRY(eventCreate, "cuEventCreate", (Handle * event, unsigned flags))        \
  ENTRY(eventDestroy, "cuEventDestroy_v2", (Handle event))                     \
  ENTRY(eventRecord, "cuEventRecord", (Handle event, Handle stream))           \
  ENTRY(eventSynchronize, "cuEventSynchronize", (Handle event))                \
  ENTRY(eventElapsed, "cuEventElapsedTime",                                    \
        (float *milliseconds, Handle start, Handle end))                       \
  ENTRY(beginCapture, "cuStreamBeginCapture_v2", (Handle stream, int mode))    \
  ENTRY(endCapture, "cuStreamEndCapture", (Handle stream, Handle * graph))     \
  ENTRY(captureStatus, "cuStreamIsCapturing", (Handle stream, int *status))    \
  ENTRY(graphCreate, "cuGraphCreate", (Handle * graph, unsigned flags))        \
  ENTRY(graphAddKernel, "cuGraphAddKernelNode_v2",                             \
        (Handle * node, Handle graph, const Handle *before, size_t count,      \
         const cuda::KernelNode *parameters))                                  \
  ENTRY(graphUpload, "cuGraphUpload", (Handle executable, Handle stream))      \
  ENTRY(graphSetKernel, "cuGraphExecKernelNodeSetParams_v2",                   \
        (Handle executable, Handle node, const cuda::KernelNode *parameters))  \
  ENTRY(graphInstantiate, "cuGraphInstantiateWithFlags",                       \
        (Handle * executable, Handle graph, unsigned long long flags))         \
  ENTRY(graphLaunch, "cuGraphLaunch", (Handle executable, Handle stream))      \
  ENTRY(graphExecDestroy, "cuGraphExecDestroy", (Handle executable))           \
  ENTRY(graphDestroy, "cuGraphDestroy", (Handle graph))

/// The table of entry points; one per process, never closed.
class CudaDriver {
public:
  /// Opens and initialises the driver, once. Throws MOE_NO_DEVICE.
  static const CudaDriver &get();

  using Result = cuda::Result;
  using DevicePtr = cuda::DevicePtr;
  using Handle = cuda::Handle;
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and a list
#define MOE_DECLARE(member, name, parameters) Result(*member) parameters;
  MOE_CUDA_ENTRIES(MOE_DECLARE, MOE_DECLARE)
#undef MOE_DECLARE

  /// "invalid argument (1)".
  std::string describe(Result code) const;
  /// Throws "<call>: <the driver's words>" unless `code` is success.
  void check(Result code, const char *call) const {
    if (code != cuda::kSuccess)
      refuse(code, call);
  }
  [[noreturn]] void refuse(Result code, const std::string &call) const;

private:
  CudaDriver();
};

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_CUDADRIVER_H
