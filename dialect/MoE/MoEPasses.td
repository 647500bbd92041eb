//===- MoEPasses.td - passes over the moe dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PASSES
#define MOE_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Transforms, on tensors
//===----------------------------------------------------------------------===//

def DescribeArgumentsPass : Pass<"moe-describe-arguments"> {
  let summary = "record how the extents of arguments and results hang together";
  let description = [{
    Writes `moe.argument` on the arguments and results of every `func.func` with
    moe ops: for each dimension a number, the extent of an argument that it
    follows from at every call by the shape rules of the ops, or itself where
    the caller is free; and what the elements mean to the ops, for random
    inputs. Only what holds at every call is recorded. An extent that follows in
    another form than `factor * extent + offset` counts as free.

    Meant for tensors, after inlining and before bufferization, which turns
    results into arguments and keeps the record. Calls that are left are not
    looked into. Changes nothing else; overwrites an earlier record.
  }];
}

def FusePass : Pass<"moe-fuse"> {
  let summary = "fuse activation, router weight and row movement into GEMMs";
  let description = [{
    Rewrites, in this order:

    - `moe.permute`, contiguous GEMMs and activations over its rows, and
      `moe.unpermute` become GEMMs by ids that gather and scatter;
    - `moe.activation` of a GEMM result becomes the GEMM's epilogue;
    - the router weight of `moe.combine` becomes the epilogue of the GEMM whose
      rows it sums, and combine gets `weighted = false`.

    A rewrite applies only where the intermediate has no other use. Fusing
    removes the rounding of the intermediate to its element type and changes
    nothing else: with f32 intermediates results stay the same bit for bit.
    Requires tensors; leaves everything else alone. Remarks: `moe-fuse`, passed
    for each fusion, missed with the reason for each candidate left alone.
  }];
}

def SplitTokenRangesPass
    : Pass<"moe-split-token-ranges", "::mlir::ModuleOp"> {
  let summary = "make a variant of a function for each range of tokens";
  let description = [{
    A function with `moe.token_ranges = [[1, 16], [17, 128], [129, -1]]` is
    replaced by a copy for each range, `@layer_t1_16`, `@layer_t17_128` and
    `@layer_t129_up`, each with its `moe.token_range` and `moe.variant_of`, the
    name of the function. Ranges include both ends; -1 is no upper end; 0 tokens
    belong to a first range that starts at 1. Tokens are the first dynamic
    extent of the arguments.

    With `automatic`, functions without the attribute are split where the cost
    model changes its mind: at most five ranges, and only where one choice for
    two of them costs more than 3 % somewhere. Functions that no choice can
    depend on stay whole.

    Requires that the function is not called (inline it first). Meant for right
    before `moe-select-schedule`, which then decides for each range. Remarks:
    `moe-token-ranges`, passed for a split, analysis for a function that
    `automatic` leaves whole.
  }];
  let options = [
    Option<"automatic", "automatic", "bool", "false",
           "split functions without moe.token_ranges by the cost model">,
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "chip that the cost model is asked about">,
    Option<"tokens", "tokens", "int64_t", "512",
           "number of tokens that a range without upper end is for, at least">];
}

