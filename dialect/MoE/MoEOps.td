//===- MoEOps.td - the ops of the moe dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_OPS
#define MOE_OPS

include "MoEAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Every op of the dialect works on ranked tensors or on memrefs.
def MoE_Shaped : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef],
                           "ranked tensor or strided memref">;

/// Refuses attributes that the op does not have, which are misspelt ones.
def MoE_OnlyOwnAttributes : NativeOpTrait<"OnlyOwnAttributes"> {
  let cppNamespace = "::mlir::moe";
}

/// MLIR reads a number with a decimal point as f64, so its type is written.
def MoE_F32Attr : FloatAttrBase<F32, "f32 attribute, for instance 2.5 : f32">;

/// A destination-passing op: all operands are tensors (the results are the new
/// values of the destinations) or all are memrefs (no results).
class MoE_Op<string mnemonic, list<Trait> traits = []>
    : Op<MoE_Dialect, mnemonic, traits # [
        MoE_OnlyOwnAttributes, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  /// Number of destinations, always the last operands.
  int numOuts = 1;
  code baseDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(
          getOperation(), getNumOperands() - }] # numOuts # [{, }] # numOuts # [{);
    }
  }];
  let extraClassDeclaration = baseDeclaration;
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::mlir::moe::detail::getDpsEffects(getOperation(), effects);
    }
  }];
}

def MoE_GateOp : MoE_Op<"gate"> {
  let summary = "compute router logits";
  let description = [{
    `logits[t, e] = sum_h x[t, h] * weight[e, h] + bias[e]`, accumulated in f32
    in ascending h. x is [T, H], weight is [E, H], bias is [E], logits is
    [T, E] f32.

    Lowers to loops on the CPU and to one kernel on a GPU, 4 tokens x 4 experts
    to a thread block.

    - (C1) x, weight and logits have rank 2, bias has rank 1.
    - (C2) x, weight and bias are f32, bf16 or f16; logits is f32.
    - (C3) The extents T, H and E agree.
    - (C4) H and E are static.
    - (C5) logits overlaps no other operand.
  }];
  let arguments = (ins MoE_Shaped:$x, MoE_Shaped:$weight,
      Optional<MoE_Shaped>:$bias, MoE_Shaped:$logits);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `:` type($x) `,` type($weight) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $logits `:` type($logits) `)`
    attr-dict `` custom<Results>(type($results), ref(type($logits)))
  }];
}

