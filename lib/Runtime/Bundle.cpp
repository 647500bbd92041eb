//===- Bundle.cpp - open the folder of a compiled layer -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"

#include "Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::moe::runtime;

static constexpr int64_t kMaxManifestBytes = int64_t(16) << 20;
static constexpr int64_t kMaxCodeBytes = int64_t(1) << 30;

uint64_t mlir::moe::runtime::bytesOf(moe_type type) {
  switch (type) {
  case MOE_I64:
    return 8;
  case MOE_F32:
  case MOE_I32:
    return 4;
  case MOE_F16:
  case MOE_BF16:
    return 2;
  case MOE_I8:
    return 1;
  }
  return 0;
}

const char *mlir::moe::runtime::nameOf(moe_type type) {
  switch (type) {
  case MOE_F32:
    return "f32";
  case MOE_F16:
    return "f16";
  case MOE_BF16:
    return "bf16";
  case MOE_I32:
    return "i32";
  case MOE_I64:
    return "i64";
  case MOE_I8:
    return "i8";
  }
  return "";
}

namespace {
/// A file that closes itself.
class File {
public:
  explicit File(const std::string &path)
      // A pipe without a writer must not block.
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  int descriptor;
};
} // namespace

[[noreturn]] static void failFile(const std::string &path,
                                  const std::string &why) {
  failBundle(path + ": " + why);
}

/// The contents of a regular file; none where there is no such file and
/// `optional` is set.
static std::string readFile(const std::string &path, int64_t maxBytes,
                            bool optional = false) {
  File file(path);
  if (file.descriptor < 0 && errno == ENOENT && optional)
    return "";
  if (file.descriptor < 0)
    failFile(path, std::strerror(errno));
  struct stat status;
  if (fstat(file.descriptor, &status) != 0)
    failFile(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    failFile(path, "is not a regular file");
  if (status.st_size > maxBytes)
    failFile(path, "has " + std::to_string(status.st_size) +
                       " bytes, more than the " + std::to_string(maxBytes) +
                       " allowed");
  std::string contents(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < contents.size()) {
    ssize_t count =
        read(file.descriptor, &contents[done], contents.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      failFile(path, count < 0 ? std::strerror(errno) : "became shorter");
    done += static_cast<size_t>(count);
  }
  if (contents.empty())
    failFile(path, "is empty");
  return contents;
}

Bundle mlir::moe::runtime::openBundle(const std::string &folder) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0)
    failFile(folder, std::strerror(errno));
  if (!S_ISDIR(status.st_mode))
    failFile(folder, "is not a folder; a bundle is the folder that moe-compile "
                     "writes");
  std::string source = folder + "/manifest.json";
  std::string manifest = readFile(source, kMaxManifestBytes);
  std::string ptx = readFile(folder + "/kernels.ptx", kMaxCodeBytes);
  Bundle bundle = parseBundle(manifest, std::move(ptx), source);
  bundle.cubin = readFile(folder + "/kernels.cubin", kMaxCodeBytes,
                          /*optional=*/true);
  return bundle;
}
