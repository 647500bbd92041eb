//===- RowSort.h - stable counting sort of flat rows by expert -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOGPU_ROWSORT_H
#define MOE_LIB_CONVERSION_MOETOGPU_ROWSORT_H

#include "Kernels.h"

namespace mlir::moe {

/// Lists the flat rows of `ids` [T, k] expert by expert in ascending order,
/// every expert padded to a multiple of `block` rows. Host memrefs; the last
/// four are absent where nobody wants them.
struct RowSort {
  LaunchSite &site;
  Value ids;
  Value expertMap;
  int64_t experts; // local
  int64_t block;
  Value sorted;     // flat rows, elsewhere the sentinel T * k
  Value tileExpert; // expert of each block of `sorted`, or -1
  Value padded;     // [1]: rows listed, padding included
  Value counts;     // rows of each expert
  Value ends;       // where each expert's rows end in `sorted`; block is 1
  Value ranks = {}; // workspace [T * k]: rank of a row among its chunk's equals
  Value places = {}; // workspace [chunks, experts]: rows, then first place

  /// Threads and warps of every block.
  static constexpr int kThreads = 1024;
  static constexpr int kWarps = kThreads / 32;

  /// Adds the kernels: one, or three where the number of rows may be large.
  void emit();

  // The parts of emit.
  /// Whether one block is to do everything; a remark says why.
  bool chooseOneBlock();
  void emitOneBlock();
  void emitRank();
  void emitScan();
  void emitScatter();

  // Pieces of the kernels.
  /// The local expert of a row, or -1; also where it is none of `rows`.
  Val expertOf(KernelBuilder &k, Buffer idBuffer, std::optional<Buffer> map,
               Val row);
  Val expertOf(KernelBuilder &k, Buffer idBuffer, std::optional<Buffer> map,
               Val row, Val rows);
  /// `count` rounded up to a multiple of `block`.
  Val wholeBlocks(Val count);
  /// padded, and tile_expert: the last expert that starts at or before the
  /// block's row. `starts` is shared memory, `listed` the end of the last.
  void emitTiles(KernelBuilder &k, Buffer starts, Val listed);

  int64_t slots();
  int64_t globalExperts();
  /// Warps of the one block that count rows: as many as shared memory holds
  /// counters for.
  int64_t countingWarps();
};

/// A row of each lane of a warp, seen from one of them.
struct WarpRows {
  /// `expert` of the row, -1 for none. For all lanes of a warp.
  WarpRows(KernelBuilder &k, Val expert);
  /// Adds the rows to the counters of their experts, which start at `first`,
  /// and returns what the own one held. For all lanes; a later reader of the
  /// counters needs a barrier.
  Val addTo(KernelBuilder &k, Buffer counters, Val first) const;

  Val expert;
  Val known; // there is an expert
  Val rank;  // rows of the same expert in lanes before
  Val count; // rows of the same expert in all lanes
};

/// Replaces each of `count` shared numbers by the sum of those before it; the
/// result is the sum of all. For all threads of a block: begins with each
/// thread reading what it wrote, ends with a barrier.
Val exclusiveScan(KernelBuilder &k, Buffer numbers, int count);

/// Visits the counts of one expert in all chunks, `places` [chunks, experts];
/// `body` gets the offset of a count, the count and what it carries, and
/// returns what it carries. Counts are loaded in batches, so that stores of the
/// body do not hold up the next loads.
Val forChunks(KernelBuilder &k, Buffer places, Val expert, int64_t experts,
              Val chunks, Val init, function_ref<Val(Val, Val, Val)> body);

} // namespace mlir::moe

#endif // MOE_LIB_CONVERSION_MOETOGPU_ROWSORT_H
