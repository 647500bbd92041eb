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
  Value ends;       // where each expert's rows end in `sorted`
  Value ranks = {}; // workspace [T * k]: rank of a row among its chunk's equals
  Value places = {}; // workspace [chunks, experts]: rows, then first place

  /// Adds the three kernels.
  void emit();

  // The parts of emit.
  void emitRank();
  void emitScan();
  void emitScatter();
  void emitTiles(KernelBuilder &k, Buffer starts, Val listed);
  Val expertOf(KernelBuilder &k, Buffer idBuffer, std::optional<Buffer> map,
               Val row);
  int64_t slots();
  int64_t globalExperts();
};

} // namespace mlir::moe

#endif // MOE_LIB_CONVERSION_MOETOGPU_ROWSORT_H