def SelectSchedulePass : Pass<"moe-select-schedule"> {
  let summary = "choose the kernel of each grouped GEMM";
  let description = [{
    Writes `schedule` on every `moe.grouped_gemm` that has none. A written
    `block` (of the GEMM, or of the `moe.align` that feeds it) decides the
    instruction family: below 64 mma.sync, from 64 on wgmma where the chip has
    it. Otherwise candidates are ranked by the cost model for `tokens` tokens; in
    a function with `moe.token_range` for the geometric mean of its ends, or
    four times its lower end and at least `tokens` where it has no upper one.
    Element types, layouts and extents that the tensor-core kernels do not take
    get `simt`, the exact general kernel. Remarks: `moe-schedule`, passed for
    the choice, missed for the best rejected candidate, with reasons.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "chip to compile for: sm_80, sm_89, sm_90 or sm_90a">,
    Option<"tokens", "tokens", "int64_t", "512",
           "number of tokens the choice is made for; any number stays valid">];
}

def CheckSchedulePass : Pass<"moe-check-schedule"> {
  let summary = "refuse schedules that the chip cannot run";
  let description = [{
    Checks every `schedule`, chosen or written, against the chip: the
    instruction family exists there, the tile is one that the family computes,
    the block of the row table fits the tile, and the shared memory of the ring
    fits. Errors name each buffer with its bytes, the limit, and a change that
    fits. Never changes the IR.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "chip to compile for: sm_80, sm_89, sm_90 or sm_90a">];
}

def AlignRowsPass : Pass<"moe-align-rows"> {
  let summary = "give tensor-core GEMMs a row table";
  let description = [{
    A `moe.grouped_gemm` by ids, offsets, sizes or counts whose schedule is
    mma_sync or wgmma becomes `grouping = aligned`, with a `moe.align` of the
    schedule's tile height in front. GEMMs of the same ids, expert map and block
    share one table. An intermediate that only flows from one such GEMM to
    another keeps the order of the table (`c_order = a_order = sorted`).
    Requires schedules (`moe-select-schedule`) and tensors; leaves simt and dense
    GEMMs alone. Remarks: `moe-align`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

def ConvertMoEToCPUPass : Pass<"convert-moe-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "expand moe ops on memrefs into loops over vectors";
  let description = [{
    Replaces every op of the dialect by scf loops over vector, memref, arith and
    math ops, with f32 sums and one rounding at the end. GEMMs gather the rows
    of an expert and run a register-blocked kernel; the order of a sum depends
    on the contracted extent alone, so that results do not change with the
    number of rows. Ids, offsets and row tables are checked as the ops define,
    so that no value in them reads or writes outside a buffer. Scratch buffers
    are allocated and freed around each op.

    Requires memrefs (one-shot-bufferize) whose deallocations are in place;
    leaves ops of other dialects alone.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "256",
           "bits of a vector register, a power of two in [128, 2048]">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CheckCPUPass : Pass<"moe-check-cpu", "::mlir::func::FuncOp"> {
  let summary = "refuse what no code for a CPU is made of";
  let description = [{
    Emits an error, with what to change, at the first op of a function that the
    steps to a CPU do not take:

    - a branch that closes a loop; loops are scf.for or scf.while;
    - a memref of a memory space;
    - an op on tensors that has no form on buffers;
    - a memref.dealloc of an argument or a global.

    Meant for right before one-shot-bufferize. Never changes the IR.
  }];
}

def RemoveDeallocationsPass
    : Pass<"moe-remove-deallocations", "::mlir::func::FuncOp"> {
  let summary = "leave freeing to the compiler";
  let description = [{
    Removes every `memref.dealloc`: what follows places deallocations itself, of
    all buffers that a function allocates and does not return, and refuses
    functions that do so. Requires that no argument is freed (`moe-check-cpu`)
    and that deallocations are placed afterwards. Leaves everything else alone.
  }];
}

def FillEmptyTensorsPass
    : Pass<"moe-fill-empty-tensors", "::mlir::func::FuncOp"> {
  let summary = "fill each tensor.empty with NaN, or -1 for integers";
  let description = [{
    Elements that no op writes become the same on every device, so that results
    can be compared. Requires tensors. Element types without NaN are left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def ExpandStridedCopiesPass
    : Pass<"moe-expand-strided-copies", "::mlir::func::FuncOp"> {
  let summary = "turn copies of strided memrefs into linalg.copy";
  let description = [{
    A `memref.copy` with a layout on either side becomes `linalg.copy`, and so
    loops, instead of a call of a run-time library. Copies between row-major
    buffers are left alone: they become memcpy.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ApproximateVectorMathPass
    : Pass<"moe-approximate-vector-math", "::mlir::func::FuncOp"> {
  let summary = "turn exp and tanh of f32 vectors into polynomials";
  let description = [{
    `math.exp` and `math.tanh` of vectors of f32 become polynomials in the same
    vectors, accurate to a few units in the last place. Changes numerics. Leaves
    scalars, other element types and other functions alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// Conversion, on memrefs
//===----------------------------------------------------------------------===//

def SeparateResultsPass : Pass<"moe-separate-results", "::mlir::ModuleOp"> {
  let summary = "give each result a buffer of its own";
  let description = [{
    Where a function returns one memref twice, the later result becomes a copy.
    Requires bufferized functions; what follows makes results parameters of the
    caller, each of which is one buffer. Leaves everything else alone.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CheckCallsPass : Pass<"moe-check-calls", "::mlir::ModuleOp"> {
  let summary = "refuse calls that results cannot leave";
  let description = [{
    Emits an error, with what to change, at the first `func.call` that returns a
    tensor or memref of dynamic extents: results become parameters of the
    caller, who would have to know how large they are. Meant for right after
    inlining, which leaves recursion and functions without a body. Never changes
    the IR.
  }];
}

def OutlineKernelsPass : Pass<"moe-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "replace each moe op by launches of kernels";
  let description = [{
    Every moe op of a function becomes one kernel or a few in
    `gpu.module @moe_kernels`, and `gpu.launch_func` ops in its place, in
    order. Grids are affine expressions of the extents of the op's memrefs.
    Buffers that the kernels of one op share become `memref.alloc`. Kernels are
    `llvm.func @<function>_<n>_<op>` whose parameters are pointers, i32 extents
    and tensor maps; `moe.kernel_info` on each says what they are.

    In a function with moe ops, `memref.copy` and `linalg.fill` with a constant
    become kernels too: bufferization leaves copies where a function returns
    what it was given.

    Requires memrefs with an innermost stride of 1 that start at a constant
    place of a buffer; tables, ids and router weights without gaps between rows.
    Buffers start at a multiple of 16 bytes, or of `moe.alignment` where the
    argument has it. Establishes that no moe op is left except
    `moe.encode_tensor_map`, which is a host value. Leaves every other op alone.
    Remarks: `moe-offsets`, analysis of each buffer whose offsets take 64 bits;
    `moe-kernel`, missed for each operand that is accessed in smaller pieces,
    passed or missed for each row table that takes one launch or three.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90a\"",
           "chip to compile for: sm_80, sm_89, sm_90 or sm_90a">];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect",
    "::mlir::memref::MemRefDialect", "::mlir::cta::CTADialect"];
}

def MergeKernelsPass : Pass<"moe-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "keep one of kernels that are equal";
  let description = [{
    Kernels of `gpu.module @moe_kernels` that differ in nothing but their names
    become the first of them, and launches call that one. Variants of a function
    share most kernels: all but the GEMMs and their row tables.

    Meant for right after `moe-outline-kernels`; cheaper there than once kernels
    are instructions. Remarks: `moe-kernel`, passed for each kernel that goes.
  }];
}

#endif // MOE_PASSES
