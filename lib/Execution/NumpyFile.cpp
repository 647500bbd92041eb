//===- NumpyFile.cpp - arrays in .npy files -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/NumpyFile.h"

#include "moe/Data/NpyFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::moe;

/// The error with that text; success where it is empty.
static llvm::Error toError(const std::string &problem) {
  return problem.empty() ? llvm::Error::success()
                         : llvm::createStringError(problem);
}

llvm::Expected<Array> moe::readNpy(StringRef path, ElementKind kind) {
  NpyReader reader;
  if (llvm::Error error = toError(reader.open(path.str(), kind)))
    return error;
  llvm::Expected<Array> array = Array::create(kind, reader.shape());
  if (!array)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(array.takeError()));
  if (llvm::Error error = toError(reader.read(array->data())))
    return error;
  return array;
}

llvm::Error moe::writeNpy(StringRef path, const Array &array) {
  return toError(
      writeNpyFile(path.str(), array.kind(), array.shapeView(), array.data()));
}

std::string moe::npyPath(StringRef folder, unsigned number) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, llvm::Twine(number) + ".npy");
  return std::string(path);
}
