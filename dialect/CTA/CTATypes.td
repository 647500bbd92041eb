//===- CTATypes.td - enums, attributes and types of the cta dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_TYPES
#define CTA_TYPES

include "CTADialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class CTA_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::cta";
  let genSpecializedAttr = 0;
}

def CTA_Mma : CTA_Enum<"Mma", "the matrix instruction of a fragment", [
    I32EnumAttrCase<"MmaSync", 0, "mma_sync">,
    I32EnumAttrCase<"Wgmma", 1, "wgmma">]>;
def CTA_MmaAttr : EnumAttr<CTA_Dialect, CTA_Mma, "mma"> {
  let assemblyFormat = "$value";
}

def CTA_Completion : CTA_Enum<"Completion", "how a full stage is known", [
    I32EnumAttrCase<"Groups", 0, "groups">,
    I32EnumAttrCase<"Mbarrier", 1, "mbarrier">]>;

def CTA_BufferAttr : AttrDef<CTA_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a named range of dynamic shared memory";
  let parameters = (ins StringRefParameter<"name">:$name,
                        "int64_t":$offset, "int64_t":$bytes, "int64_t":$align);
  let assemblyFormat = [{
    `<` $name `,` `offset` `=` $offset `,` `bytes` `=` $bytes `,`
    `align` `=` $align `>`
  }];
}
def CTA_BufferArrayAttr
    : TypedArrayAttrBase<CTA_BufferAttr, "array of shared-memory buffers">;

class CTA_Type<string name, string typeMnemonic> : TypeDef<CTA_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def CTA_RingType : CTA_Type<"Ring", "ring"> {
  let summary = "a ring of shared-memory stages between producer and consumer";
  let description = [{
    `stages` stages of `stageBytes` bytes. With `mbarrier` completion the full
    and the empty barrier of each stage (8 bytes each) follow the last stage.
    With `groups` completion a stage is one cp.async group and there is no
    barrier object, as sm_80 wants it.
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$stageBytes,
                        "::mlir::cta::Completion":$completion);
  let assemblyFormat =
      "`<` $stages `stages` `of` $stageBytes `bytes` `,` $completion `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Offset of the full barrier of stage 0.
    int64_t getFullOffset() const { return getStages() * getStageBytes(); }
    /// Offset of the empty barrier of stage 0.
    int64_t getEmptyOffset() const { return getFullOffset() + 8 * getStages(); }
    /// Bytes of stages and barriers together.
    int64_t getStorageBytes() const {
      return getCompletion() == Completion::Mbarrier
                 ? getEmptyOffset() + 8 * getStages()
                 : getFullOffset();
    }
  }];
}

def CTA_FragmentType : CTA_Type<"Fragment", "fragment"> {
  let summary = "an f32 tile spread over the registers of 128 threads";
  let description = [{
    `rows x cols` values of f32 in four warps. With `mma_sync` the warps lie
    side by side: rows is a multiple of 16, and each warp holds a quarter of the
    columns of every part. With `wgmma` rows is 64 and each warp holds 16 of
    them. The columns consist of `parts` equal parts (gate and up); a thread
    holds the same columns of each part.

    A thread holds blocks of four values: (row, col), (row, col+1), (row+8, col)
    and (row+8, col+1) with row = lane / 4 and col = 2 * (lane % 4) inside a
    16 x 8 block; blocks are ordered by 16-row slab, then part, then column.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols,
                        "::mlir::cta::Mma":$mma,
                        DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat =
      "`<` $rows `x` $cols `,` $mma (`,` `parts` `=` $parts^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// 16-row slabs a thread holds values of.
    int64_t getSlabs() const {
      return getMma() == Mma::Wgmma ? 1 : getRows() / 16;
    }
    /// 8-column blocks a thread holds in one slab, all parts together.
    int64_t getColumnBlocks() const {
      return getMma() == Mma::Wgmma ? getCols() / 8 : getCols() / 32;
    }
    /// f32 values, and so registers, a thread holds.
    int64_t getValues() const { return getSlabs() * getColumnBlocks() * 4; }
    /// Rows a thread holds values of.
    int64_t getThreadRows() const { return getSlabs() * 2; }
  }];
}

def CTA_SourceRowsType : CTA_Type<"SourceRows", "source_rows"> {
  let summary = "global addresses of the tile rows that one thread copies";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

def CTA_RowIdsType : CTA_Type<"RowIds", "row_ids"> {
  let summary = "flat rows of the fragment rows that one thread holds";
  let description = [{
    One i32 for each row of the thread, in the order of the fragment's slabs,
    upper row first; -1 for a masked row.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

#endif // CTA_TYPES
