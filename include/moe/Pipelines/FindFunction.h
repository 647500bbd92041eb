//===- FindFunction.h - the function that a tool works on -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PIPELINES_FINDFUNCTION_H
#define MOE_PIPELINES_FINDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::moe {

/// The function of `module` called `name`, with or without a leading @; without
/// a name the only public one, else @layer. Only functions with a body count.
/// Null with `error` set, which names `file` and its functions, where there is
/// none.
func::FuncOp findFunction(ModuleOp module, StringRef file, StringRef name,
                          std::string &error);

} // namespace mlir::moe

#endif // MOE_PIPELINES_FINDFUNCTION_H
