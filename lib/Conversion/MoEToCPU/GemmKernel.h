//===- GemmKernel.h - the rows of one expert times its matrix -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A blocked matrix product in f32 for a run-time number of rows:
//
//   for a chunk of rows                      gathered once, as f32, into
//   `aPack`
//     for a block of columns                 of b: what fits the L2 cache
//       for a tile of rows                   of aPack: what fits the L1 cache
//         for a tile of columns              accumulators in registers
//           for k
//     for a row of the chunk: epilogue       from `cPack`
//
// Two register tiles, by the layout of b. With `nk` both operands are
// contiguous in k: vectors along k, partial sums in lanes, added up at the end;
// nothing is transposed. With `kn` b is contiguous in n: vectors along n, a
// broadcast. Either way the order of one element's sum depends on K alone,
// never on the number of rows, so results do not change with the batch.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOCPU_GEMMKERNEL_H
#define MOE_LIB_CONVERSION_MOETOCPU_GEMMKERNEL_H

#include "Emitter.h"

namespace mlir::moe::cpu {

/// What is known at compile time.
struct GemmShape {
  BLayout layout;
  /// Element type of b.
  Type bElement;
  /// Columns of b.
  int64_t columns;
  /// Contracted extent, ShapedType::kDynamic for ragged K.
  int64_t k;
};

/// One matrix b and one run of k: `b[prefix..., n, base + i]` or
/// `b[prefix..., base + i, n]` for `0 <= i < k`.
struct GemmMatrix {
  Value b;
  SmallVector<Value> prefix;
  Value base;
  Value k;
};

/// Where the rows of a product come from and go to. `i` counts the rows.
struct GemmRows {
  /// Number of rows.
  Value count;
  Value a;
  /// The indices of row i in a, without the last one.
  function_ref<SmallVector<Value>(Value)> source;
  /// An f32 factor of row i of a; may be null.
  function_ref<Value(Value)> factor;
  /// Takes the f32 row `cPack[row, 0..columns)` of row i.
  function_ref<void(Value i, Value cPack, Value row)> epilogue;
};

/// Emits products of one shape. The scratch buffers are made by the
/// constructor, outside the loop over the experts.
class GemmKernel {
public:
  /// `maxK` bounds the run of k where it is dynamic.
  GemmKernel(Emitter &e, const GemmShape &shape, Value maxK = {});

  void emit(const GemmRows &rows, const GemmMatrix &matrix);

private:
  void packRow(const GemmRows &rows, const GemmMatrix &matrix, Value i,
               Value target);
  /// A row of `width` f32 elements into `pack[target, :]`, zeros behind them
  /// up to a whole vector.
  void copyToPack(Value source, ValueRange prefix, const GemmMatrix &matrix,
                  Value factor, Value pack, Value target);
  void packColumns(const GemmMatrix &matrix, Value first, Value end);
  void emitChunk(const GemmMatrix &matrix, Value rows);
  void rowTiles(Value rows, function_ref<void(Value, int64_t)> body);
  void dotTile(const GemmMatrix &matrix, Value row, int64_t height,
               Value column, Value blockStart);
  void outerTile(const GemmMatrix &matrix, Value row, int64_t height,
                 Value column, ArrayRef<int64_t> widths);
  void prefetchNextTile(const GemmMatrix &matrix, Value column, Value k);
  Value bColumn(Value column);
  Value wholeSteps(const GemmMatrix &matrix);

  Emitter &e;
  GemmShape shape;
  /// Heights of the register tiles, tallest first; multiples of the last.
  SmallVector<int64_t> heights;
  /// Columns of a register tile.
  int64_t tileColumns;
  /// Columns of b that are walked for every tile of rows.
  int64_t blockColumns;
  /// b is converted (or cut to a ragged run of k) into bPack.
  bool packsB;
  Value aPack, bPack, cPack;
};

} // namespace mlir::moe::cpu

#endif // MOE_LIB_CONVERSION_MOETOCPU_GEMMKERNEL_H