def MoE_RouteOp : MoE_Op<"route", [AttrSizedOperandSegments]> {
  let numOuts = 2;
  let summary = "select k experts for each token and weigh them";
  let description = [{
    For each token t of logits [T, E]:

    1. **Selectable.** A logit of NaN or -inf counts as -inf before any
       reduction and is never selected, whatever its bias; +inf counts as the
       largest finite f32. An expert whose bias is NaN is not selectable.
    2. **Score.** `s = f(l)` with `l = softcap * tanh(logit / softcap)` where
       softcap is given. f is softmax over all experts, sigmoid,
       `sqrt(log(1 + exp(l)))`, the identity, or sparsemixer. Scores are
       evaluated in f64 and rounded once to f32, so that every device finds the
       same ties.
    3. **Key.** `q = s + bias`; bias [E] steers the selection only. With
       `order = topk_then_score` the key is `l + bias` instead.
    4. **Groups.** E is split in `groups` contiguous groups; a group ranks by
       the largest key or by the sum of its two largest (`top2_sum`; with one
       selectable expert, that one's key; with none, the group is last). The
       best `keep_groups` groups stay.
    5. **Top-k.** The k largest keys, in descending order.
    6. **Weights.** The scores without bias of the chosen experts; with
       `topk_then_score`, f over the chosen logits alone (softmax over the k).
       Then `renormalize` divides by their sum (a zero sum gives weights 0),
       then `expert_scale[id]`, then `scale`.

    Equal keys go to the lower expert (group) number. Slots that find no
    selectable expert get id -1 and weight 0.

    With `token_ids` [T] and `table` [V, k] the ids come from
    `table[token_ids[t]]` and only the weights from the scores. A token id
    outside [0, V) and a table entry outside [0, E) give id -1, weight 0.
    An entry whose logit is not selectable keeps its id with weight 0.

    Sparsemixer fills the k slots one after another. With m the largest logit
    not yet chosen, compared in f32, an expert e takes part if `(m - l_e) / max(|l_e|, m)` is not
    above `2 * jitter`; the slot goes to m's expert with the weight of a softmax
    over the experts that take part and were not chosen before.

    Lowers to loops on the CPU and to one kernel on a GPU, a token to a warp.

    - (C1) logits is [T, E] of f32, bf16 or f16; weights is [T, k] f32; ids is
      [T, k] i32.
    - (C2) E is static, in [1, 4096].
    - (C3) k is static, in [1, E].
    - (C4) T agrees everywhere.
    - (C5) groups divides E; keep_groups is in [1, groups].
    - (C6) bias and expert_scale are [E] of f32, bf16 or f16.
    - (C7) token_ids is [T] i32 and table is [V, k] i32, V static.
    - (C8) A table excludes bias and groups, which would have no effect.
    - (C9) Sparsemixer excludes bias, groups, a table and topk_then_score.
    - (C10) scale is finite; softcap is finite and above 0; jitter is finite and not negative.
    - (C11) weights and ids overlap no other operand.
  }];
  let arguments = (ins MoE_Shaped:$logits, Optional<MoE_Shaped>:$bias,
      Optional<MoE_Shaped>:$token_ids, Optional<MoE_Shaped>:$table,
      Optional<MoE_Shaped>:$expert_scale,
      MoE_Shaped:$weights, MoE_Shaped:$ids,
      DefaultValuedAttr<MoE_ScoreAttr, "::mlir::moe::Score::Softmax">:$score,
      DefaultValuedAttr<MoE_OrderAttr, "::mlir::moe::Order::ScoreThenTopK">:$order,
      DefaultValuedAttr<I64Attr, "1">:$groups,
      DefaultValuedAttr<I64Attr, "1">:$keep_groups,
      DefaultValuedAttr<MoE_GroupRankAttr, "::mlir::moe::GroupRank::Max">:$group_rank,
      UnitAttr:$renormalize,
      DefaultValuedAttr<MoE_F32Attr, "1.0f">:$scale,
      OptionalAttr<MoE_F32Attr>:$softcap,
      DefaultValuedAttr<MoE_F32Attr, "0.01f">:$jitter);
  let assemblyFormat = [{
    `ins` `(` $logits `:` type($logits) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`table` `(` $token_ids^ `,` $table `:` type($token_ids) `,` type($table) `)`)?
    (`expert_scale` `(` $expert_scale^ `:` type($expert_scale) `)`)?
    `outs` `(` $weights `,` $ids `:` type($weights) `,` type($ids) `)`
    attr-dict `` custom<Results>(type($results), ref(type($weights)))
  }];
  let extraClassDeclaration = baseDeclaration # [{
    int64_t getNumExperts();
    int64_t getTopK();
  }];
}

