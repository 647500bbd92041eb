//===- CTAMatrixOps.td - matrix instructions, epilogue and store -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_MATRIX_OPS
#define CTA_MATRIX_OPS

include "CTAKernelOps.td"
include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.td"

def CTA_MultiplicandAttr : TypeAttrOf<AnyTypeOf<[BF16, F16]>>;

def CTA_ZeroOp : CTA_Op<"zero", [Pure]> {
  let summary = "Make a fragment of zeros";
  let description = [{
    Constraints:
    - (C1) The fragment is of `mma_sync`. A zeroed accumulator carried around a
      loop makes ptxas serialise wgmma; there the first `cta.wgmma` has no
      accumulator operand instead.
  }];
  let results = (outs CTA_FragmentType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def CTA_MmaSyncOp
    : CTA_Op<"mma_sync", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Multiply one k-block with ldmatrix and mma.sync";
  let description = [{
    `result = accumulator + a * b^T` for a tile `a` of rows x 64 and a tile `b`
    of cols x 64 elements in swizzled shared memory. Four warps side by side;
    in each step of 16 elements of K a warp loads its fragments with ldmatrix.

    Constraints:
    - (C1) The fragment is of `mma_sync`.
    - (C2) Each warp has a multiple of 16 columns of every part, so that one
      ldmatrix fills two column blocks.
    - (C3) The accumulator takes at most 128 registers of a thread.
  }];
  let arguments = (ins CTA_Shared:$a, CTA_Shared:$b,
                       CTA_FragmentType:$accumulator,
                       CTA_MultiplicandAttr:$element);
  let results = (outs CTA_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $accumulator `element` $element attr-dict
    `:` type($a) `,` type($b) `,` type($result)
  }];
  let hasVerifier = 1;
}

