//===- OwnAttributes.h - refuse attributes that an op does not have -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR takes any attribute on any op. A misspelt name would be kept as an
// attribute that nobody reads, and the op would mean something else.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_MOE_OWNATTRIBUTES_H
#define MOE_MOE_OWNATTRIBUTES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::moe {

namespace detail {
/// Emits an error at `op` for an attribute that is neither its own nor belongs
/// to a dialect (`name.space`) or to MLIR (`__name`).
LogicalResult verifyOwnAttributes(Operation *op);
} // namespace detail

/// The op has the attributes of its definition and those of dialects.
template <typename ConcreteType>
class OnlyOwnAttributes
    : public OpTrait::TraitBase<ConcreteType, OnlyOwnAttributes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyOwnAttributes(op);
  }
};

} // namespace mlir::moe

#endif // MOE_MOE_OWNATTRIBUTES_H