def MoE_AlignOp : MoE_Op<"align"> {
  let numOuts = 4;
  let summary = "sort flat rows by expert into blocks of equal height";
  let description = [{
    Lists the flat rows of ids [T, k] expert by expert, in ascending flat row
    inside an expert, each expert padded to a multiple of `block` rows.
    `sorted_rows[p]` is a flat row or the sentinel `T * k`; `tile_expert[b]` is
    the local expert of block b; `padded[0]` is the number of rows listed,
    padding included; `counts[e]` is the number of rows of local expert e
    without padding. Past `padded[0]` sorted_rows holds the sentinel and
    tile_expert holds -1. Experts without rows get no block; ids that are no
    expert get no row.

    Lowers to a counting sort without atomics: loops on the CPU; on a GPU three
    kernels, `rank`, `scan` and `scatter`, or one that does all of it where a
    static T or the function's `moe.token_range` says that rows are few.

    - (C1) ids is [T, k] i32, k static; expert_map is [E] i32, E static.
    - (C2) block is a power of two in [1, 256].
    - (C3) experts is in [1, 4096].
    - (C4) sorted_rows and tile_expert have rank 1, padded is [1], counts is
      [experts], all i32.
    - (C5) tile_expert has ceil(P / block) elements where sorted_rows has P.
    - (C6) P is at least `T*k + min(experts, T*k) * (block - 1)`.
    - (C7) The destinations overlap no other operand.
  }];
  let arguments = (ins MoE_Shaped:$ids, Optional<MoE_Shaped>:$expert_map,
      MoE_Shaped:$sorted_rows, MoE_Shaped:$tile_expert, MoE_Shaped:$padded,
      MoE_Shaped:$counts, I64Attr:$experts, I64Attr:$block);
  let assemblyFormat = [{
    `ins` `(` $ids `:` type($ids) `)`
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    `outs` `(` $sorted_rows `,` $tile_expert `,` $padded `,` $counts `:`
      type($sorted_rows) `,` type($tile_expert) `,` type($padded) `,` type($counts) `)`
    attr-dict `` custom<Results>(type($results), ref(type($sorted_rows)))
  }];
}

def MoE_GroupIdsOp : MoE_Op<"group_ids"> {
  let summary = "name the expert of each row of a grouped layout";
  let description = [{
    Turns end offsets [E], sizes [E] or counts [E] into ids [R, 1], so that
    every ragged layout can share one row table. `offsets`: row r belongs to the
    first expert e with `r < end_e`, `end_e = clamp(offsets[e], end_{e-1}, R)`.
    `sizes`: the same with `end_e = clamp(end_{e-1} + max(sizes[e], 0), R)`.
    `masked`: R = E * capacity, row r belongs to `r / capacity` if
    `r % capacity < counts[e]`. All other rows get id -1.

    Lowers to loops on the CPU and to one kernel on a GPU.

    - (C1) group_table is [E] i32, E static; ids is [R, 1] i32.
    - (C2) grouping is offsets, sizes or masked.
    - (C3) masked needs a static capacity of at least 0 with R = E * capacity;
      the others have none.
    - (C4) ids overlaps no other operand.
  }];
  let arguments = (ins MoE_Shaped:$group_table, MoE_Shaped:$ids,
      MoE_GroupingAttr:$grouping, OptionalAttr<I64Attr>:$capacity);
  let assemblyFormat = [{
    `ins` `(` $group_table `:` type($group_table) `)`
    `outs` `(` $ids `:` type($ids) `)`
    attr-dict `` custom<Results>(type($results), ref(type($ids)))
  }];
}

