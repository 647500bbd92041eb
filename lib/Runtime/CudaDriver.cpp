//===- CudaDriver.cpp - the entry points of libcuda.so.1 -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include "Error.h"

#include <dlfcn.h>

using namespace mlir::moe::runtime;

static constexpr const char *kLibrary = "libcuda.so.1";

template <typename Function>
static void resolve(void *library, const char *name, bool optional,
                    Function &function) {
  void *address = dlsym(library, name);
  if (!address && !optional)
    fail(MOE_NO_DEVICE, std::string(kLibrary) + " has no " + name +
                            ": the driver is too old, CUDA 12 is needed");
  function = reinterpret_cast<Function>(address);
}

CudaDriver::CudaDriver() {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    fail(MOE_NO_DEVICE, std::string("the CUDA driver is not installed: ") +
                            (why ? why : kLibrary));
  }
#define MOE_RESOLVE(member, name, parameters)                                  \
  resolve(library, name, false, member);
#define MOE_RESOLVE_OPTIONAL(member, name, parameters)                         \
  resolve(library, name, true, member);
  MOE_CUDA_ENTRIES(MOE_RESOLVE, MOE_RESOLVE_OPTIONAL)
#undef MOE_RESOLVE
#undef MOE_RESOLVE_OPTIONAL
  if (Result code = init(0))
    fail(MOE_NO_DEVICE, "the CUDA driver does not start: " + describe(code));
}

const CudaDriver &CudaDriver::get() {
  // A constructor that throws is tried again at the next call.
  static const CudaDriver driver;
  return driver;
}

std::string CudaDriver::describe(Result code) const {
  const char *text = nullptr;
  if (getErrorString(code, &text) != cuda::kSuccess || !text)
    text = "unknown error";
  return std::string(text) + " (" + std::to_string(code) + ")";
}

void CudaDriver::refuse(Result code, const std::string &call) const {
  fail(code == cuda::kOutOfMemory ? MOE_OUT_OF_MEMORY : MOE_DEVICE_ERROR,
       call + ": " + describe(code));
}
