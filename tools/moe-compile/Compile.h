//===- Compile.h - from a module to the parts of a bundle -------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_COMPILE_COMPILE_H
#define MOE_TOOLS_MOE_COMPILE_COMPILE_H

#include "BundleFolder.h"

#include "moe/MoE/FunctionAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::moe {

/// Reads "1-16,17-128,129-": none after filling `error` with what is wrong.
std::optional<SmallVector<TokenRange>> parseTokenRanges(StringRef text,
                                                        std::string &error);

struct CompileOptions {
  std::string arch;
  /// Ranges by the cost model, where the function has none.
  bool automaticRanges = true;
  /// Write the module after every pass into ir/.
  bool dumpIR = false;
};

/// Lowers `function` of `module` to PTX, after dropping everything else that
/// the module holds. Emits an error on failure.
LogicalResult compileFunction(ModuleOp module, func::FuncOp function,
                              const CompileOptions &options,
                              const BundleFolder &folder);

} // namespace mlir::moe

#endif // MOE_TOOLS_MOE_COMPILE_COMPILE_H
