//===- GemmKernel.cpp - the rows of one expert times its matrix -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

/// Rows gathered at a time. Every chunk walks the whole matrix again.
static constexpr int64_t kChunkRows = 96;
/// Elements of b in a block of columns: 256 KB, within the L2 cache.
static constexpr int64_t kBlockElements = 65536;
/// Columns of a tile with vectors along k, so that four sums make one store.
static constexpr int64_t kDotColumns = 4;

//===----------------------------------------------------------------------===//
// Scratch and packing
//===----------------------------------------------------------------------===//

GemmKernel::GemmKernel(Emitter &e, const GemmShape &shape, Value maxK)
    : e(e), shape(shape) {
  bool nk = shape.layout == BLayout::NK;
  bool ragged = ShapedType::isDynamic(shape.k);
  // 24 of 32 registers accumulate with 512-bit vectors, 12 of 16 with less.
  bool manyRegisters = e.lanes >= 16;
  if (nk && !manyRegisters)
    heights = {3, 2, 1};
  else
    heights = {6, 4, 2};
  tileColumns = nk ? kDotColumns : (manyRegisters ? 4 : 2) * e.lanes;
  packsB = nk && (ragged || !shape.bElement.isF32());

  int64_t paddedColumns = llvm::alignTo(shape.columns, kDotColumns);
  blockColumns = ragged ? 64 : kBlockElements / std::max<int64_t>(shape.k, 1);
  blockColumns = std::max(blockColumns / tileColumns, int64_t(1)) * tileColumns;
  blockColumns = std::min<int64_t>(blockColumns,
                                   llvm::alignTo(shape.columns, tileColumns));

  // One vector more than k needs: rows a power of two apart would fight for
  // the same sets of the cache.
  int64_t stride = ShapedType::kDynamic;
  SmallVector<Value> strideValue;
  if (ragged) {
    Value vectors = e.div(e.add(maxK, e.lanes - 1), e.lanes);
    strideValue = {e.mul(e.add(vectors, 1), e.lanes)};
  } else {
    stride = llvm::alignTo(shape.k, e.lanes) + e.lanes;
  }
  int64_t rows = kChunkRows + heights.front();
  Type f32 = e.getF32Type();
  aPack = e.scratch({rows, stride}, f32, strideValue);
  cPack = e.scratch({rows, paddedColumns}, f32);
  if (packsB)
    bPack = e.scratch({blockColumns, stride}, f32, strideValue);
}

/// The vectors of k that are full, as elements.
Value GemmKernel::wholeSteps(const GemmMatrix &matrix) {
  if (!ShapedType::isDynamic(shape.k))
    return e.index(shape.k / e.lanes * e.lanes);
  return e.mul(e.div(matrix.k, e.lanes), e.lanes);
}

void GemmKernel::copyToPack(Value source, ValueRange prefix,
                            const GemmMatrix &matrix, Value factor, Value pack,
                            Value target) {
  auto at = [&](Value k) {
    SmallVector<Value> indices(prefix);
    indices.push_back(matrix.base ? e.add(matrix.base, k) : k);
    return indices;
  };
  auto copy = [&](Value k, int64_t width) {
    Value vector = e.loadVector(source, at(k), width);
    if (factor)
      vector = e.mulf(e.splat(factor, width), vector);
    e.storeVector(e.padVector(vector), pack, {target, k});
  };
  Value whole = wholeSteps(matrix);
  e.loop(e.index(0), whole, e.lanes, [&](Value k) { copy(k, e.lanes); });
  if (ShapedType::isDynamic(shape.k)) {
    Value left = e.sub(matrix.k, whole);
    e.when(e.isBelow(e.index(0), left), [&] {
      Value prefix = e.loadVectorPrefix(source, at(whole), left);
      e.storeVector(prefix, pack, {target, whole});
    });
  } else if (int64_t left = shape.k % e.lanes) {
    copy(whole, left);
  }
}

void GemmKernel::packRow(const GemmRows &rows, const GemmMatrix &matrix,
                         Value i, Value target) {
  Value factor = rows.factor ? rows.factor(i) : Value();
  copyToPack(rows.a, rows.source(i), matrix, factor, aPack, target);
}

/// The column of b that a tile reads: past the end it repeats the last one,
/// whose sums go to the padding of cPack.
Value GemmKernel::bColumn(Value column) {
  if (shape.columns % kDotColumns == 0)
    return column;
  return e.min(column, shape.columns - 1);
}

void GemmKernel::packColumns(const GemmMatrix &matrix, Value first, Value end) {
  e.loop(first, end, 1, [&](Value column) {
    SmallVector<Value> prefix(matrix.prefix);
    prefix.push_back(bColumn(column));
    copyToPack(matrix.b, prefix, matrix, nullptr, bPack, e.sub(column, first));
  });
}

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

