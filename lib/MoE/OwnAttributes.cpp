//===- OwnAttributes.cpp - refuse attributes that an op does not have -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/OwnAttributes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::moe;

/// The names that a user may write, in alphabetical order.
static SmallVector<StringRef> ownNames(Operation *op) {
  SmallVector<StringRef> names;
  for (StringAttr name : op->getName().getAttributeNames())
    if (name != "operandSegmentSizes" && name != "resultSegmentSizes")
      names.push_back(name);
  return names;
}

/// The name that `written` may stand for, or an empty one: less than half of it
/// is wrong.
static StringRef closest(StringRef written, ArrayRef<StringRef> names) {
  StringRef best;
  size_t bestDistance = (written.size() + 1) / 2;
  for (StringRef name : names) {
    size_t distance = written.edit_distance_insensitive(name);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

LogicalResult moe::detail::verifyOwnAttributes(Operation *op) {
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    if (name.contains('.') || name.starts_with("__"))
      continue;
    SmallVector<StringRef> names = ownNames(op);
    InFlightDiagnostic error = op->emitOpError("has no attribute '")
                               << name << "'";
    StringRef meant = closest(name, names);
    if (!meant.empty())
      error << "; did you mean '" << meant << "'?";
    if (names.empty())
      return error << "; it has none";
    return error << (meant.empty() ? "; it has: " : " It has: ")
                 << llvm::join(names, ", ");
  }
  return success();
}
