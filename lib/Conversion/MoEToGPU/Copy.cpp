//===- Copy.cpp - copies and fills of whole buffers -------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization leaves a copy where a function returns what it was given, and a
// destination may be filled before rows of it are written. A row, the innermost
// dimension, per block; the outer indices come from the block number.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::moe;

static constexpr int64_t kMostThreads = 256;
/// Vectors that a thread takes of one row.
static constexpr int64_t kVectorsPerThread = 16;

namespace {
/// The rows of a buffer of any rank and the part of one that a thread visits.
struct RowWalk {
  RowWalk(KernelBuilder &k, Value memref);

  /// Calls `body` with the indices of every vector of `width` elements.
  void forVectors(int64_t width, function_ref<void(ArrayRef<Val>)> body);
  void launch() { k.launch({rows, blocksPerRow}); }

  KernelBuilder &k;
  AffineExpr rows, blocksPerRow;
  SmallVector<Val> outer; // i32 indices
  Extent columns;
};
} // namespace

RowWalk::RowWalk(KernelBuilder &k, Value memref) : k(k), rows(k.rule(1)) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t rank = type.getRank();
  SmallVector<Val> extents;
  columns = {k.i32(1), k.rule(1)};
  for (int64_t i = 0; i < rank; ++i) {
    std::string name = "D" + std::to_string(i);
    bool fixed = !type.isDynamicDim(i);
    Extent extent =
        fixed ? Extent{k.i32(type.getDimSize(i)), k.rule(type.getDimSize(i))}
              : k.extent(name, memref, i);
    extents.push_back(extent.value);
    if (i + 1 < rank)
      rows = rows * extent.symbol;
    columns = extent;
  }
  Val rest = k.block();
  for (int64_t i = rank - 2; i >= 0; --i) {
    outer.insert(outer.begin(), rest % extents[i]);
    rest = rest / extents[i];
  }
}

void RowWalk::forVectors(int64_t width,
                         function_ref<void(ArrayRef<Val>)> body) {
  int64_t chunk = k.threadCount() * kVectorsPerThread;
  blocksPerRow = columns.symbol.ceilDiv(width * chunk);
  Val vectors = columns.value / width;
  Val first = k.block(1) * chunk;
  Val end = min(vectors - first, chunk);
  k.forLoop(k.thread(), end, k.threadCount(), [&](Val i) {
    SmallVector<Val> indices(outer);
    Val vector = first + i;
    indices.push_back(vector * width);
    body(indices);
  });
}

static int64_t threadsOfRow(MemRefType type, int64_t width) {
  int64_t columns = type.getRank() ? type.getShape().back() : 1;
  return ShapedType::isDynamic(columns)
             ? kMostThreads
             : threadsFor(columns / width, kMostThreads);
}

LogicalResult moe::outline(memref::CopyOp op, LaunchSite &site) {
  auto type = cast<MemRefType>(op.getTarget().getType());
  int64_t columns = type.getRank() ? type.getShape().back() : 1;
  int64_t width = vectorWidth({op.getSource(), op.getTarget()}, columns);
  KernelBuilder k(site, "copy", threadsOfRow(type, width));
  Buffer from = k.buffer("from", op.getSource());
  Buffer to = k.buffer("to", op.getTarget());
  // The bits as they are.
  from.element = to.element = k.b.getIntegerType(type.getElementTypeBitWidth());
  RowWalk walk(k, op.getTarget());
  walk.forVectors(width, [&](ArrayRef<Val> indices) {
    SmallVector<Val> values = k.loadVector(from, k.at(from, indices), width);
    k.storeVector(to, k.at(to, indices), values);
  });
  walk.launch();
  return success();
}

bool moe::isConstantFill(linalg::FillOp op) {
  return op.getNumResults() == 0 && matchPattern(op.value(), m_Constant());
}

LogicalResult moe::outline(linalg::FillOp op, LaunchSite &site) {
  Value memref = op.output();
  auto type = cast<MemRefType>(memref.getType());
  int64_t columns = type.getRank() ? type.getShape().back() : 1;
  int64_t width = vectorWidth({memref}, columns);
  KernelBuilder k(site, "fill", threadsOfRow(type, width));
  Buffer to = k.buffer("to", memref);
  Val value = k.wrap(k.b.clone(*op.value().getDefiningOp())->getResult(0));
  if (value.isFloat() && !value.type().isF32()) // stores round back
    value = k.wrap(k.b.createOrFold<arith::ExtFOp>(k.f32Type(), value.value));
  RowWalk walk(k, memref);
  walk.forVectors(width, [&](ArrayRef<Val> indices) {
    k.storeVector(to, k.at(to, indices), SmallVector<Val>(width, value));
  });
  walk.launch();
  return success();
}
