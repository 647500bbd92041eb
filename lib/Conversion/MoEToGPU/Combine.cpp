//===- Combine.cpp - sum of the expert outputs of each token -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// out[t] = scale * (residual_scale * residual[t] +
//                   routed_scale * sum_j w[t, j] * y[t * k + j])
//
// A token per block in x, columns in y, a vector of neighbouring columns per
// thread. Slots are added in ascending j with separate multiplications and
// additions, as the reference does, so f32 results agree bit for bit. Slots
// come in batches whose loads are all issued before the first is used.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace mlir::moe;

static constexpr int64_t kBatch = 8;

namespace {
/// The kernel of one combine and what its pieces share.
struct Combine {
  CombineOp op;
  KernelBuilder &k;
  int64_t slots, width, globalExperts;
  Buffer y, weights, ids, out;
  std::optional<Buffer> expertMap, x, residual;
  SmallVector<Val> tokenX = {}; // this thread's columns of x[t]

  /// A slot's id and weight, and whether an expert or the identity is there.
  struct Slot {
    Val weight, isExpert, isIdentity;
  };

  Slot loadSlot(Val token, Val j);
  /// `width` elements of a row, or zeros that nothing uses.
  SmallVector<Val> loadIf(Val condition, Val row, Val column);
  SmallVector<Val> addSlots(Val token, Val column, Val first, int64_t count,
                            ArrayRef<Val> sums);
  void emitBody(Val token, Val column);
};
} // namespace

Combine::Slot Combine::loadSlot(Val token, Val j) {
  Val at = k.offset(token, slots, j);
  Val id = k.load(ids, at);
  Slot slot;
  slot.weight = k.load(weights, at);
  slot.isExpert = localExpert(k, id, expertMap, globalExperts,
                              static_cast<int64_t>(op.getExperts())) >= 0;
  if (x) {
    int first = static_cast<int>(globalExperts);
    int last = first + static_cast<int>(op.getIdentityExperts());
    Val notRouted = id >= first;
    slot.isIdentity = notRouted & (id < last);
  }
  return slot;
}

SmallVector<Val> Combine::loadIf(Val condition, Val row, Val column) {
  return k.ifElse(
      condition, [&] { return k.loadVector(y, k.at(y, {row, column}), width); },
      [&] { return SmallVector<Val>(width, k.f32(0)); });
}

SmallVector<Val> Combine::addSlots(Val token, Val column, Val first,
                                   int64_t count, ArrayRef<Val> sums) {
  SmallVector<Slot> slot;
  for (int64_t j = 0; j < count; ++j)
    slot.push_back(loadSlot(token, first + static_cast<int>(j)));
  SmallVector<SmallVector<Val>> rows;
  for (int64_t j = 0; j < count; ++j) {
    Val row = k.offset(token, slots, first + static_cast<int>(j));
    rows.push_back(loadIf(slot[j].isExpert, row, column));
  }
  SmallVector<Val> result(sums);
  for (int64_t j = 0; j < count; ++j)
    for (int64_t i = 0; i < width; ++i) {
      Val term = rows[j][i], taken = slot[j].isExpert;
      if (op.getWeighted())
        term = slot[j].weight * term;
      if (x) {
        term = select(taken, term, slot[j].weight * tokenX[i]);
        taken = taken | slot[j].isIdentity;
      }
      result[i] = select(taken, result[i] + term, result[i]);
    }
  return result;
}

void Combine::emitBody(Val token, Val column) {
  SmallVector<Val> sums(width, k.f32(0));
  if (x)
    tokenX = k.loadVector(*x, k.at(*x, {token, column}), width);
  int64_t batch = std::min(slots, kBatch);
  int64_t whole = slots / batch * batch;
  sums =
      k.forLoop(0, whole, batch, sums, [&](Val first, ArrayRef<Val> carried) {
        return addSlots(token, column, first, batch, carried);
      });
  if (whole < slots)
    sums = addSlots(token, column, k.i32(whole), slots - whole, sums);

  double routedScale = op.getRoutedScale().convertToFloat();
  for (Val &sum : sums)
    sum = sum * routedScale;
  if (residual) {
    double residualScale = op.getResidualScale().convertToFloat();
    Val at = k.at(*residual, {token, column});
    SmallVector<Val> values = k.loadVector(*residual, at, width);
    for (auto [sum, value] : llvm::zip(sums, values))
      sum = value * residualScale + sum;
  }
  double scale = op.getScale().convertToFloat();
  for (Val &sum : sums)
    sum = sum * scale;
  k.storeVector(out, k.at(out, {token, column}), sums);
}

LogicalResult moe::outline(CombineOp op, LaunchSite &site) {
  auto outType = cast<MemRefType>(op.getOut().getType());
  int64_t columns = outType.getDimSize(1);
  int64_t slots = cast<MemRefType>(op.getIds().getType()).getDimSize(1);
  if (columns == 0)
    return success();
  int64_t globalExperts = op.getExperts();
  if (op.getExpertMap())
    globalExperts = cast<MemRefType>(op.getExpertMap().getType()).getDimSize(0);
  SmallVector<Value> vectored = {op.getY(), op.getOut()};
  for (Value rows : {op.getX(), op.getResidual()})
    if (rows)
      vectored.push_back(rows);
  int64_t width = vectorWidth(vectored, columns);
  int64_t vectors = columns / width;
  int64_t threads = threadsFor(vectors, 256);

  KernelBuilder k(site, "combine", threads);
  Combine combine{op,
                  k,
                  slots,
                  width,
                  globalExperts,
                  k.buffer("y", op.getY()),
                  k.buffer("weights", op.getWeights()),
                  k.buffer("ids", op.getIds()),
                  k.buffer("out", op.getOut()),
                  optionalBuffer(k, "expert_map", op.getExpertMap()),
                  optionalBuffer(k, "x", op.getX()),
                  optionalBuffer(k, "residual", op.getResidual())};
  AffineExpr T = k.gridExtent("T", op.getOut(), 0);

  Val vector = k.globalThread(1);
  k.ifThen(vector < static_cast<int>(vectors), [&] {
    Val token = k.block(0);
    combine.emitBody(token, vector * width);
  });
  k.launch({T, k.rule(llvm::divideCeil(vectors, threads))});
  return success();
}
