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

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {
using Handle = void *;
using DevicePtr = unsigned long long;

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidContext = 201,
  InvalidPtx = 218,
  NotFound = 500
};

struct Function {
  std::string name;
  std::vector<size_t> parameterBytes;
  int dynamicShared = 48 * 1024; // without a request for more
};

struct Module {
  std::map<std::string, Function> functions;
};

struct Stream {
  bool capturing = false;
  int captured = 0;
};

struct Graph {
  int launches = 0;
};

/// What the fake writes where the driver would write a tensor map.
struct FakeMap {
  char magic[8];
  int number;
};

/// All of the state; calls lock it but for a launch without a log.
struct State {
  std::mutex mutex;
  FILE *log = nullptr;
  std::map<DevicePtr, std::pair<size_t, int>> allocations; // bytes, number
  int numAllocations = 0;
  int numMaps = 0;
  std::map<std::string, int> calls;

  State() {
    if (const char *path = std::getenv("FAKE_CUDA_LOG"))
      log = std::fopen(path, "a");
  }
};
} // namespace

static State &state() {
  static State instance;
  return instance;
}

static thread_local std::vector<Handle> contexts;
static int theContext;

static int setting(const char *name, int other) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : other;
}

static std::string textSetting(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

/// Writes one line; the state is locked.
__attribute__((format(printf, 1, 2))) static void record(const char *format,
                                                         ...) {
  FILE *log = state().log;
  if (!log)
    return;
  va_list args;
  va_start(args, format);
  std::vfprintf(log, format, args);
  va_end(args);
  std::fputc('\n', log);
  std::fflush(log);
}

/// What FAKE_CUDA_FAIL wants of this call of `name`.
static Result wanted(const char *name) {
  static const std::string failures = textSetting("FAKE_CUDA_FAIL");
  if (failures.empty())
    return Success;
  int count = state().calls[name]++;
  std::string key = std::string(name) + "=";
  for (size_t start = 0; start < failures.size();) {
    size_t end = std::min(failures.find(',', start), failures.size());
    std::string entry = failures.substr(start, end - start);
    start = end + 1;
    if (entry.compare(0, key.size(), key) != 0)
      continue;
    size_t at = entry.find('@');
    if (at == std::string::npos || std::stoi(entry.substr(at + 1)) == count)
      return static_cast<Result>(std::stoi(entry.substr(key.size())));
  }
  return Success;
}

/// "a2+256", or the number where it lies in no allocation.
static std::string nameOf(DevicePtr address) {
  auto &allocations = state().allocations;
  auto next = allocations.upper_bound(address);
  if (next != allocations.begin()) {
    auto found = std::prev(next);
    size_t offset = address - found->first;
    if (offset <= found->second.first)
      return "a" + std::to_string(found->second.second) + "+" +
             std::to_string(offset);
  }
  return std::to_string(address);
}

static bool isInside(DevicePtr address, size_t bytes) {
  auto &allocations = state().allocations;
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return false;
  auto found = std::prev(next);
  return address - found->first + bytes <= found->second.first;
}

#define LOCKED_CALL(name)                                                      \
  std::lock_guard<std::mutex> lock(state().mutex);                             \
  if (Result failure = wanted(name))                                           \
  return failure
#define NEEDS_CONTEXT()                                                        \
  if (contexts.empty())                                                        \
  return InvalidContext

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
    return kind == "ptx" ? InvalidPtx : 209;
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

FAKE_API int cuLaunchKernel(Handle function, unsigned gridX, unsigned gridY,
                            unsigned gridZ, unsigned blockX, unsigned blockY,
                            unsigned blockZ, unsigned shared, Handle stream,
                            void **parameters, void **extra) {
  LOCKED_CALL("cuLaunchKernel");
  NEEDS_CONTEXT();
  const auto *of = static_cast<const Function *>(function);
  if (gridX == 0 || gridY == 0 || gridZ == 0 || extra ||
      static_cast<int>(shared) > of->dynamicShared)
    return InvalidValue;
  auto *on = static_cast<Stream *>(stream);
  if (on && on->capturing)
    ++on->captured;
  if (!state().log)
    return Success;
  std::string list;
  for (size_t i = 0; i < of->parameterBytes.size(); ++i)
    list += (i ? "," : "") +
            describeParameter(parameters[i], of->parameterBytes[i]);
  record(R"({"call":"cuLaunchKernel","kernel":"%s","grid":[%u,%u,%u],)"
         R"("block":[%u,%u,%u],"shared":%u,"stream":%s,"parameters":[%s]})",
         of->name.c_str(), gridX, gridY, gridZ, blockX, blockY, blockZ, shared,
         stream ? "true" : "false", list.c_str());
  return Success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FAKE_API int cuMemAlloc_v2(DevicePtr *data, size_t bytes) {
  LOCKED_CALL("cuMemAlloc");
  NEEDS_CONTEXT();
  if (bytes == 0)
    return InvalidValue;
  // Aligned to 256 bytes and, where possible, to nothing more.
  void *memory = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (!memory)
    return OutOfMemory;
  *data = reinterpret_cast<DevicePtr>(memory);
  int number = state().numAllocations++;
  state().allocations[*data] = {bytes, number};
  record(R"({"call":"cuMemAlloc","name":"a%d","bytes":%zu})", number, bytes);
  return Success;
}

FAKE_API int cuMemFree_v2(DevicePtr data) {
  LOCKED_CALL("cuMemFree");
  NEEDS_CONTEXT();
  if (state().allocations.erase(data) == 0)
    return InvalidValue;
  std::free(reinterpret_cast<void *>(data));
  return Success;
}

/// FNV-1a in 64 bits.
static unsigned long long checkSum(const void *data, size_t bytes) {
  unsigned long long sum = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i)
    sum = (sum ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3u;
  return sum;
}

FAKE_API int cuMemcpyHtoD_v2(DevicePtr target, const void *source,
                             size_t bytes) {
  LOCKED_CALL("cuMemcpyHtoD");
  NEEDS_CONTEXT();
  if (!isInside(target, bytes))
    return InvalidValue;
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  if (state().log)
    record(R"({"call":"cuMemcpyHtoD","target":"%s","bytes":%zu,"sum":%llu})",
           nameOf(target).c_str(), bytes, checkSum(source, bytes));
  return Success;
}

FAKE_API int cuMemcpyDtoH_v2(void *target, DevicePtr source, size_t bytes) {
  LOCKED_CALL("cuMemcpyDtoH");
  NEEDS_CONTEXT();
  if (!isInside(source, bytes))
    return InvalidValue;
  std::memcpy(target, reinterpret_cast<const void *>(source), bytes);
  static unsigned char count = 0;
  if (setting("FAKE_CUDA_SCRIBBLE", 0))
    static_cast<unsigned char *>(target)[0] = count++;
  return Success;
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

FAKE_API int cuStreamCreate(Handle *stream, unsigned) {
  LOCKED_CALL("cuStreamCreate");
  NEEDS_CONTEXT();
  *stream = new Stream;
  return Success;
}

FAKE_API int cuStreamDestroy_v2(Handle stream) {
  delete static_cast<Stream *>(stream);
  return Success;
}

FAKE_API int cuEventCreate(Handle *event, unsigned) {
  LOCKED_CALL("cuEventCreate");
  *event = new int;
  return Success;
}

FAKE_API int cuEventDestroy_v2(Handle event) {
  delete static_cast<int *>(event);
  return Success;
}

FAKE_API int cuEventRecord(Handle, Handle) {
  LOCKED_CALL("cuEventRecord");
  return Success;
}

FAKE_API int cuEventSynchronize(Handle) {
  LOCKED_CALL("cuEventSynchronize");
  return Success;
}

FAKE_API int cuEventElapsedTime(float *milliseconds, Handle, Handle) {
  *milliseconds = 0.5f;
  return Success;
}

FAKE_API int cuStreamBeginCapture_v2(Handle stream, int) {
  LOCKED_CALL("cuStreamBeginCapture");
  static_cast<Stream *>(stream)->capturing = true;
  return Success;
}

FAKE_API int cuStreamEndCapture(Handle stream, Handle *graph) {
  LOCKED_CALL("cuStreamEndCapture");
  auto *of = static_cast<Stream *>(stream);
  of->capturing = false;
  auto *captured = new Graph{of->captured};
  *graph = captured;
  record(R"({"call":"cuStreamEndCapture","launches":%d})", captured->launches);
  return Success;
}

FAKE_API int cuGraphInstantiateWithFlags(Handle *executable, Handle graph,
                                         unsigned long long) {
  LOCKED_CALL("cuGraphInstantiateWithFlags");
  *executable = new Graph(*static_cast<Graph *>(graph));
  return Success;
}

FAKE_API int cuGraphLaunch(Handle executable, Handle) {
  LOCKED_CALL("cuGraphLaunch");
  record(R"({"call":"cuGraphLaunch","launches":%d})",
         static_cast<Graph *>(executable)->launches);
  return Success;
}

FAKE_API int cuGraphExecDestroy(Handle executable) {
  delete static_cast<Graph *>(executable);
  return Success;
}

FAKE_API int cuGraphDestroy(Handle graph) {
  delete static_cast<Graph *>(graph);
  return Success;
}