def MoE_GroupedGemmOp : MoE_Op<"grouped_gemm", [AttrSizedOperandSegments]> {
  let summary = "multiply each row by the matrix of its expert";
  let description = [{
    `c[r, :] = epilogue(a[src(r), :] . b[expert(r)])` for every row r that has
    an expert; other rows of c are not written. Sums are f32, in ascending k,
    with one rounding at the end. The epilogue is, in order: bias, activation,
    router weight.

    | grouping | rows operands | a | c | expert of row r |
    |---|---|---|---|---|
    | `dense` | | [R, K] | [R, N] | 0 (E = 1) |
    | `ids` | ids [T, k] | [T or T*k, K] | [T*k, N] | localExpert(ids[r]) |
    | `aligned` | sorted_rows [P], tile_expert [B], padded [1] | as ids, or [P, K] | as ids, or [P, N] | by the row table of `moe.align` |
    | `offsets` | end offsets [E] | [R, K] | [R, N] | as `moe.group_ids` |
    | `sizes` | sizes [E] | [R, K] | [R, N] | as `moe.group_ids` |
    | `masked` | counts [E] | [E, C, K] | [E, C, N] | outer index, rows below counts[e] |
    | `k_grouped` | end offsets [E] | [M, R] | [E, M, N] | contracts the columns of a |

    `row_source = token` reads row `r / k` of a [T, K], `flat` reads row r.
    `b_layout = nk` is [E, N, K], `kn` is [E, K, N]; k_grouped has b as [N, R]
    or [R, N]. For k_grouped `c[e] = a[:, rows of e] . b[rows of e, :]`, zeros
    where e has no rows. A gated activation halves N: c has half the columns
    that b has. `weight` multiplies by `weights`, one value per row of c:
    `input` before, `output` after bias and activation. `a_order` and
    `c_order = sorted` (aligned only) index a or c by the position in
    sorted_rows instead of the flat row.

    Lowers to vector loops on the CPU. On a GPU `schedule` decides: one kernel
    of cta ops (`mma_sync`, `wgmma`), behind `moe.align` and for ragged layouts
    `moe.group_ids`, which `moe-align-rows` puts in front; or one general kernel
    (`simt`). An aligned GEMM with a and c sorted and without weights takes one
    kernel more, which finds the number of flat rows in the table.

    - (C1) a, b are f32, bf16 or f16 of one type, or a is f32; c has the type of
      a or b, or is f32.
    - (C2) rows holds the operands of the grouping, all i32, of the ranks and
      extents in the table.
    - (C3) a, b and c have the ranks in the table.
    - (C4) E, N and K (k_grouped: E, M and N) are static; E is in [1, 4096].
    - (C5) The extents of a, b, c and rows agree; dense needs E = 1; the flat
      rows of aligned are a multiple of top_k.
    - (C6) N of b is even under a gated activation, and c has half of it.
    - (C7) bias is [E, N of b], f32 or of the type of b.
    - (C8) weights is given exactly if weight is not none; it is f32 with one
      value per row of c: [T, k], [R] or [E, C].
    - (C9) weight = input needs row_source = token, k = 1 and no bias.
    - (C10) k_grouped excludes bias, weights, activation and row_source = token.
    - (C11) row_source = token needs grouping ids or aligned.
    - (C12) top_k and block are given exactly for aligned; block is a power of
      two in [1, 256] and tile_expert has ceil(P / block) elements.
    - (C13) a_order and c_order = sorted need grouping aligned, and a_order =
      sorted needs row_source = flat.
    - (C14) expert_map is [E global] i32 and needs grouping ids.
    - (C15) scales are not accepted by the element types of this version.
    - (C16) c overlaps no other operand.
  }];
  let arguments = (ins MoE_Shaped:$a, MoE_Shaped:$b,
      Variadic<MoE_Shaped>:$rows, Optional<MoE_Shaped>:$expert_map,
      Optional<MoE_Shaped>:$bias, Variadic<MoE_Shaped>:$scales,
      Optional<MoE_Shaped>:$weights, MoE_Shaped:$c,
      MoE_GroupingAttr:$grouping,
      DefaultValuedAttr<MoE_RowSourceAttr, "::mlir::moe::RowSource::Flat">:$row_source,
      DefaultValuedAttr<MoE_BLayoutAttr, "::mlir::moe::BLayout::NK">:$b_layout,
      DefaultValuedAttr<MoE_WeightPlaceAttr, "::mlir::moe::WeightPlace::None">:$weight,
      OptionalAttr<MoE_ActivationAttr>:$activation,
      DefaultValuedAttr<MoE_RowOrderAttr, "::mlir::moe::RowOrder::Flat">:$a_order,
      DefaultValuedAttr<MoE_RowOrderAttr, "::mlir::moe::RowOrder::Flat">:$c_order,
      OptionalAttr<I64Attr>:$top_k, OptionalAttr<I64Attr>:$block,
      OptionalAttr<MoE_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    `outs` `(` $c `:` type($c) `)`
    attr-dict `` custom<Results>(type($results), ref(type($c)))
  }];
  let extraClassDeclaration = baseDeclaration # [{
    /// Number of local experts, E of b or of the end offsets.
    int64_t getNumExperts();
    /// Contracted extent: K, or R (often dynamic) for k_grouped.
    int64_t getK();
    /// Columns of b, before a gated activation halves them.
    int64_t getNumColumns();
    /// Slots per token k of an ids or aligned grouping, else 1.
    int64_t getSlots();
  }];
}

