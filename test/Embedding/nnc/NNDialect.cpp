//===- NNDialect.cpp - a dialect of somebody else -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NNDialect.h"

#include "mlir/IR/DialectImplementation.h"

#include "NNDialect.cpp.inc"

#define GET_OP_CLASSES
#include "NNOps.cpp.inc"

void nn::NNDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "NNOps.cpp.inc"
      >();
}