/// The indices of element k of column n of an `nk` matrix.
static SmallVector<Value> columnAt(const GemmMatrix &matrix, Value n, Value k) {
  SmallVector<Value> indices(matrix.prefix);
  indices.append({n, k});
  return indices;
}

/// A column is short for the hardware's prefetcher, which stops at pages: ask
/// for what the tile to the right reads at the same k.
void GemmKernel::prefetchNextTile(const GemmMatrix &matrix, Value column,
                                  Value k) {
  for (int64_t c = 0; c < kDotColumns; ++c) {
    Value n = e.min(e.add(column, kDotColumns + c), shape.columns - 1);
    memref::PrefetchOp::create(e, matrix.b, columnAt(matrix, n, k),
                               /*isWrite=*/false, /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

/// Adds up the lanes of four vectors: [sum(v0), sum(v1), sum(v2), sum(v3)].
/// Shuffles within 128-bit lanes come first, because they are the cheap ones.
static Value sumLanes(Emitter &e, ArrayRef<Value> v, int64_t lanes) {
  auto addShuffles = [&](Value a, Value b, ArrayRef<int64_t> first,
                         ArrayRef<int64_t> second) {
    Value left = vector::ShuffleOp::create(e, a, b, first);
    Value right = vector::ShuffleOp::create(e, a, b, second);
    return e.addf(left, right);
  };
  auto pattern = [&](ArrayRef<int64_t> quad) {
    SmallVector<int64_t> mask;
    for (int64_t base = 0; base < lanes; base += 4)
      for (int64_t lane : quad)
        mask.push_back(base + (lane < 4 ? lane : lanes + lane - 4));
    return mask;
  };
  auto pairs = [&](Value a, Value b) {
    return addShuffles(a, b, pattern({0, 4, 1, 5}), pattern({2, 6, 3, 7}));
  };
  Value ab = pairs(v[0], v[1]), cd = pairs(v[2], v[3]);
  Value sum = addShuffles(ab, cd, pattern({0, 1, 4, 5}), pattern({2, 3, 6, 7}));
  for (int64_t width = lanes / 2; width >= 4; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < width; ++i) {
      low.push_back(i);
      high.push_back(width + i);
    }
    sum = addShuffles(sum, sum, low, high);
  }
  return sum;
}

void GemmKernel::dotTile(const GemmMatrix &matrix, Value row, int64_t height,
                         Value column, Value blockStart) {
  SmallVector<Value> aRows, bColumns;
  for (int64_t r = 0; r < height; ++r)
    aRows.push_back(e.add(row, r));
  for (int64_t c = 0; c < kDotColumns; ++c) {
    Value n = e.add(column, c);
    bColumns.push_back(packsB ? e.sub(n, blockStart) : bColumn(n));
  }
  auto step = [&](Value k, int64_t count, ValueRange sums) {
    SmallVector<Value> next(sums), b;
    for (Value n : bColumns)
      b.push_back(packsB ? e.loadVector(bPack, {n, k}, count)
                         : e.padVector(e.loadVector(
                               matrix.b, columnAt(matrix, n, k), count)));
    for (int64_t r = 0; r < height; ++r) {
      Value a = e.loadVector(aPack, {aRows[r], k}, e.lanes);
      for (int64_t c = 0; c < kDotColumns; ++c) {
        Value &sum = next[r * kDotColumns + c];
        sum = vector::FMAOp::create(e, a, b[c], sum);
      }
    }
    return next;
  };

  auto vectorType = VectorType::get(e.lanes, e.getF32Type());
  SmallVector<Value> sums(height * kDotColumns, e.constantLike(vectorType, 0));
  Value all = ShapedType::isDynamic(shape.k) ? matrix.k : e.index(shape.k);
  // Packed operands end in zeros, so a last partial vector needs no care.
  Value end = packsB ? all : wholeSteps(matrix);
  sums =
      e.loop(e.index(0), end, e.lanes, sums, [&](Value k, ValueRange carried) {
        if (!packsB)
          prefetchNextTile(matrix, column, k);
        return step(k, e.lanes, carried);
      });
  int64_t left = packsB ? 0 : shape.k % e.lanes;
  if (left)
    sums = step(end, left, sums);
  for (int64_t r = 0; r < height; ++r) {
    ArrayRef<Value> ofRow = ArrayRef(sums).slice(r * kDotColumns, kDotColumns);
    e.storeVector(sumLanes(e, ofRow, e.lanes), cPack, {aRows[r], column});
  }
}

void GemmKernel::outerTile(const GemmMatrix &matrix, Value row, int64_t height,
                           Value column, ArrayRef<int64_t> widths) {
  SmallVector<Value> aRows, columns, sums;
  for (int64_t r = 0; r < height; ++r) {
    aRows.push_back(e.add(row, r));
    for (int64_t width : widths)
      sums.push_back(e.constantLike(VectorType::get(width, e.getF32Type()), 0));
  }
  for (size_t c = 0; c < widths.size(); ++c)
    columns.push_back(e.add(column, c * e.lanes));

  Value end = ShapedType::isDynamic(shape.k) ? matrix.k : e.index(shape.k);
  sums = e.loop(end, sums, [&](Value k, ValueRange carried) {
    SmallVector<Value> next(carried), b;
    for (auto [n, width] : llvm::zip(columns, widths)) {
      SmallVector<Value> indices(matrix.prefix);
      indices.append({matrix.base ? e.add(matrix.base, k) : k, n});
      b.push_back(e.loadVector(matrix.b, indices, width));
    }
    for (int64_t r = 0; r < height; ++r) {
      Value a = e.load(aPack, {aRows[r], k});
      for (auto [c, width] : llvm::enumerate(widths)) {
        Value &sum = next[r * widths.size() + c];
        sum = vector::FMAOp::create(e, e.splat(a, width), b[c], sum);
      }
    }
    return next;
  });
  for (int64_t r = 0; r < height; ++r)
    for (size_t c = 0; c < widths.size(); ++c)
      e.storeVector(sums[r * widths.size() + c], cPack, {aRows[r], columns[c]});
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The loop over tiles of rows: the tallest as often as they fit, then the
/// smallest one that holds what is left. Rows past `rows` hold no data that
/// anyone reads.
void GemmKernel::rowTiles(Value rows, function_ref<void(Value, int64_t)> body) {
  int64_t tallest = heights.front();
  Value whole = e.mul(e.div(rows, tallest), tallest);
  e.loop(e.index(0), whole, tallest, [&](Value row) { body(row, tallest); });
  Value left = e.sub(rows, whole);
  // Heights ascending; each takes what the one before could not.
  int64_t taken = 0;
  for (int64_t candidate : llvm::reverse(heights)) {
    if (taken == tallest - 1)
      break;
    Value fits = e.compare(arith::CmpIPredicate::sle, left, e.index(candidate));
    Value first = e.compare(arith::CmpIPredicate::sgt, left, e.index(taken));
    e.when(e.both(fits, first), [&] { body(whole, candidate); });
    taken = candidate;
  }
}

void GemmKernel::emitChunk(const GemmMatrix &matrix, Value rows) {
  int64_t columns = shape.columns;
  if (shape.layout == BLayout::NK) {
    Value all = e.index(columns);
    e.loop(e.index(0), all, blockColumns, [&](Value first) {
      Value next = e.add(first, blockColumns);
      if (packsB)
        packColumns(matrix, first,
                    e.min(next, llvm::alignTo(columns, kDotColumns)));
      Value end = e.min(next, all);
      rowTiles(rows, [&](Value row, int64_t height) {
        e.loop(first, end, kDotColumns, [&](Value column) {
          dotTile(matrix, row, height, column, first);
        });
      });
    });
    return;
  }
  SmallVector<int64_t> full(tileColumns / e.lanes, e.lanes), last;
  int64_t whole = columns / tileColumns * tileColumns;
  if (whole) {
    Value first = e.index(0);
    e.loop(first, e.index(whole), tileColumns, [&](Value column) {
      rowTiles(rows, [&](Value row, int64_t height) {
        outerTile(matrix, row, height, column, full);
      });
    });
  }
  for (int64_t column = whole; column < columns; column += e.lanes)
    last.push_back(std::min(e.lanes, columns - column));
  if (!last.empty())
    rowTiles(rows, [&](Value row, int64_t height) {
      outerTile(matrix, row, height, e.index(whole), last);
    });
}

void GemmKernel::emit(const GemmRows &rows, const GemmMatrix &matrix) {
  e.loop(e.index(0), rows.count, kChunkRows, [&](Value first) {
    Value count = e.min(e.sub(rows.count, first), kChunkRows);
    // A last tile of rows may be one row too tall: repeat the last row, so that
    // it reads numbers.
    int64_t granule = heights.back();
    Value padded = e.mul(e.div(e.add(count, granule - 1), granule), granule);
    e.loop(padded, [&](Value row) {
      Value last = e.sub(count, 1);
      packRow(rows, matrix, e.add(first, e.min(row, last)), row);
    });
    emitChunk(matrix, count);
    e.loop(count,
           [&](Value row) { rows.epilogue(e.add(first, row), cPack, row); });
  });
}