def MoE_ActivationOp : MoE_Op<"activation"> {
  let summary = "apply an activation function to each row";
  let description = [{
    `a[r, :] = activation(h[r, :])` in f32, rounded once. See
    `#moe.activation` for the functions.

    Lowers to vector loops on the CPU and to one kernel on a GPU, if `moe-fuse`
    cannot put it into the epilogue of the GEMM before it.

    - (C1) h and a have rank 2 and are f32, bf16 or f16.
    - (C2) h has twice the columns of a for a gated kind, as many otherwise.
    - (C3) The rows of h and a agree; the columns are static.
    - (C4) a overlaps no other operand, except that a kind without a gate
      works in place: h may be a.
  }];
  let arguments = (ins MoE_Shaped:$h, MoE_Shaped:$a,
      MoE_ActivationAttr:$activation);
  let assemblyFormat = [{
    `ins` `(` $h `:` type($h) `)` `outs` `(` $a `:` type($a) `)`
    attr-dict `` custom<Results>(type($results), ref(type($a)))
  }];
}

def MoE_CombineOp : MoE_Op<"combine", [AttrSizedOperandSegments]> {
  let summary = "sum the expert outputs of each token";
  let description = [{
    `out[t] = scale * (residual_scale * residual[t] + routed_scale * sum_j
    w[t, j] * y[t * k + j])`, j ascending, in f32, rounded once. A slot whose id
    is no expert is left out and its row of y is not read. With
    `weighted = false` the rows of y carry their weight already and w counts
    as 1. With `identity_experts = n` an id in [E, E + n) adds `w * x[t]`, w
    always included; E is the extent of expert_map where given, else `experts`.

    Lowers to vector loops on the CPU and to one kernel on a GPU, a token to a
    row of thread blocks.

    - (C1) y is [T*k, H], weights is [T, k] f32, ids is [T, k] i32, out is
      [T, H]; k and H are static.
    - (C2) y, x, residual and out are f32, bf16 or f16.
    - (C3) The extents agree; x and residual are [T, H].
    - (C4) experts is in [1, 4096]; expert_map is [E] i32, E static.
    - (C5) identity_experts is not negative; x is given exactly if it is above 0.
    - (C6) scale, routed_scale and residual_scale are finite; residual_scale
      needs a residual.
    - (C7) out overlaps no other operand, except that x and residual may be
      out.
  }];
  let arguments = (ins MoE_Shaped:$y, MoE_Shaped:$weights, MoE_Shaped:$ids,
      Optional<MoE_Shaped>:$expert_map, Optional<MoE_Shaped>:$x,
      Optional<MoE_Shaped>:$residual, MoE_Shaped:$out,
      I64Attr:$experts, DefaultValuedAttr<I64Attr, "0">:$identity_experts,
      DefaultValuedAttr<MoE_F32Attr, "1.0f">:$scale,
      DefaultValuedAttr<MoE_F32Attr, "1.0f">:$routed_scale,
      DefaultValuedAttr<MoE_F32Attr, "1.0f">:$residual_scale,
      DefaultValuedAttr<BoolAttr, "true">:$weighted);
  let assemblyFormat = [{
    `ins` `(` $y `,` $weights `,` $ids `:` type($y) `,` type($weights) `,` type($ids) `)`
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    (`identity` `(` $x^ `:` type($x) `)`)?
    (`residual` `(` $residual^ `:` type($residual) `)`)?
    `outs` `(` $out `:` type($out) `)`
    attr-dict `` custom<Results>(type($results), ref(type($out)))
  }];
}

