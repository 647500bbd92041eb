//===- Gate.cpp - moe.gate -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "Lowerings.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

/// One dense product; the weight is [E, H], contiguous along H.
void cpu::lower(Emitter &e, GateOp op) {
  auto weightType = cast<MemRefType>(op.getWeight().getType());
  int64_t experts = weightType.getDimSize(0);
  GemmKernel kernel(e, {BLayout::NK, weightType.getElementType(), experts,
                        weightType.getDimSize(1)});
  auto storeRow = [&](Value token, Value cPack, Value packed) {
    e.columnLoop(experts, [&](Value column, int64_t width) {
      Value sum = e.loadVector(cPack, {packed, column}, width);
      if (Value bias = op.getBias())
        sum = e.addf(sum, e.loadVector(bias, {column}, width));
      e.storeVector(sum, op.getLogits(), {token, column});
    });
  };
  kernel.emit({e.sharedDim({op.getX(), op.getLogits()}), op.getX(),
               [](Value token) { return SmallVector<Value>{token}; }, nullptr,
               storeRow},
              {op.getWeight(), {}, nullptr, nullptr});
}
