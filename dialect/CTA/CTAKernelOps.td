//===- CTAKernelOps.td - plan, ring, roles and tile loop -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_KERNEL_OPS
#define CTA_KERNEL_OPS

include "CTATypes.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Refuses attributes that the op does not have, which are misspelt ones.
def CTA_OnlyOwnAttributes : NativeOpTrait<"OnlyOwnAttributes"> {
  let cppNamespace = "::mlir::moe";
}

class CTA_Op<string mnemonic, list<Trait> traits = []>
    : Op<CTA_Dialect, mnemonic, traits # [CTA_OnlyOwnAttributes]>;

defvar CTA_Shared = LLVM_PointerInAddressSpace<3>;
defvar CTA_Global = LLVM_PointerInAddressSpace<1>;

def CTA_PlanOp : CTA_Op<"plan"> {
  let summary = "State the block size and lay out dynamic shared memory";
  let description = [{
    Fixes the facts of the kernel: its threads, the dynamic shared memory it
    may use, and the buffers in it. Result `i` is the address of buffer `i`.

    Constraints:
    - (C1) `threads` is a multiple of 32 in [32, 1024] and equals the kernel's
      `nvvm.reqntid`, when that is set.
    - (C2) There is one result for each buffer.
    - (C3) `align` is a power of two up to 1024 and divides `offset`.
    - (C4) Buffers are listed by offset and do not overlap.
    - (C5) The last buffer ends at or below `limit`.

    Lowers to the address of the external shared symbol plus the offset.

    Example:
    ```mlir
    %ring = cta.plan threads 128 limit 101376
      [#cta.buffer<"ring", offset = 0, bytes = 73728, align = 1024>]
      : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins I64Attr:$threads, I64Attr:$limit,
                       CTA_BufferArrayAttr:$buffers);
  let results = (outs Variadic<CTA_Shared>:$addresses);
  let assemblyFormat = [{
    `threads` $threads `limit` $limit $buffers attr-dict
    (`:` type($addresses)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of dynamic shared memory that a launch has to provide.
    int64_t getSharedBytes();
    /// The plan of the function around `op`, null when it has none.
    static PlanOp of(Operation *op);
  }];
}

def CTA_RingOp : CTA_Op<"ring"> {
  let summary = "Initialise a ring of stages";
  let description = [{
    Makes a ring in a buffer of the plan. With `mbarrier` completion the
    barriers are initialised by one thread and made visible to the block.

    Constraints:
    - (C1) `full` and `empty` are given exactly with `mbarrier` completion, and
      are positive.
    - (C2) The storage is a buffer of the plan that is 1024-byte aligned and
      holds the stages and their barriers.
    - (C3) `full` counts every thread that runs `cta.commit` on the ring, and
      one more when `cta.tma_load` fills it.
    - (C4) `empty` counts the warps that run `cta.release` on the ring.

    Example:
    ```mlir
    %ring = cta.ring %storage full 129 empty 8
      : !cta.ring<4 stages of 49152 bytes, mbarrier>
    ```
  }];
  let arguments = (ins CTA_Shared:$storage, OptionalAttr<I64Attr>:$full,
                       OptionalAttr<I64Attr>:$empty);
  let results = (outs CTA_RingType:$ring);
  let assemblyFormat = [{
    $storage (`full` $full^)? (`empty` $empty^)? attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

class CTA_RingSlotOp<string mnemonic> : CTA_Op<mnemonic> {
  let arguments = (ins CTA_RingType:$ring, I32:$stage, I32:$phase);
}

def CTA_AcquireOp : CTA_RingSlotOp<"acquire"> {
  let summary = "Wait until a stage is empty and return its address";
  let description = [{
    Waits on the empty barrier for the parity opposite to `phase`, so that the
    first round passes at once.

    Constraints:
    - (C1) The ring completes by `mbarrier`.
    - (C2) The op is in the producer region of `cta.roles`.
  }];
  let results = (outs CTA_Shared:$address);
  let assemblyFormat =
      "$ring `[` $stage `,` $phase `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def CTA_AwaitOp : CTA_RingSlotOp<"await"> {
  let summary = "Wait until a stage is full and return its address";
  let description = [{
    `mbarrier`: waits on the full barrier for the parity `phase`, then fences
    the async proxy, because 16-byte copies are writes of the generic proxy.
    `groups`: waits until the oldest of the last `stages - 1` groups is there,
    then passes a barrier of the block; the stage before it is free afterwards.

    Constraints:
    - (C1) With `mbarrier` completion the op is in the consumer region of
      `cta.roles`.
  }];
  let results = (outs CTA_Shared:$address);
  let assemblyFormat =
      "$ring `[` $stage `,` $phase `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def CTA_StageOp : CTA_Op<"stage", [Pure]> {
  let summary = "Return the address of a stage";
  let arguments = (ins CTA_RingType:$ring, I32:$stage);
  let results = (outs CTA_Shared:$address);
  let assemblyFormat = "$ring `[` $stage `]` attr-dict `:` type($ring)";
}

def CTA_CommitOp : CTA_Op<"commit"> {
  let summary = "Hand over the copies of this thread as one stage";
  let description = [{
    `mbarrier`: the thread arrives on the full barrier when its earlier 16-byte
    copies have landed. `groups`: closes a cp.async group; every thread runs
    it once a k-block, also when it has nothing left to copy.
  }];
  let arguments = (ins CTA_RingType:$ring, I32:$stage);
  let assemblyFormat = "$ring `[` $stage `]` attr-dict `:` type($ring)";
}

def CTA_ReleaseOp : CTA_Op<"release"> {
  let summary = "Give a stage back to the producer";
  let description = [{
    One lane of each warp arrives on the empty barrier.

    Constraints:
    - (C1) The ring completes by `mbarrier`.
    - (C2) The op is in the consumer region of `cta.roles`.
  }];
  let arguments = (ins CTA_RingType:$ring, I32:$stage);
  let assemblyFormat = "$ring `[` $stage `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def CTA_DrainOp : CTA_Op<"drain"> {
  let summary = "Wait for all groups and for all threads of the block";
  let description = [{
    Ends a tile of a `groups` ring: the next tile may fill every stage.

    Constraints:
    - (C1) The ring completes by `groups`.
  }];
  let arguments = (ins CTA_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def CTA_AdvanceOp : CTA_Op<"advance", [Pure]> {
  let summary = "Step to the next stage; the phase flips at the wrap";
  let arguments = (ins CTA_RingType:$ring, I32:$stage, I32:$phase);
  let results = (outs I32:$nextStage, I32:$nextPhase);
  let assemblyFormat =
      "$ring `[` $stage `,` $phase `]` attr-dict `:` type($ring)";
}

def CTA_UniformOp : CTA_Op<"uniform", [SameOperandsAndResultType]> {
  let summary = "Broadcast lane 0, so that the value is visibly warp-uniform";
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def CTA_RolesOp : CTA_Op<"roles", [SingleBlock, NoRegionArguments,
                                   NVVMRequiresSMa<[90]>]> {
  let summary = "Split the block into a producer and consumer warpgroups";
  let description = [{
    Warpgroup 0 runs the producer region, warpgroups 1 to `consumers` run the
    consumer region. Register budgets, when given, move registers from the
    producer to the consumers with setmaxnreg.

    Constraints:
    - (C1) The plan has 128 * (1 + consumers) threads.
    - (C2) Both budgets are given or none; each is a multiple of 8 in [24, 256].
    - (C3) The budgets of all warpgroups, times the blocks an SM must hold
      (`nvvm.minctasm`), fit in the 65536 registers of an SM.
    - (C4) The op is not nested in another `cta.roles`.
    - (C5) The op is for sm_90a.
  }];
  let arguments = (ins I64Attr:$consumers,
                       OptionalAttr<I64Attr>:$producerRegisters,
                       OptionalAttr<I64Attr>:$consumerRegisters);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `producer` (`registers` $producerRegisters^)? $producer
    `consumers` $consumers (`registers` $consumerRegisters^)? $consumer
    attr-dict
  }];
  let hasVerifier = 1;
}

def CTA_WarpgroupOp : CTA_Op<"warpgroup", [Pure]> {
  let summary = "Number the consumer warpgroups from 0";
  let description = [{
    Constraints:
    - (C1) The op is in the consumer region of `cta.roles`.
  }];
  let results = (outs I32:$index);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def CTA_TileLoopOp
    : CTA_Op<"tile_loop", [SingleBlock, AllTypesMatch<["inits", "results"]>]> {
  let summary = "Walk over this block's tiles of the output";
  let description = [{
    A static persistent loop: block `b` of a grid of `g` takes tiles b, b + g,
    ... of `rowTiles * colTiles`. Tiles run down `group` row tiles before they
    step to the next column tile, so that the row tiles that share weights are
    near each other in time. The body receives the row tile, the column tile
    and the loop-carried values; roles that run the same loop see the same
    tiles in the same order.

    Constraints:
    - (C1) `colTiles` and `group` are positive.
    - (C2) The body takes two i32 and one argument for each carried value, and
      yields the carried values; they are i32.

    Example:
    ```mlir
    %r:2 = cta.tile_loop %row_tiles by 16 group 8 iter(%c0, %c0) : i32, i32 {
    ^bb0(%m: i32, %n: i32, %stage: i32, %phase: i32):
      cta.yield %stage, %phase : i32, i32
    }
    ```
  }];
  let arguments = (ins I32:$rowTiles, I64Attr:$colTiles, I64Attr:$group,
                       Variadic<I32>:$inits);
  let results = (outs Variadic<I32>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $rowTiles `by` $colTiles `group` $group
    (`iter` `(` $inits^ `)` `:` type($inits))? $body attr-dict
  }];
  let hasVerifier = 1;
}

def CTA_YieldOp
    : CTA_Op<"yield", [Pure, Terminator, ReturnLike,
                       ParentOneOf<["RolesOp", "TileLoopOp", "EpilogueOp"]>]> {
  let summary = "End a region of the dialect";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // CTA_KERNEL_OPS
