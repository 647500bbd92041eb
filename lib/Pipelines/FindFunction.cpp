//===- FindFunction.cpp - the function that a tool works on -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Pipelines/FindFunction.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::moe;

/// "FILE has 3 public functions; choose one: --function=my, kn or k".
static std::string choices(StringRef file, ArrayRef<StringRef> names) {
  if (names.empty())
    return (file + " has no public function with a body").str();
  if (names.size() == 1)
    return (file + " has 1 public function; write --function=" + names[0])
        .str();
  return (file + " has " + Twine(names.size()) +
          " public functions; choose one: --function=" +
          llvm::join(names.drop_back(), ", ") + " or " + names.back())
      .str();
}

func::FuncOp moe::findFunction(ModuleOp module, StringRef file, StringRef name,
                               std::string &error) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      candidates.push_back(function);
  if (name.empty() && candidates.size() == 1)
    return candidates.front();
  name.consume_front("@");
  auto function =
      module.lookupSymbol<func::FuncOp>(name.empty() ? "layer" : name);
  if (function && !function.isExternal())
    return function;
  SmallVector<StringRef> names;
  for (func::FuncOp candidate : candidates)
    names.push_back(candidate.getName());
  if (!name.empty())
    error = ("there is no function " + name + " with a body; ").str();
  error += choices(file == "-" ? "the input" : file, names);
  return {};
}
