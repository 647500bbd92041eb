//===- RandomInputs.cpp - random arrays for arguments -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/RandomInputs.h"

using namespace mlir;
using namespace mlir::moe;

llvm::Expected<Array> moe::randomArray(InputRole role, int64_t bound,
                                       ElementKind kind,
                                       ArrayRef<int64_t> shape, uint64_t seed,
                                       uint64_t argument) {
  llvm::Expected<Array> array = Array::create(kind, shape);
  if (array)
    fillRandom(role, bound, kind, {shape.data(), shape.size()}, seed, argument,
               array->data());
  return array;
}