def MoE_PermuteOp : MoE_Op<"permute"> {
  let numOuts = 3;
  let summary = "copy token rows into expert order";
  let description = [{
    Lists the flat rows that have an expert, expert by expert, ascending inside
    an expert: `rows[p] = x[source[p] / k]`, `source[p]` the flat row,
    `offsets[e]` the end of local expert e in this list. Past `offsets[E - 1]`
    source holds `T * k` and rows is not written.

    Lowers to loops on the CPU; on a GPU to the kernels of `moe.align` and one
    that copies rows, if `moe-fuse` cannot gather them in the GEMM.

    - (C1) x is [T, H], ids is [T, k] i32; k and H are static.
    - (C2) rows is [T*k, H] of the type of x: f32, bf16 or f16.
    - (C3) source is [T*k] i32; offsets is [experts] i32.
    - (C4) experts is in [1, 4096]; expert_map is [E] i32, E static.
    - (C5) The destinations overlap no other operand.
  }];
  let arguments = (ins MoE_Shaped:$x, MoE_Shaped:$ids,
      Optional<MoE_Shaped>:$expert_map, MoE_Shaped:$rows, MoE_Shaped:$source,
      MoE_Shaped:$offsets, I64Attr:$experts);
  let assemblyFormat = [{
    `ins` `(` $x `,` $ids `:` type($x) `,` type($ids) `)`
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    `outs` `(` $rows `,` $source `,` $offsets `:`
      type($rows) `,` type($source) `,` type($offsets) `)`
    attr-dict `` custom<Results>(type($results), ref(type($rows)))
  }];
}

def MoE_UnpermuteOp : MoE_Op<"unpermute"> {
  let summary = "copy rows in expert order back to their flat rows";
  let description = [{
    `y[source[p], :] = rows[p, :]` for every p with `0 <= source[p] < R`, R the
    rows of y; other rows of y are not written. Of two equal sources the later p
    wins.

    Lowers to loops on the CPU; on a GPU to three kernels, `clear`, `winner` and
    `copy`, if `moe-fuse` cannot scatter rows in the GEMM.

    - (C1) rows is [R, H], source is [R] i32, y is [R, H]; H is static.
    - (C2) rows and y share a type: f32, bf16 or f16.
    - (C3) The extents agree.
    - (C4) y overlaps no other operand.
  }];
  let arguments = (ins MoE_Shaped:$rows, MoE_Shaped:$source, MoE_Shaped:$y);
  let assemblyFormat = [{
    `ins` `(` $rows `,` $source `:` type($rows) `,` type($source) `)`
    `outs` `(` $y `:` type($y) `)`
    attr-dict `` custom<Results>(type($results), ref(type($y)))
  }];
}

def MoE_EncodeTensorMapOp : Op<MoE_Dialect, "encode_tensor_map",
    [Pure, MoE_OnlyOwnAttributes]> {
  let summary = "describe a buffer to the tensor memory accelerator";
  let description = [{
    A host value: the loader of a bundle encodes it once from the address of
    `source`, a memref of rank 2 to 5. The innermost dimension of the memref is
    the first of the map, and the map has the memref's strides. `box` gives the extents of one load, in the
    order of the memref's dimensions; `swizzle` is the swizzle in bytes.

    Lowers to an entry of the launch list; no code runs for it on the GPU.

    - (C1) source is a memref of rank 2 to 5 without offset, of integers or
      floats of 8, 16, 32 or 64 bits, with a static inner extent of stride 1;
      its other strides are static positive multiples of 16 bytes.
    - (C2) box has one entry per dimension, each in [1, 256].
    - (C3) swizzle is 0, 32, 64 or 128. The inner box is a multiple of 16
      bytes and, if swizzle is not 0, at most that many bytes.
  }];
  let arguments = (ins AnyStridedMemRef:$source, DenseI64ArrayAttr:$box,
      DefaultValuedAttr<I64Attr, "128">:$swizzle);
  let results = (outs MoE_TensorMapType:$map);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source `box` $box attr-dict `:` type($source) `->` type($map)
  }];
}

#endif // MOE_OPS
