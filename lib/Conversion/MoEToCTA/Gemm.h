//===- Gemm.h - parts of the GEMM kernel builder ----------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOCTA_GEMM_H
#define MOE_LIB_CONVERSION_MOETOCTA_GEMM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "moe/CTA/CTADialect.h"
#include "moe/Conversion/MoEToCTA.h"
#include "moe/Target/TensorCore.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::cta {

inline constexpr int64_t kMultiplicandBytes = 2;
/// K of one k-block: a tile row of 128 bytes.
inline constexpr int64_t kBlockK = moe::kTileK;
/// Row tiles that a persistent walk goes down before it steps to the next
/// column tile.
inline constexpr int64_t kRasterGroup = 8;

/// What follows from a description: tiles, ring and resources.
struct GemmShape {
  int64_t parts = 1;    // gate and up
  int64_t outCols = 0;  // columns of c
  int64_t tileCols = 0; // columns of c a tile
  int64_t tileRowsB = 0;
  int64_t colTiles = 0;
  int64_t kBlocks = 0;
  int64_t consumers = 0; // warpgroups of a wgmma kernel
  int64_t threads = 0;
  int64_t stages = 0;
  int64_t stageBytes = 0;
  int64_t stagingBytes = 0;
  int64_t ctasPerSM = 1;
  // Elements from row to row, and of b from expert to expert.
  int64_t pitchA = 0, pitchB = 0, pitchC = 0, expertB = 0;
  // Bytes that rows of a and b start at multiples of, at most 16.
  int64_t alignA = 16, alignB = 16;
  /// setmaxnreg budgets of producer and consumers.
  int64_t producerRegisters = 0, consumerRegisters = 0;

  int64_t aBytes(const GemmKernelSpec &spec) const {
    return spec.block * kRowBytes;
  }
};

/// Tiles and resources of a legal description; an error at `loc` when no ring
/// fits.
FailureOr<GemmShape> deriveShape(Location loc, const GemmKernelSpec &spec);

/// One kernel under construction.
struct GemmBuilder {
  GemmBuilder(OpBuilder &b, Location loc, const GemmKernelSpec &spec,
              const GemmShape &shape, Block *entry)
      : b(b), loc(loc), spec(spec), shape(shape), entry(entry) {}

  // Scalars.
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value f32(double value);
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value mul(Value a, int64_t c) {
    return b.createOrFold<arith::MulIOp>(loc, a, i32(c));
  }
  Value param(GemmParam kind) const { return params.lookup(kind); }
  bool has(GemmParam kind) const { return params.contains(kind); }
  Type elementType(GemmElement kind);
  Value loadI32(Value pointer, Value index);
  /// `pointer` plus `expert * elements` elements of `bytes`.
  Value expertBase(Value pointer, Value expert, int64_t elements,
                   int64_t bytes);

  // What both families share.
  /// The entry's arguments in order, moved to where their rows start.
  void bindParams(ArrayRef<GemmParam> kinds);
  PlanOp makePlan(ArrayRef<BufferAttr> buffers);
  Value rowTiles();
  /// First row and column of a tile, its expert, and the sentinel to compare
  /// flat rows with: 0 where the tile has no expert.
  struct Tile {
    Value firstRow, firstCol, expert, limit;
    Value end; // of the places, where a block of the table is shorter
  };
  /// Places of the row table from one tile to the next.
  int64_t tileStep() const {
    return spec.tableBlock ? std::min(spec.tableBlock, spec.block) : spec.block;
  }
  Tile tileOf(Value row, Value col);
  Value sourceRows(const Tile &tile);
  Value table() const {
    return spec.dense ? Value() : param(GemmParam::SortedRows);
  }
  /// Bias, activation and router weight, then the store.
  void finish(const Tile &tile, Value firstRow, Value accumulator, Value rows,
              Value staging);

  // The families.
  void buildMmaSync();
  void buildWgmma();

  OpBuilder &b;
  Location loc;
  const GemmKernelSpec &spec;
  const GemmShape &shape;
  /// Constants are made once, at the start of the kernel.
  Block *entry;
  llvm::SmallDenseMap<int64_t, Value> constants;

  struct Params {
    llvm::SmallDenseMap<int, Value> map;
    Value lookup(GemmParam kind) const {
      return map.lookup(static_cast<int>(kind));
    }
    bool contains(GemmParam kind) const {
      return map.contains(static_cast<int>(kind));
    }
  } params;
};

/// The activation of `gate` (and `up`, null for kinds without a gate).
Value emitActivation(OpBuilder &b, Location loc,
                     const GemmActivationSpec &activation, Value gate,
                     Value up);

} // namespace mlir::cta

#endif // MOE_LIB_CONVERSION_MOETOCTA_GEMM_H
