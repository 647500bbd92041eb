//===- Ring.cpp - plan, ring and barriers -----------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::cta;

/// Name of the external symbol whose size the launch decides.
static constexpr StringLiteral kSharedSymbol = "cta_shared";
/// How long a thread may sleep in one barrier test, in nanoseconds.
static constexpr int64_t kWaitTicks = 10000000;

/// The module's dynamic shared memory, declared at the first use.
static LLVM::GlobalOp getSharedSymbol(OpBuilder &b, Operation *op) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (!module)
    return {};
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getSymName() == kSharedSymbol)
      return global;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::GlobalOp::create(
      b, op->getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol,
      /*value=*/Attribute(), /*alignment=*/kSwizzleAtomBytes,
      /*addrSpace=*/3);
}

static void waitParity(Emitter &e, Value barrier, Value phase) {
  NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, barrier, phase,
                                        e.i32(kWaitTicks));
}

namespace {

struct LowerPlan : OpConversionPattern<PlanOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(PlanOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVM::GlobalOp symbol = getSharedSymbol(rewriter, op);
    if (!symbol)
      return rewriter.notifyMatchFailure(op, "is not in a gpu.module");
    Emitter e(rewriter, op.getLoc());
    Value base = LLVM::AddressOfOp::create(rewriter, op.getLoc(), symbol);
    SmallVector<Value> addresses;
    for (auto buffer : op.getBuffers().getAsRange<BufferAttr>())
      addresses.push_back(e.offset(base, buffer.getOffset()));
    rewriter.replaceOp(op, addresses);
    return success();
  }
};

struct LowerRing : OpConversionPattern<RingOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RingOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    RingType type = op.getRing().getType();
    Value ring = adaptor.getStorage();
    if (type.getCompletion() == Completion::Mbarrier) {
      initBarriers(e, type, ring, *op.getFull(), *op.getEmpty());
      e.syncBlock();
    }
    rewriter.replaceOp(op, ring);
    return success();
  }

  /// Thread 0 initialises every barrier and publishes them.
  static void initBarriers(Emitter &e, RingType type, Value ring, int64_t full,
                           int64_t empty) {
    OpBuilder &b = e.b;
    OpBuilder::InsertionGuard guard(b);
    Value first = e.compare(arith::CmpIPredicate::eq, e.threadId(), 0);
    auto branch = scf::IfOp::create(b, e.loc, first, /*withElse=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value fullCount = e.i32(full), emptyCount = e.i32(empty);
    for (int64_t stage = 0; stage < type.getStages(); ++stage) {
      NVVM::MBarrierInitOp::create(
          b, e.loc, e.offset(ring, type.getFullOffset() + 8 * stage), fullCount,
          Value());
      NVVM::MBarrierInitOp::create(
          b, e.loc, e.offset(ring, type.getEmptyOffset() + 8 * stage),
          emptyCount, Value());
    }
    NVVM::FenceMbarrierInitOp::create(b, e.loc);
  }
};

struct LowerAcquire : OpConversionPattern<AcquireOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(AcquireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    RingType type = op.getRing().getType();
    Value barrier = e.emptyBarrier(type, adaptor.getRing(), adaptor.getStage());
    waitParity(e, barrier, e.bitXor(adaptor.getPhase(), e.i32(1)));
    rewriter.replaceOp(
        op, e.stageAddress(type, adaptor.getRing(), adaptor.getStage()));
    return success();
  }
};

struct LowerAwait : OpConversionPattern<AwaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(AwaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    RingType type = op.getRing().getType();
    if (type.getCompletion() == Completion::Groups) {
      NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(),
                                       type.getStages() - 2);
      e.syncBlock();
    } else {
      waitParity(e, e.fullBarrier(type, adaptor.getRing(), adaptor.getStage()),
                 adaptor.getPhase());
      NVVM::FenceProxyOp::create(
          rewriter, op.getLoc(), NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(op.getContext(),
                                     NVVM::SharedSpace::shared_cta));
    }
    rewriter.replaceOp(
        op, e.stageAddress(type, adaptor.getRing(), adaptor.getStage()));
    return success();
  }
};

struct LowerStage : OpConversionPattern<StageOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(StageOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    rewriter.replaceOp(op,
                       e.stageAddress(op.getRing().getType(), adaptor.getRing(),
                                      adaptor.getStage()));
    return success();
  }
};

struct LowerCommit : OpConversionPattern<CommitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(CommitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    RingType type = op.getRing().getType();
    if (type.getCompletion() == Completion::Groups)
      NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    else
      NVVM::CpAsyncMBarrierArriveOp::create(
          rewriter, op.getLoc(),
          e.fullBarrier(type, adaptor.getRing(), adaptor.getStage()),
          /*noinc=*/true);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerRelease : OpConversionPattern<ReleaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value first = e.compare(arith::CmpIPredicate::eq, e.laneId(), 0);
    auto branch =
        scf::IfOp::create(rewriter, op.getLoc(), first, /*withElse=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    NVVM::MBarrierArriveOp::create(rewriter, op.getLoc(), Type(),
                                   e.emptyBarrier(op.getRing().getType(),
                                                  adaptor.getRing(),
                                                  adaptor.getStage()),
                                   Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerDrain : OpConversionPattern<DrainOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DrainOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), 0);
    Emitter(rewriter, op.getLoc()).syncBlock();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerAdvance : OpConversionPattern<AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(AdvanceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Value next = e.add(adaptor.getStage(), 1);
    Value wraps = e.compare(arith::CmpIPredicate::eq, next,
                            op.getRing().getType().getStages());
    Value flip = arith::ExtUIOp::create(rewriter, op.getLoc(),
                                        rewriter.getI32Type(), wraps);
    rewriter.replaceOp(op, {e.select(wraps, e.i32(0), next),
                            e.bitXor(adaptor.getPhase(), flip)});
    return success();
  }
};

} // namespace

void cta::populateRingPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns) {
  patterns.add<LowerPlan, LowerRing, LowerAcquire, LowerAwait, LowerStage,
               LowerCommit, LowerRelease, LowerDrain, LowerAdvance>(
      converter, patterns.getContext());
}
