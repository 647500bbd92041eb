//===- Activation.cpp - activation of each row -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// a[r, :] = activation(h[r, :]); a row per block in x, columns in y, a vector
// of neighbouring columns per thread.
//
//===----------------------------------------------------------------------===//

#include "Activations.h"
#include "Kernels.h"

using namespace mlir;
using namespace mlir::moe;

LogicalResult moe::outline(ActivationOp op, LaunchSite &site) {
  ActivationAttr activation = op.getActivation();
  auto outType = cast<MemRefType>(op.getA().getType());
  int64_t columns = outType.getDimSize(1);
  if (columns == 0)
    return success();
  bool gated = activation.isGated();
  bool interleaved = activation.getLayout() == GateUpLayout::Interleaved;
  int64_t width = vectorWidth({op.getH(), op.getA()}, columns);
  int64_t vectors = columns / width;
  int64_t threads = threadsFor(vectors, 256);

  KernelBuilder k(site, "activation", threads);
  Buffer h = k.buffer("h", op.getH());
  Buffer a = k.buffer("a", op.getA());
  AffineExpr R = k.gridExtent("R", op.getA(), 0);

  Val row = k.block(0);
  Val vector = k.globalThread(1);
  k.ifThen(vector < static_cast<int>(vectors), [&] {
    Val column = vector * width;
    auto loadH = [&](Val first) {
      return k.loadVector(h, k.at(h, {row, first}), width);
    };
    SmallVector<Val> gate, up;
    if (gated && interleaved) {
      for (int64_t half = 0; half < 2; ++half)
        for (Val v : loadH(column * 2 + half * width))
          (gate.size() == up.size() ? gate : up).push_back(v);
    } else {
      gate = loadH(column);
      up = gated ? loadH(column + columns) : gate;
    }
    SmallVector<Val> results;
    for (auto [g, u] : llvm::zip(gate, up))
      results.push_back(activate(activation, g, u));
    k.storeVector(a, k.at(a, {row, column}), results);
  });
  k.launch({R, k.rule(llvm::divideCeil(vectors, threads))});
  return success();
}
