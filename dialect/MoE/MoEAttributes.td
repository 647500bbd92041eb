//===- MoEAttributes.td - enums, attributes and types of the moe dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_ATTRIBUTES
#define MOE_ATTRIBUTES

include "MoEDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class MoE_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::moe";
  let genSpecializedAttr = 0;
}
class MoE_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<MoE_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}
class MoE_Attr<string name, string attrMnemonic>
    : AttrDef<MoE_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

def MoE_Score : MoE_Enum<"Score", "how a logit becomes a score", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"SqrtSoftplus", 2, "sqrt_softplus">,
    I32EnumAttrCase<"Identity", 3, "identity">,
    I32EnumAttrCase<"SparseMixer", 4, "sparsemixer">]>;
def MoE_ScoreAttr : MoE_EnumAttr<MoE_Score, "score">;

def MoE_Order : MoE_Enum<"Order", "whether the score or the top-k comes first", [
    I32EnumAttrCase<"ScoreThenTopK", 0, "score_then_topk">,
    I32EnumAttrCase<"TopKThenScore", 1, "topk_then_score">]>;
def MoE_OrderAttr : MoE_EnumAttr<MoE_Order, "order">;

def MoE_GroupRank : MoE_Enum<"GroupRank", "what ranks a group of experts", [
    I32EnumAttrCase<"Max", 0, "max">,
    I32EnumAttrCase<"Top2Sum", 1, "top2_sum">]>;
def MoE_GroupRankAttr : MoE_EnumAttr<MoE_GroupRank, "group_rank">;

//===----------------------------------------------------------------------===//
// Grouped GEMM
//===----------------------------------------------------------------------===//

def MoE_Grouping : MoE_Enum<"Grouping", "how rows find their expert", [
    I32EnumAttrCase<"Dense", 0, "dense">,
    I32EnumAttrCase<"Ids", 1, "ids">,
    I32EnumAttrCase<"Aligned", 2, "aligned">,
    I32EnumAttrCase<"Offsets", 3, "offsets">,
    I32EnumAttrCase<"Sizes", 4, "sizes">,
    I32EnumAttrCase<"Masked", 5, "masked">,
    I32EnumAttrCase<"KGrouped", 6, "k_grouped">]>;
def MoE_GroupingAttr : MoE_EnumAttr<MoE_Grouping, "grouping">;

def MoE_RowSource : MoE_Enum<"RowSource", "which row of a feeds a flat row", [
    I32EnumAttrCase<"Flat", 0, "flat">,
    I32EnumAttrCase<"Token", 1, "token">]>;
def MoE_RowSourceAttr : MoE_EnumAttr<MoE_RowSource, "row_source">;

def MoE_BLayout : MoE_Enum<"BLayout", "the order of the dimensions of b", [
    I32EnumAttrCase<"NK", 0, "nk">,
    I32EnumAttrCase<"KN", 1, "kn">]>;
def MoE_BLayoutAttr : MoE_EnumAttr<MoE_BLayout, "b_layout">;

def MoE_RowOrder : MoE_Enum<"RowOrder", "the order in which rows are stored", [
    I32EnumAttrCase<"Flat", 0, "flat">,
    I32EnumAttrCase<"Sorted", 1, "sorted">]>;
def MoE_RowOrderAttr : MoE_EnumAttr<MoE_RowOrder, "row_order">;

def MoE_WeightPlace : MoE_Enum<"WeightPlace", "where the router weight is applied", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Input", 1, "input">,
    I32EnumAttrCase<"Output", 2, "output">]>;
def MoE_WeightPlaceAttr : MoE_EnumAttr<MoE_WeightPlace, "weight">;

//===----------------------------------------------------------------------===//
// Activation
//===----------------------------------------------------------------------===//

def MoE_ActivationKind : MoE_Enum<"ActivationKind", "the activation function", [
    I32EnumAttrCase<"SwiGLU", 0, "swiglu">,
    I32EnumAttrCase<"SwiGLUOAI", 1, "swigluoai">,
    I32EnumAttrCase<"SwiGLUStep", 2, "swiglustep">,
    I32EnumAttrCase<"GeGLU", 3, "geglu">,
    I32EnumAttrCase<"SiTU", 4, "situ">,
    I32EnumAttrCase<"GELU", 5, "gelu">,
    I32EnumAttrCase<"ReLU2", 6, "relu2">,
    I32EnumAttrCase<"SiLU", 7, "silu">]>;

