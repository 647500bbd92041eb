//===- LaunchList.h - a host function as JSON -------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_BUNDLE_LAUNCHLIST_H
#define MOE_LIB_BUNDLE_LAUNCHLIST_H

#include "moe/MoE/FunctionAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <nlohmann/json.hpp>

namespace mlir::moe {

using Json = nlohmann::ordered_json;

/// "bf16".
std::string typeName(Type type);

/// EXPR of an extent in terms of the arguments.
Json extentAsJson(ExtentAttr extent);

/// SIZE of extent `i` of argument `argument`, as `moe.argument` says or, where
/// that is absent, free.
Json argumentExtent(func::FuncOp function, unsigned argument, int64_t i);

/// Kernels by name, in the order of their first launch.
struct KernelTable {
  Json list = Json::array();
  llvm::StringMap<size_t> positions = {};
};

/// Workspace, maps and launches of a host function, in order. Adds its kernels
/// to `kernels`. Emits an error at an op that has no place in a launch list.
FailureOr<Json> buildLaunchList(func::FuncOp function, KernelTable &kernels);

} // namespace mlir::moe

#endif // MOE_LIB_BUNDLE_LAUNCHLIST_H