def CTA_WgmmaOp : CTA_Op<"wgmma", [NVVMRequiresSMa<[90]>]> {
  let summary = "Start the multiplication of one k-block with wgmma";
  let description = [{
    `result = accumulator + a * b^T` for one warpgroup: `a` has 64 rows, `b` as
    many rows as the fragment has columns, both K-major in swizzled shared
    memory. Fences, issues four steps of 16 elements of K and commits them as
    one group; the result is there after `cta.wgmma_wait`. Without an
    accumulator the first step ignores the old values (scale-d zero).

    Constraints:
    - (C1) The fragment is of `wgmma`, with 64 rows.
    - (C2) Columns are a multiple of 8 in [8, 256].
    - (C3) The accumulator is the fragment of another `cta.wgmma` or
      `cta.wgmma_wait`, directly or carried around a loop that starts from one:
      not a zeroed or otherwise made one.
    - (C4) The op is in the consumer region of `cta.roles`.
  }];
  let arguments = (ins CTA_Shared:$a, CTA_Shared:$b,
                       Optional<CTA_FragmentType>:$accumulator,
                       CTA_MultiplicandAttr:$element);
  let results = (outs CTA_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $accumulator^ `:` type($accumulator))? `element` $element
    attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def CTA_WgmmaWaitOp
    : CTA_Op<"wgmma_wait", [NVVMRequiresSMa<[90]>,
                            AllTypesMatch<["fragment", "result"]>]> {
  let summary = "Wait until at most `pending` groups are in flight";
  let description = [{
    The wait is tied to the fragment: uses of the result cannot move above it.
    With `pending = 1` the newest group may still be writing the registers, and
    only another `cta.wgmma` or `cta.wgmma_wait` may use the result.

    Constraints:
    - (C1) The fragment is of `wgmma`.
    - (C2) `pending` is 0 or 1.
    - (C3) With `pending = 1` the result goes only to `cta.wgmma`,
      `cta.wgmma_wait` or the terminator of a loop body.
  }];
  let arguments = (ins CTA_FragmentType:$fragment, I64Attr:$pending);
  let results = (outs CTA_FragmentType:$result);
  let assemblyFormat =
      "$fragment `pending` $pending attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def CTA_FragmentRowsOp : CTA_Op<"fragment_rows", [AttrSizedOperandSegments]> {
  let summary = "Read the flat rows of this thread's fragment rows";
  let description = [{
    For each fragment row of the thread the flat row `table[first + row]`
    (`first + row` without a table), or -1 when it is not below `limit` or its
    place is at or past `end`.

    Constraints:
    - (C1) The result holds 2 rows with `wgmma`, `rows / 8` with `mma_sync`.
    - (C2) `rows` is 64 with `wgmma` and a multiple of 16 with `mma_sync`.
  }];
  let arguments = (ins I32:$first, I32:$limit, Optional<CTA_Global>:$table,
                       Optional<I32>:$end, I64Attr:$rows, CTA_MmaAttr:$mma);
  let results = (outs CTA_RowIdsType:$result);
  let assemblyFormat = [{
    `[` $first (`to` $end^)? `]` `below` $limit (`table` $table^ `:` type($table))?
    `rows` $rows $mma attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
}

def CTA_EpilogueOp : CTA_Op<"epilogue", [SingleBlock]> {
  let summary = "Apply scalar code to every value of a fragment";
  let description = [{
    The region receives the f32 values of all parts at one place, the flat row
    (0 for a masked row, so that it may index memory) and the column, and yields
    the f32 value of the result. With two parts these are gate and up, and the
    result has half the columns. Columns start at `column`; those at or past
    `columns` are clamped to the last one.

    Constraints:
    - (C1) The region takes one f32 for each part, then two i32, and yields one
      f32.
    - (C2) The result has the rows and the instruction of the fragment, its
      columns divided by its parts, and one part.
    - (C3) `rows` holds the fragment's rows of a thread.
    - (C4) The region holds no cta op.

    Example:
    ```mlir
    %r = cta.epilogue %acc rows %ids column %n0 columns 96
      : !cta.fragment<16 x 128, mma_sync, parts = 2>, !cta.row_ids<2>
      -> !cta.fragment<16 x 64, mma_sync> {
    ^bb0(%gate: f32, %up: f32, %row: i32, %col: i32):
      %p = arith.mulf %gate, %up : f32
      cta.yield %p : f32
    }
    ```
  }];
  let arguments = (ins CTA_FragmentType:$fragment, CTA_RowIdsType:$rows,
                       I32:$column, I64Attr:$columns);
  let results = (outs CTA_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $fragment `rows` $rows `column` $column `columns` $columns
    `:` type($fragment) `,` type($rows) `->` type($result) $body attr-dict
  }];
  let hasVerifier = 1;
}

def CTA_StoreOp : CTA_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "Round a fragment and store its rows, masked";
  let description = [{
    Writes row `i` of the fragment to row `rows[i]` of `base`, or to row
    `position + i` when a position is given (sorted order); masked rows and
    columns at or past `columns` are left alone. Rows are `pitch` elements apart,
    `columns` where it is 0, and `base` is a multiple of `align` bytes. Offsets
    are 64-bit. Values are rounded once to `element`.

    With `staging` each warp turns 16 x 64 values through its 2048 bytes of
    shared memory (stmatrix) and writes 16 bytes a lane; otherwise lanes write
    pairs, or single elements when columns or pitch are odd or a pair is wider
    than `align`.

    Constraints:
    - (C1) The fragment has one part.
    - (C2) `rows` holds the fragment's rows of a thread.
    - (C3) `staging` wants `wgmma`, a 2-byte element, a multiple of 64 fragment
      columns, a multiple of 8 columns and of 8 elements of pitch, and 16 bytes
      of align.
    - (C4) `pitch` is 0 or at least `columns`.
  }];
  let arguments = (ins CTA_FragmentType:$fragment, CTA_RowIdsType:$rows,
                       CTA_Global:$base, I32:$column, Optional<I32>:$position,
                       Optional<CTA_Shared>:$staging, I64Attr:$columns,
                       TypeAttrOf<AnyTypeOf<[BF16, F16, F32]>>:$element,
                       DefaultValuedAttr<I64Attr, "0">:$pitch,
                       DefaultValuedAttr<I64Attr, "16">:$align);
  let assemblyFormat = [{
    $fragment `rows` $rows `to` $base `column` $column
    (`position` $position^)? (`staging` $staging^ `:` type($staging))?
    `columns` $columns `element` $element attr-dict
    `:` type($fragment) `,` type($rows) `,` type($base)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Elements from one row of c to the next.
    int64_t getRowPitch() {
      return getPitch() ? static_cast<int64_t>(getPitch())
                        : static_cast<int64_t>(getColumns());
    }
  }];
}

#endif // CTA_MATRIX_OPS
