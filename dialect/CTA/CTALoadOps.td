//===- CTALoadOps.td - loads of tiles into shared memory -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_LOAD_OPS
#define CTA_LOAD_OPS

include "CTAKernelOps.td"
include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.td"

def CTA_SourceRowsOp : CTA_Op<"source_rows", [AttrSizedOperandSegments]> {
  let summary = "Resolve the rows of a tile to global addresses";
  let description = [{
    The 128 threads of the loading warpgroup copy a tile of `rows` rows; thread
    `t` copies 16-byte chunk `t % 8` of rows `t / 8 + 16 i`. For each of these
    rows `p = first + row` the op reads the flat row `f = table[p]` (`f = p`
    without a table). Rows with `f >= limit` are masked, and so are places at
    or past `end`, whose table entry is not read. The source row is
    `p` when `sorted`, else `f / divisor`, at `base + source * pitch` bytes.

    Constraints:
    - (C1) `rows` is a multiple of 16 and the result holds `rows / 16` rows.
    - (C2) `divisor` is positive; `sorted` comes with divisor 1.
    - (C3) `pitch` is a positive multiple of 4.
  }];
  let arguments = (ins CTA_Global:$base, I32:$first, I32:$limit,
                       Optional<CTA_Global>:$table, Optional<I32>:$end,
                       I64Attr:$rows, I64Attr:$pitch, I64Attr:$divisor, UnitAttr:$sorted);
  let results = (outs CTA_SourceRowsType:$result);
  let assemblyFormat = [{
    $base `[` $first (`to` $end^)? `]` `below` $limit (`table` $table^)? `rows` $rows
    `pitch` $pitch `divisor` $divisor (`sorted` $sorted^)? attr-dict
    `:` type($base) (`,` type($table)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def CTA_GatherLoadOp : CTA_Op<"gather_load"> {
  let summary = "Copy one k-block of gathered rows into a swizzled tile";
  let description = [{
    cp.async copies of 16 bytes from the resolved rows, from element `k` of each
    row on, in pieces of `align` bytes, which rows start at multiples of. Masked
    rows and elements at or past `extent` become zeros: the copy is shorter and
    reads nothing there.

    Constraints:
    - (C1) `extent` is positive (elements of 2 bytes).
    - (C2) `align` is 4, 8 or 16.
  }];
  let arguments = (ins CTA_SourceRowsType:$source, I32:$k, CTA_Shared:$tile,
                       I64Attr:$extent, DefaultValuedAttr<I64Attr, "16">:$align);
  let assemblyFormat = [{
    $source `[` $k `]` `to` $tile `extent` $extent attr-dict
    `:` type($source) `,` type($tile)
  }];
  let hasVerifier = 1;
}

def CTA_TileLoadOp : CTA_Op<"tile_load"> {
  let summary = "Copy one k-block of a strided matrix into a swizzled tile";
  let description = [{
    As `cta.gather_load`, for rows whose addresses follow from a formula. The
    tile has `rows` rows in `parts` equal parts of `w` rows; row `i` of part `p`
    is matrix row `p * partStride + (first + i) * rowStride`. Rows with
    `first + i >= limit` become zeros. Gate and up rows are two parts: with
    halves partStride is their distance and rowStride 1, interleaved ones have
    partStride 1 and rowStride 2.

    Constraints:
    - (C1) `rows` is a multiple of `16 * parts`.
    - (C2) `extent` is positive (elements of 2 bytes) and `pitch` a multiple of
      `align` that holds it.
    - (C3) `limit`, `rowStride` and `parts` are positive; `partStride` is
      positive when there is more than one part.
    - (C4) `align` is 4, 8 or 16.
  }];
  let arguments = (ins CTA_Global:$base, I32:$first, I32:$k, CTA_Shared:$tile,
                       I64Attr:$rows, I64Attr:$limit, I64Attr:$pitch,
                       I64Attr:$extent, DefaultValuedAttr<I64Attr, "1">:$parts,
                       DefaultValuedAttr<I64Attr, "0">:$partStride,
                       DefaultValuedAttr<I64Attr, "1">:$rowStride,
                       DefaultValuedAttr<I64Attr, "16">:$align);
  let assemblyFormat = [{
    $base `[` $first `,` $k `]` `to` $tile `rows` $rows `limit` $limit
    `pitch` $pitch `extent` $extent
    (`parts` $parts^ `partStride` $partStride `rowStride` $rowStride)?
    attr-dict `:` type($base) `,` type($tile)
  }];
  let hasVerifier = 1;
}

def CTA_TmaLoadOp : CTA_Op<"tma_load", [NVVMRequiresSM<90>]> {
  let summary = "Copy a box of a tensor map into a stage";
  let description = [{
    One elected lane of the first producer warp announces the bytes on the
    stage's full barrier and issues the bulk tensor copy. The map has elements
    of `elementBytes`, a 128-byte swizzle, and the given box, innermost
    dimension first.

    Constraints:
    - (C1) There is one coordinate for each dimension of the box, 2 to 5.
    - (C2) The innermost box dimension is 128 bytes, the swizzle span; every
      other is in [1, 256].
    - (C3) The box has a multiple of 8 rows (one swizzle atom) and fits in a
      stage.
    - (C4) The ring completes by `mbarrier`.
    - (C5) The op is in the producer region of `cta.roles`.
  }];
  let arguments = (ins LLVM_AnyPointer:$map, Variadic<I32>:$coordinates,
                       CTA_Shared:$tile, CTA_RingType:$ring, I32:$stage,
                       DenseI64ArrayAttr:$box, I64Attr:$elementBytes);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $tile `,` $ring `[` $stage `]`
    `box` $box `element_bytes` $elementBytes attr-dict
    `:` type($map) `,` type($tile) `,` type($ring)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes one copy writes.
    int64_t getBoxBytes();
  }];
}

#endif // CTA_LOAD_OPS
