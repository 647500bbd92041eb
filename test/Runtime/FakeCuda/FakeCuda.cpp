//===- FakeCuda.cpp - a CUDA driver that records instead of running -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built as libcuda.so.1, for tests of the runtime on machines without a GPU.
// Device memory is host memory, kernels do nothing, and every call that matters
// becomes one line of JSON. Addresses print as "a2+256": 256 bytes into the
// third allocation. It is strict where the real driver is: a call without a
// current context, a launch with more shared memory than the function was
// prepared for, a copy outside of an allocation and a tensor map that is not
// aligned are errors.
//
// The environment chooses what happens:
//   FAKE_CUDA_LOG=FILE        append the lines to a file; none: no log
//   FAKE_CUDA_FAIL=cuX=N,...  call cuX returns N; cuX=N@K: only the Kth, from 0
//   FAKE_CUDA_REFUSE=KIND     cubin, ptx or both: code that it does not take;
//                             a real cubin it never takes, only a text that
//                             begins with FAKECUBIN
//   FAKE_CUDA_CAPABILITY=90   compute capability of the device
//   FAKE_CUDA_DEVICES=1       number of devices
//   FAKE_CUDA_SHARED=232448   bytes of shared memory that a block may have
//   FAKE_CUDA_SCRIBBLE=1      every download differs from the one before
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fake;

// NOLINTBEGIN(readability-identifier-naming): the names of the driver.

static int theContext;

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

FAKE_API int cuInit(unsigned) {
  LOCKED_CALL("cuInit");
  return Success;
}

FAKE_API int cuGetErrorString(int code, const char **text) {
  switch (code) {
  case InvalidValue:
    *text = "invalid argument";
    return Success;
  case OutOfMemory:
    *text = "out of memory";
    return Success;
  case NoDevice:
    *text = "no CUDA-capable device is detected";
    return Success;
  case InvalidContext:
    *text = "invalid device context";
    return Success;
  case InvalidPtx:
    *text = "a PTX JIT compilation failed";
    return Success;
  case NotFound:
    *text = "named symbol not found";
    return Success;
  default:
    *text = nullptr;
    return InvalidValue;
  }
}

FAKE_API int cuDeviceGetCount(int *count) {
  LOCKED_CALL("cuDeviceGetCount");
  *count = setting("FAKE_CUDA_DEVICES", 1);
  return Success;
}

FAKE_API int cuDeviceGet(int *device, int ordinal) {
  LOCKED_CALL("cuDeviceGet");
  *device = ordinal;
  return ordinal < setting("FAKE_CUDA_DEVICES", 1) ? Success : InvalidDevice;
}

FAKE_API int cuDeviceGetName(char *name, int bytes, int) {
  std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
  return Success;
}

FAKE_API int cuDeviceGetAttribute(int *value, int attribute, int) {
  LOCKED_CALL("cuDeviceGetAttribute");
  int capability = setting("FAKE_CUDA_CAPABILITY", 90);
  switch (attribute) {
  case 75:
    *value = capability / 10;
    return Success;
  case 76:
    *value = capability % 10;
    return Success;
  case 97:
    *value = setting("FAKE_CUDA_SHARED", 232448);
    return Success;
  default:
    return InvalidValue;
  }
}

FAKE_API int cuDevicePrimaryCtxRetain(Handle *context, int) {
  LOCKED_CALL("cuDevicePrimaryCtxRetain");
  *context = &theContext;
  return Success;
}

FAKE_API int cuDevicePrimaryCtxRelease_v2(int) {
  LOCKED_CALL("cuDevicePrimaryCtxRelease");
  record(R"({"call":"cuDevicePrimaryCtxRelease","allocations":%zu})",
         state().allocations.size());
  return Success;
}

FAKE_API int cuCtxPushCurrent_v2(Handle context) {
  if (context != &theContext)
    return InvalidContext;
  contexts.push_back(context);
  return Success;
}

FAKE_API int cuCtxPopCurrent_v2(Handle *context) {
  NEEDS_CONTEXT();
  *context = contexts.back();
  contexts.pop_back();
  return Success;
}

