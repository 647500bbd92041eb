//===- BundleFolder.cpp - a folder that is whole or absent ------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundleFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <fcntl.h>

using namespace mlir;
using namespace mlir::moe;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static llvm::Error failure(const llvm::Twine &place, std::error_code code) {
  return llvm::createStringError(code, place + ": " + code.message());
}

/// Removes a folder that nobody needs any more. What cannot be removed is only
/// litter.
static void discard(llvm::StringRef folder) {
  [[maybe_unused]] std::error_code code = fs::remove_directories(folder);
}

/// Everything that a bundle of any version may hold.
static bool belongsToBundle(llvm::StringRef name) {
  return llvm::is_contained(
      {"manifest.json", "kernels.ptx", "kernels.cubin", "remarks.yaml", "ir"},
      name);
}

/// Fails unless `folder` may be replaced by a bundle.
static llvm::Error checkReplaceable(llvm::StringRef folder) {
  if (!fs::exists(folder))
    return llvm::Error::success();
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError(std::make_error_code(std::errc::file_exists),
                                   folder + " " + why +
                                       "; choose another -o, or remove it");
  };
  if (!fs::is_directory(folder))
    return refuse("exists and is no folder");
  std::error_code code;
  bool empty = true, manifest = false;
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    llvm::StringRef name = path::filename(it->path());
    if (!belongsToBundle(name))
      return refuse("is not replaced, because it holds " + name +
                    ", which is no part of a bundle");
    empty = false;
    manifest |= name == "manifest.json";
  }
  if (code)
    return failure(folder, code);
  if (!empty && !manifest)
    return refuse("is not replaced, because it is no bundle: there is no "
                  "manifest.json in it");
  return llvm::Error::success();
}

llvm::Expected<BundleFolder> BundleFolder::create(llvm::StringRef folder) {
  llvm::SmallString<128> target(folder);
  path::remove_dots(target, /*remove_dot_dot=*/false);
  while (target.size() > 1 && path::is_separator(target.back()))
    target.pop_back();
  if (llvm::Error error = checkReplaceable(target))
    return std::move(error);
  if (llvm::StringRef parent = path::parent_path(target); !parent.empty())
    if (std::error_code code = fs::create_directories(parent))
      return failure(parent, code);
  llvm::SmallString<128> partial;
  fs::createUniquePath(target + ".partial-%%%%%%%%", partial,
                       /*MakeAbsolute=*/false);
  // Who may read it is for the umask to say, as with any folder.
  if (std::error_code code = fs::create_directory(
          partial, /*IgnoreExisting=*/false, fs::perms::all_all))
    return failure(partial, code);
  return BundleFolder(target.str().str(), partial.str().str());
}

BundleFolder::BundleFolder(BundleFolder &&other)
    : target(std::move(other.target)), partial(std::move(other.partial)) {
  other.partial.clear();
}

BundleFolder::~BundleFolder() {
  if (!partial.empty())
    discard(partial);
}

llvm::Expected<std::string> BundleFolder::place(llvm::StringRef name) const {
  llvm::SmallString<128> file(partial);
  path::append(file, name);
  if (std::error_code code = fs::create_directories(
          path::parent_path(file), /*IgnoreExisting=*/true, fs::perms::all_all))
    return failure(file, code);
  return file.str().str();
}

llvm::Error BundleFolder::write(llvm::StringRef name,
                                llvm::StringRef text) const {
  llvm::Expected<std::string> file = place(name);
  if (!file)
    return file.takeError();
  std::error_code code;
  llvm::raw_fd_ostream os(*file, code);
  if (code)
    return failure(*file, code);
  os << text;
  os.close();
  code = os.error();
  os.clear_error();
  return code ? failure(*file, code) : llvm::Error::success();
}

llvm::Error BundleFolder::commit() {
  if (!fs::exists(target) || renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD,
                                       target.c_str(), RENAME_EXCHANGE) != 0) {
    // Nothing is there, or the file system does not exchange: an old bundle
    // goes first.
    if (std::error_code code =
            fs::remove_directories(target, /*IgnoreErrors=*/false))
      return failure(target, code);
    if (std::error_code code = fs::rename(partial, target))
      return failure(target, code);
    partial.clear();
    return llvm::Error::success();
  }
  // The old bundle is now at the place of the parts.
  discard(partial);
  partial.clear();
  return llvm::Error::success();
}
