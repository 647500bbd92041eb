//===- BundleFolder.h - a folder that is whole or absent --------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_COMPILE_BUNDLEFOLDER_H
#define MOE_TOOLS_MOE_COMPILE_BUNDLEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::moe {

/// Collects the files of a bundle beside their place and moves them there as a
/// whole. What is not committed disappears with the object.
class BundleFolder {
public:
  /// Checks that a bundle may be put at `path`: nothing is there, or an empty
  /// folder, or a bundle, which `commit` replaces. Anything else is an error.
  static llvm::Expected<BundleFolder> create(llvm::StringRef path);
  BundleFolder(BundleFolder &&other);
  ~BundleFolder();

  /// Where the bundle will be.
  llvm::StringRef path() const { return target; }
  /// Where a file of the bundle is now; folders of `name` are created.
  llvm::Expected<std::string> place(llvm::StringRef name) const;
  llvm::Error write(llvm::StringRef name, llvm::StringRef text) const;
  /// Puts everything in place. The object is used up.
  llvm::Error commit();

private:
  BundleFolder(std::string target, std::string partial)
      : target(std::move(target)), partial(std::move(partial)) {}

  std::string target;
  /// The folder of the files until they are committed, then empty.
  std::string partial;
};

} // namespace mlir::moe

#endif // MOE_TOOLS_MOE_COMPILE_BUNDLEFOLDER_H