FAKE_API int cuCtxSynchronize() {
  LOCKED_CALL("cuCtxSynchronize");
  NEEDS_CONTEXT();
  record(R"({"call":"cuCtxSynchronize"})");
  return Success;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Bytes of ".param .align 64 .b8 name[128]".
static size_t bytesOfParameter(const std::string &text) {
  size_t bytes = 0, elements = 1;
  for (const char *type : {".u8", ".b8", ".u16", ".b16", ".u32", ".b32", ".f32",
                           ".u64", ".b64", ".s32", ".s64"}) {
    size_t at = text.find(std::string(type) + " ");
    if (at != std::string::npos)
      bytes = std::stoul(std::string(type).substr(2)) / 8;
  }
  size_t bracket = text.find('[');
  if (bracket != std::string::npos)
    elements = std::stoul(text.substr(bracket + 1));
  return bytes * elements;
}

static void parseEntries(const std::string &image, Module &module) {
  const std::string entry = ".entry ";
  for (size_t at = image.find(entry); at != std::string::npos;
       at = image.find(entry, at + 1)) {
    size_t open = image.find('(', at), close = image.find(')', at);
    Function function;
    function.name = image.substr(at + entry.size(), open - at - entry.size());
    for (size_t start = open + 1; start < close;) {
      size_t end = std::min(image.find(',', start), close);
      if (size_t bytes = bytesOfParameter(image.substr(start, end - start)))
        function.parameterBytes.push_back(bytes);
      start = end + 1;
    }
    module.functions[function.name] = function;
  }
}

FAKE_API int cuModuleLoadDataEx(Handle *module, const void *image,
                                unsigned count, int *options, void **values) {
  LOCKED_CALL("cuModuleLoadDataEx");
  NEEDS_CONTEXT();
  std::string text = static_cast<const char *>(image);
  bool elf = text.compare(0, 4,
                          "\x7f"
                          "ELF") == 0;
  bool cubin = elf || text.compare(0, 9, "FAKECUBIN") == 0;
  std::string kind = cubin ? "cubin" : "ptx";
  // It cannot read a real one.
  bool refused =
      elf || textSetting("FAKE_CUDA_REFUSE").find(kind) != std::string::npos;
  record(R"({"call":"cuModuleLoadDataEx","image":"%s","refused":%s})",
         kind.c_str(), refused ? "true" : "false");
  if (refused) {
    if (count == 2 && options[0] == 5 && options[1] == 6)
      std::snprintf(static_cast<char *>(values[0]),
                    reinterpret_cast<size_t>(values[1]),
                    "ptxas application ptx input, line 12; error: no such "
                    "instruction");
    return kind == "ptx" ? InvalidPtx : NoImage;
  }
  auto *loaded = new Module;
  parseEntries(text, *loaded);
  *module = loaded;
  return Success;
}

FAKE_API int cuModuleUnload(Handle module) {
  LOCKED_CALL("cuModuleUnload");
  NEEDS_CONTEXT();
  record(R"({"call":"cuModuleUnload"})");
  delete static_cast<Module *>(module);
  return Success;
}

FAKE_API int cuModuleGetFunction(Handle *function, Handle module,
                                 const char *name) {
  LOCKED_CALL("cuModuleGetFunction");
  auto &functions = static_cast<Module *>(module)->functions;
  auto found = functions.find(name);
  if (found == functions.end())
    return NotFound;
  *function = &found->second;
  return Success;
}

FAKE_API int cuFuncLoad(Handle function) {
  LOCKED_CALL("cuFuncLoad");
  record(R"({"call":"cuFuncLoad","kernel":"%s"})",
         static_cast<Function *>(function)->name.c_str());
  return Success;
}

FAKE_API int cuFuncGetParamInfo(Handle function, size_t index, size_t *offset,
                                size_t *bytes) {
  const auto &all = static_cast<Function *>(function)->parameterBytes;
  if (index >= all.size())
    return InvalidValue;
  *offset = 0;
  *bytes = all[index];
  return Success;
}

FAKE_API int cuFuncGetAttribute(int *value, int attribute, Handle) {
  LOCKED_CALL("cuFuncGetAttribute");
  *value = attribute == 0 ? 1024 : 0;
  return Success;
}

FAKE_API int cuFuncSetAttribute(Handle function, int attribute, int value) {
  LOCKED_CALL("cuFuncSetAttribute");
  auto *of = static_cast<Function *>(function);
  record(R"({"call":"cuFuncSetAttribute","kernel":"%s","attribute":%d,)"
         R"("value":%d})",
         of->name.c_str(), attribute, value);
  if (attribute != 8 || value > setting("FAKE_CUDA_SHARED", 232448))
    return InvalidValue;
  of->dynamicShared = value;
  return Success;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

template <typename T>
static std::string listOf(const T *values, unsigned count) {
  std::string text = "[";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string(values[i]);
  return text + "]";
}

FAKE_API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                                    void *address, const uint64_t *extents,
                                    const uint64_t *strides,
                                    const uint32_t *box,
                                    const uint32_t *elementStrides,
                                    int interleave, int swizzle, int promotion,
                                    int oobFill) {
  LOCKED_CALL("cuTensorMapEncodeTiled");
  if (reinterpret_cast<uintptr_t>(map) % 64 ||
      reinterpret_cast<uintptr_t>(address) % 16 || rank < 1 || rank > 5 ||
      std::count(extents, extents + rank, 0) != 0)
    return InvalidValue;
  FakeMap fake = {"FAKEMAP", state().numMaps++};
  std::memset(map, 0, 128);
  std::memcpy(map, &fake, sizeof(fake));
  record(
      R"({"call":"cuTensorMapEncodeTiled","map":%d,"type":%d,"address":"%s",)"
      R"("extents":%s,"strides":%s,"box":%s,"element_strides":%s,)"
      R"("interleave":%d,"swizzle":%d,"promotion":%d,"fill":%d})",
      fake.number, type, nameOf(reinterpret_cast<DevicePtr>(address)).c_str(),
      listOf(extents, rank).c_str(), listOf(strides, rank - 1).c_str(),
      listOf(box, rank).c_str(), listOf(elementStrides, rank).c_str(),
      interleave, swizzle, promotion, oobFill);
  return Success;
}

static std::string describeParameter(const void *value, size_t bytes) {
  if (bytes == 4) {
    int32_t number;
    std::memcpy(&number, value, 4);
    return std::to_string(number);
  }
  if (bytes == 8) {
    int64_t number;
    std::memcpy(&number, value, 8);
    std::string name = nameOf(static_cast<DevicePtr>(number));
    return name[0] == 'a' ? "\"" + name + "\"" : std::to_string(number);
  }
  FakeMap fake;
  std::memcpy(&fake, value, sizeof(fake));
  if (std::strcmp(fake.magic, "FAKEMAP") == 0)
    return "\"map " + std::to_string(fake.number) + "\"";
  return "\"no map\"";
}

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct Node {
  Handle function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  Handle kernel, context;
};

static bool isValid(const Node &node) {
  return node.grid[0] && node.grid[1] && node.grid[2] && !node.extra &&
         static_cast<int>(node.shared) <=
             static_cast<const Function *>(node.function)->dynamicShared;
}

/// The fields of a line, without its call and its stream.
static std::string describe(const Node &node) {
  const auto *of = static_cast<const Function *>(node.function);
  std::string list;
  for (size_t i = 0; i < of->parameterBytes.size(); ++i)
    list += (i ? "," : "") +
            describeParameter(node.parameters[i], of->parameterBytes[i]);
  return R"("kernel":")" + of->name + R"(","grid":)" + listOf(node.grid, 3) +
         R"(,"block":)" + listOf(node.block, 3) + R"(,"shared":)" +
         std::to_string(node.shared) + R"(,"parameters":[)" + list + "]";
}

FAKE_API int cuLaunchKernel(Handle function, unsigned gridX, unsigned gridY,
                            unsigned gridZ, unsigned blockX, unsigned blockY,
                            unsigned blockZ, unsigned shared, Handle stream,
                            void **parameters, void **extra) {
  LOCKED_CALL("cuLaunchKernel");
  NEEDS_CONTEXT();
  Node node = {function,
               {gridX, gridY, gridZ},
               {blockX, blockY, blockZ},
               shared,
               parameters,
               extra,
               nullptr,
               nullptr};
  if (!isValid(node))
    return InvalidValue;
  auto *on = static_cast<Stream *>(stream);
  if (on && on->capturing)
    ++on->captured;
  if (state().log)
    record(R"({"call":"cuLaunchKernel",%s,"stream":%s})",
           describe(node).c_str(), stream ? "true" : "false");
  return Success;
}

/// A line for a node of a graph, which the launch of the graph records.
static std::string lineOf(const Node &node) {
  return state().log ? R"({"call":"kernel node",)" + describe(node) + "}" : "";
}

FAKE_API int cuGraphAddKernelNode_v2(Handle *node, Handle graph,
                                     const Handle *before, size_t count,
                                     const void *parameters) {
  LOCKED_CALL("cuGraphAddKernelNode");
  NEEDS_CONTEXT();
  const auto &added = *static_cast<const Node *>(parameters);
  auto *to = static_cast<Graph *>(graph);
  // A chain: each behind the one before.
  if (!isValid(added) || count != (to->nodes.empty() ? 0 : 1) ||
      (count == 1 && *before != to->nodes.back().get()))
    return InvalidValue;
  to->nodes.push_back(std::make_unique<size_t>(to->lines.size()));
  to->lines.push_back(lineOf(added));
  ++to->launches;
  *node = to->nodes.back().get();
  return Success;
}

FAKE_API int cuGraphExecKernelNodeSetParams_v2(Handle executable, Handle node,
                                               const void *parameters) {
  LOCKED_CALL("cuGraphExecKernelNodeSetParams");
  NEEDS_CONTEXT();
  const auto &changed = *static_cast<const Node *>(parameters);
  if (!isValid(changed))
    return InvalidValue;
  static_cast<Graph *>(executable)->lines[*static_cast<size_t *>(node)] =
      lineOf(changed);
  return Success;
}

// NOLINTEND(readability-identifier-naming)
