//===- TensorCoreSupport.cpp - what the tensor-core GEMM kernels take -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCoreSupport.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::moe;

bool moe::hasDynamicGroups(GroupedGemmOp op) {
  auto isDynamic = [](Value value) {
    auto type = cast<ShapedType>(value.getType());
    return type.isDynamicDim(0) || type.isDynamicDim(1);
  };
  return op.getGrouping() == Grouping::Masked &&
         (isDynamic(op.getA()) || isDynamic(op.getC()));
}

std::string moe::whySimt(GroupedGemmOp op) {
  Type a = cast<ShapedType>(op.getA().getType()).getElementType();
  Type b = cast<ShapedType>(op.getB().getType()).getElementType();
  if (a.isF32())
    return "f32 rows are multiplied exactly, without tensor cores";
  if (a != b)
    return "a and b have different types";
  bool needsTable = op.getGrouping() != Grouping::Dense &&
                    op.getGrouping() != Grouping::Aligned &&
                    op.getGrouping() != Grouping::KGrouped;
  if (needsTable && op.getNumResults() == 0)
    return "on memrefs no row table can be put in front of it";
  if (hasDynamicGroups(op))
    return "the capacity of its groups is dynamic";
  if (op.getGrouping() == Grouping::KGrouped)
    return "k_grouped contracts the ragged dimension";
  if (op.getBLayout() != BLayout::NK)
    return "b is laid out as [K, N], the tensor-core kernels read [N, K]";
  if (op.getK() == 0 || op.getNumColumns() == 0)
    return "there is nothing to multiply";
  if (op.getK() % 8 != 0)
    return llvm::formatv("K = {0} is not a multiple of 8, so rows are not "
                         "16-byte aligned",
                         op.getK())
        .str();
  return "";
}