def MoE_GateUpLayout : MoE_Enum<"GateUpLayout", "where gate and up columns are", [
    I32EnumAttrCase<"Halves", 0, "halves">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

def MoE_ActivationAttr : MoE_Attr<"Activation", "activation"> {
  let summary = "an activation function with its parameters";
  let description = [{
    Kinds with a gate (`swiglu`, `swigluoai`, `swiglustep`, `geglu`, `situ`)
    map 2I columns to I. `layout` places gate `g` and up `u`: `halves` has g in
    columns [0, I) and u in [I, 2I); `interleaved` has g in even and u in odd
    columns. `gelu`, `relu2` and `silu` map I columns to I. Everything is
    computed in f32.

    | kind | result |
    |---|---|
    | `swiglu` | `silu(g) * u`; with limit L: `silu(min(g, L)) * clamp(u, -L, L)` |
    | `swigluoai` | `(clamp(u, -L, L) + 1) * g' * sigmoid(alpha * g')`, `g' = min(g, L)` |
    | `swiglustep` | `min(silu(g), L) * clamp(u, -L, L)` |
    | `geglu` | `gelu(g) * u` |
    | `situ` | `beta * tanh(g / beta) * sigmoid(g) * linear_beta * tanh(u / linear_beta)` |
    | `gelu` | `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))` |
    | `relu2` | `max(x, 0)^2` |
    | `silu` | `x * sigmoid(x)` |

    `gelu` and with it `geglu` is the tanh form; the erf form is not there.
    Parameters are written with a decimal point.
    Absent parameters: `limit` = no clamp, `alpha` = 1.702, `beta` = 4,
    `linear_beta` = 25. A NaN stays NaN through every clamp.

    Example: `#moe.activation<swigluoai, layout = interleaved, limit = 7.0>`
  }];
  let parameters = (ins
      EnumParameter<MoE_ActivationKind>:$kind,
      DefaultValuedParameter<"::mlir::moe::GateUpLayout",
                             "::mlir::moe::GateUpLayout::Halves">:$layout,
      OptionalParameter<"::mlir::FloatAttr">:$limit,
      OptionalParameter<"::mlir::FloatAttr">:$alpha,
      OptionalParameter<"::mlir::FloatAttr">:$beta,
      OptionalParameter<"::mlir::FloatAttr">:$linear_beta);
  let assemblyFormat = [{
    `<` $kind (`,` struct($layout, custom<Number>($limit),
        custom<Number>($alpha), custom<Number>($beta),
        custom<Number>($linear_beta))^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True for kinds that map 2I columns to I.
    bool isGated() const;
    /// The clamp limit, or +infinity where none is given.
    double limitValue() const;
    double alphaValue() const;
    double betaValue() const;
    double linearBetaValue() const;
  }];
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def MoE_Mma : MoE_Enum<"Mma", "the instruction family of a GEMM", [
    I32EnumAttrCase<"Simt", 0, "simt">,
    I32EnumAttrCase<"MmaSync", 1, "mma_sync">,
    I32EnumAttrCase<"Wgmma", 2, "wgmma">]>;

def MoE_Orientation : MoE_Enum<"Orientation", "what lies on the M side of the MMA", [
    I32EnumAttrCase<"TokensM", 0, "tokens_m">,
    I32EnumAttrCase<"WeightsM", 1, "weights_m">]>;

def MoE_ScheduleAttr : MoE_Attr<"Schedule", "schedule"> {
  let summary = "which kernel computes a grouped GEMM";
  let description = [{
    Written by `moe-select-schedule` or by the user, read by every later pass.
    `tile` is [token rows, columns of c before a gated activation halves them,
    elements of K] of one thread block and step; `simt` has one kernel and needs
    no tile. `stages` counts the slots of the shared-memory ring, `warps` the
    warps of a thread block.

    Absent parameters: `orientation` = tokens_m, `stages` = 1, `warps` = 4,
    `cluster` = 1, `split_k` = 1. The ring of `mma_sync` and `wgmma` has 2 to 16
    stages, so these always write `stages`.

    Examples: `#moe.schedule<mma = simt>`,
    `#moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>`
  }];
  let parameters = (ins
      EnumParameter<MoE_Mma>:$mma,
      DefaultValuedParameter<"::mlir::moe::Orientation",
                             "::mlir::moe::Orientation::TokensM">:$orientation,
      OptionalArrayRefParameter<"int64_t", "token rows, columns, k elements">:$tile,
      DefaultValuedParameter<"int64_t", "1">:$stages,
      DefaultValuedParameter<"int64_t", "4">:$warps,
      DefaultValuedParameter<"int64_t", "1">:$cluster,
      DefaultValuedParameter<"int64_t", "1">:$split_k);
  let assemblyFormat = [{
    `<` struct($mma, $orientation, custom<Tile>($tile), $stages, $warps,
               $cluster, $split_k) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Only where there is a tile, as with every family but simt.
    int64_t tileRows() const { return getTile()[0]; }
    int64_t tileColumns() const { return getTile()[1]; }
    int64_t tileK() const { return getTile()[2]; }
  }];
}

def MoE_KernelInfoAttr : MoE_Attr<"KernelInfo", "kernel_info"> {
  let summary = "what a reader of the PTX has to know about a kernel";
  let description = [{
    Written by `moe-outline-kernels` on every kernel. `params` names the
    parameters in order with their types, `grid` is the grid rule in words of
    the run-time extents, `block` the threads of a thread block, `shared` the
    dynamic shared memory in bytes.

    Example: `#moe.kernel_info<params = ["x: memref<?x64xbf16>", "T: i32"],
    grid = "(T, 1, 1)", block = 128, shared = 0>`
  }];
  let parameters = (ins
      "::mlir::ArrayAttr":$params,
      "::mlir::StringAttr":$grid,
      "int64_t":$block,
      "int64_t":$shared,
      OptionalParameter<"::mlir::moe::ScheduleAttr">:$schedule);
  let assemblyFormat = [{
    `<` struct($params, $grid, $block, $shared, $schedule) `>`
  }];
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def MoE_ExtentAttr : MoE_Attr<"Extent", "extent"> {
  let summary = "an extent in terms of an extent of an argument";
  let description = [{
    `factor * dim(argument, dimension) + offset`, or a number where `factor` is
    0.

    Example: `#moe.extent<8 * dim(0, 0) + 1>`, `#moe.extent<2048>`
  }];
  let parameters = (ins "int64_t":$factor, "int64_t":$argument,
                    "int64_t":$dimension, "int64_t":$offset);
  let assemblyFormat = [{
    `<` custom<Extent>($factor, $argument, $dimension, $offset) `>`
  }];
}

def MoE_ArgumentAttr : MoE_Attr<"Argument", "argument"> {
  let summary = "what a caller has to know about an argument or a result";
  let description = [{
    Written by `moe-describe-arguments` as `moe.argument`. `shape` has an entry
    for each dimension: a number, an extent of another argument that it follows
    from at every call, or itself where the caller is free. `role` names what
    the elements mean to the ops, as in include/moe/Data/RandomInputs.h,
    and `bound` is the number that goes with it; both absent where unknown.

    Example: `#moe.argument<shape = [8 * dim(0, 0)], role = "ids", bound = 128>`
  }];
  let parameters = (ins
      ArrayRefParameter<"::mlir::moe::ExtentAttr", "one per dimension">:$shape,
      OptionalParameter<"::mlir::StringAttr">:$role,
      OptionalParameter<"::mlir::moe::ExtentAttr">:$bound);
  let assemblyFormat = [{
    `<` struct(custom<Extents>($shape), $role, custom<Bound>($bound)) `>`
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def MoE_TensorMapType : TypeDef<MoE_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a 128-byte TMA descriptor, encoded by the host at load time";
}

#endif // MOE_ATTRIBUTES
