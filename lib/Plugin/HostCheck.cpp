//===- HostCheck.cpp - can this program use the plugin? -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCheck.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>
#include <link.h>
#include <set>

using namespace mlir;

/// The file names of all copies of libMLIR in the program, in alphabetical
/// order.
static std::set<std::string> findMLIRLibraries() {
  std::set<std::string> names;
  auto add = [](dl_phdr_info *info, size_t, void *names) {
    llvm::StringRef name = llvm::sys::path::filename(info->dlpi_name);
    if (name.starts_with("libMLIR.so"))
      static_cast<std::set<std::string> *>(names)->insert(name.str());
    return 0;
  };
  dl_iterate_phdr(add, &names);
  return names;
}

/// Whether the first LLVM of the program, by the order of its libraries, has
/// the minor version that the plugin is built for; `version` becomes its own.
/// True where there is none to ask.
static bool hasMatchingLLVM(std::string &version) {
  // A plain call would be bound to the library that the plugin names.
  using GetVersion = void(unsigned *, unsigned *, unsigned *);
  auto *getVersion =
      reinterpret_cast<GetVersion *>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  if (!getVersion)
    return true;
  unsigned major = 0, minor = 0, patch = 0;
  getVersion(&major, &minor, &patch);
  version = std::to_string(major) + "." + std::to_string(minor) + "." +
            std::to_string(patch);
  return major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR;
}

std::string moe::describeUnfitHost() {
  std::string wanted = "it is built for LLVM and MLIR " LLVM_VERSION_STRING;
  std::string advice = "; load it into the mlir-opt of LLVM " +
                       std::to_string(LLVM_VERSION_MAJOR) + "." +
                       std::to_string(LLVM_VERSION_MINOR) +
                       ", or build it for this program's LLVM";
  std::string version;
  if (!hasMatchingLLVM(version))
    return wanted + ", but this program has LLVM " + version + advice;
  std::set<std::string> libraries = findMLIRLibraries();
  if (libraries.size() > 1)
    return wanted + ", but this program has " + *libraries.begin() +
           " as well as " + *libraries.rbegin() + advice;
  return "";
}
