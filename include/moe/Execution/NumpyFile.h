//===- NumpyFile.h - arrays in .npy files -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// moe/Data/NpyFile.h documents the format.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EXECUTION_NUMPYFILE_H
#define MOE_EXECUTION_NUMPYFILE_H

#include "moe/Execution/Array.h"

namespace mlir::moe {

/// Reads a file as an array of `kind`. Integers of another width are taken over
/// where each value fits; any other type in the file is an error, and so is a
/// header that is malformed or disagrees with the size of the file.
llvm::Expected<Array> readNpy(StringRef path, ElementKind kind);

/// Writes the array, replacing the file.
llvm::Error writeNpy(StringRef path, const Array &array);

/// `folder/<number>.npy`, the file of one argument or result.
std::string npyPath(StringRef folder, unsigned number);

} // namespace mlir::moe

#endif // MOE_EXECUTION_NUMPYFILE_H
