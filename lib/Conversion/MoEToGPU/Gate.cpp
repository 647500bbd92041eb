//===- Gate.cpp - router logits -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// logits[t, e] = x[t, :] . weight[e, :] + bias[e]
//
// A thread block computes 4 tokens x 4 experts. Its threads split H, so that
// few tokens still read the router weights with many loads in flight; partial
// sums meet in warp shuffles and then in shared memory.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace mlir::moe;

static constexpr int64_t kTokens = 4;
static constexpr int64_t kExperts = 4;

/// Rows `first`, `first + 1`, ... clamped to `last`: tiles at the edge read the
/// last row again and drop what they compute with it.
static SmallVector<Val> tileRows(KernelBuilder &k, Val first, int64_t count,
                                 Val last) {
  SmallVector<Val> rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(min(first + static_cast<int>(i), last));
  return rows;
}

/// Adds `vectors` neighbouring products to each of the tile's sums.
static SmallVector<Val> addProducts(KernelBuilder &k,
                                    ArrayRef<SmallVector<Val>> tokens,
                                    ArrayRef<SmallVector<Val>> experts,
                                    ArrayRef<Val> sums) {
  SmallVector<Val> result(sums);
  for (int64_t t = 0; t < kTokens; ++t)
    for (int64_t e = 0; e < kExperts; ++e)
      for (auto [x, w] : llvm::zip(tokens[t], experts[e]))
        result[t * kExperts + e] = k.fma(x, w, result[t * kExperts + e]);
  return result;
}

LogicalResult moe::outline(GateOp op, LaunchSite &site) {
  auto weightType = cast<MemRefType>(op.getWeight().getType());
  int64_t numExperts = weightType.getDimSize(0), h = weightType.getDimSize(1);
  int64_t width = vectorWidth({op.getX(), op.getWeight()}, h);
  int64_t threads = threadsFor(h / width, 256);
  int64_t warps = threads / 32;

  KernelBuilder k(site, "gate", threads);
  Buffer x = k.buffer("x", op.getX());
  Buffer weight = k.buffer("weight", op.getWeight());
  std::optional<Buffer> bias = optionalBuffer(k, "bias", op.getBias());
  Buffer logits = k.buffer("logits", op.getLogits());
  Extent T = k.extent("T", op.getX(), 0);

  Val firstToken = k.block(0) * static_cast<int>(kTokens);
  Val firstExpert = k.block(1) * static_cast<int>(kExperts);
  SmallVector<Val> tokens = tileRows(k, firstToken, kTokens, T.value - 1);
  SmallVector<Val> experts =
      tileRows(k, firstExpert, kExperts, k.i32(numExperts - 1));

  // Each thread takes every `threads`-th vector of a row.
  SmallVector<Val> sums(kTokens * kExperts, k.f32(0));
  sums = k.forLoop(
      k.thread(), static_cast<int>(h / width), static_cast<int>(threads), sums,
      [&](Val i, ArrayRef<Val> carried) {
        Val column = i * width;
        SmallVector<SmallVector<Val>> xs, ws;
        for (Val row : tokens)
          xs.push_back(k.loadVector(x, k.at(x, {row, column}), width));
        for (Val row : experts)
          ws.push_back(
              k.loadVector(weight, k.at(weight, {row, column}), width));
        return addProducts(k, xs, ws, carried);
      });

  // Warp by warp into shared memory, then one thread per logit.
  Buffer partial = k.shared("partial", k.f32Type(), warps * sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    Val total = k.warpSum(sums[i]);
    k.ifThen(k.lane() == 0, [&] {
      k.store(partial,
              k.warp() * static_cast<int>(sums.size()) + static_cast<int>(i),
              total);
    });
  }
  k.barrier();
  Val tile = k.thread();
  Val token = firstToken + tile / static_cast<int>(kExperts);
  Val expert = firstExpert + tile % static_cast<int>(kExperts);
  Val inTile = tile < static_cast<int>(sums.size());
  Val isToken = token < T.value;
  Val isExpert = expert < static_cast<int>(numExperts);
  k.ifThen(inTile & isToken & isExpert, [&] {
    Val total = k.load(partial, tile);
    for (int64_t warp = 1; warp < warps; ++warp)
      total =
          total + k.load(partial, tile + static_cast<int>(warp * sums.size()));
    if (bias)
      total = total + k.load(*bias, expert);
    k.store(logits, k.at(logits, {token, expert}), total);
  });
  k.launch({T.symbol.ceilDiv(kTokens),
            k.rule(llvm::divideCeil(numExperts, kExperts))});
  return success();
}
