//===- Fuse.cpp - fuse activation, weight and row movement into GEMMs -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A layer written plainly moves every intermediate through memory:
//
//   h = grouped_gemm(x, w13)    a = activation(h)
//   y = grouped_gemm(a, w2)     out = combine(y, weights, ids)
//
// becomes
//
//   a = grouped_gemm(x, w13) {activation}
//   y = grouped_gemm(a, w2) weights(weights) {weight = output}
//   out = combine(y, weights, ids) {weighted = false}
//
// and permute / contiguous GEMMs / unpermute become GEMMs by ids, which gather
// and scatter rows themselves. First of the pipeline, on tensors.
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/MoEDialect.h"
#include "moe/MoE/UncountedExperts.h"
#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::moe {
#define GEN_PASS_DEF_FUSEPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

static remark::RemarkOpts remarkNamed(StringRef name) {
  return remark::RemarkOpts::name(name).category("moe-fuse");
}

/// Says why `op` was left alone.
static void missed(Operation *op, StringRef name, StringRef reason) {
  remark::missed(op->getLoc(), remarkNamed(name)) << reason;
}

static Type elementType(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// permute / unpermute
//===----------------------------------------------------------------------===//

namespace {
/// The ops between one permute and its unpermutes, all over rows in expert
/// order, or the reason why they cannot move to flat rows.
class PermutedRegion {
public:
  explicit PermutedRegion(PermuteOp permute) : permute(permute) {}

  /// Collects the region; false with `reason` set if it has to stay.
  bool collect();
  /// Replaces the region by ops over flat rows.
  void rewrite(RewriterBase &rewriter);

  StringRef reason;

private:
  bool collectUse(OpOperand &use);
  bool collectGemm(GroupedGemmOp gemm, OpOperand &use);
  /// The value that holds in flat rows what `sorted` holds in expert order.
  void rewriteGemm(RewriterBase &rewriter, GroupedGemmOp gemm);
  void rewriteActivation(RewriterBase &rewriter, ActivationOp activation);
  bool fail(StringRef why) {
    reason = why;
    return false;
  }

  PermuteOp permute;
  SmallVector<Operation *> ops; // in program order of discovery
  llvm::SmallDenseSet<Operation *> seen;
  IRMapping flat; // value in expert order -> value in flat rows
};
} // namespace

bool PermutedRegion::collectGemm(GroupedGemmOp gemm, OpOperand &use) {
  Value offsets = permute.getResults()[2];
  if (gemm.getGrouping() != Grouping::Offsets ||
      gemm.getRows().front() != offsets)
    return fail("a GEMM over the permuted rows is not grouped by the permute's "
                "own offsets");
  if (&use != &gemm.getAMutable())
    return fail("permuted rows are used as another operand than a");
  if (gemm.getWeights())
    return fail("a GEMM over the permuted rows has weights in expert order");
  return true;
}

bool PermutedRegion::collectUse(OpOperand &use) {
  Operation *user = use.getOwner();
  if (user->getBlock() != permute->getBlock())
    return fail("permuted rows are used in another block");
  if (auto unpermute = dyn_cast<UnpermuteOp>(user)) {
    if (&use != &unpermute.getRowsMutable() ||
        unpermute.getSource() != permute.getResults()[1])
      return fail("an unpermute does not use the permute's own source");
    if (!use.get().hasOneUse())
      return fail("the rows that return to flat rows have another use");
    // An activation writes every row, a GEMM leaves rows without expert as the
    // unpermute does.
    if (!use.get().getDefiningOp<GroupedGemmOp>())
      return fail("the rows that return to flat rows do not come from a GEMM");
  } else if (auto gemm = dyn_cast<GroupedGemmOp>(user)) {
    if (!collectGemm(gemm, use))
      return false;
  } else if (auto activation = dyn_cast<ActivationOp>(user)) {
    if (&use != &activation.getHMutable())
      return fail("permuted rows are used as a destination");
    if (use.get() == permute.getResults()[0])
      return fail("an activation works on the gathered rows themselves");
  } else {
    return fail("permuted rows are used by an op that is no GEMM, activation "
                "or unpermute");
  }
  if (seen.insert(user).second)
    ops.push_back(user);
  return true;
}

bool PermutedRegion::collect() {
  auto collectUses = [&](Value value) {
    return llvm::all_of(value.getUses(),
                        [&](OpOperand &use) { return collectUse(use); });
  };
  if (!collectUses(permute.getResults()[0]))
    return false;
  for (size_t i = 0; i < ops.size(); ++i)
    if (!isa<UnpermuteOp>(ops[i]) && !collectUses(ops[i]->getResult(0)))
      return false;
  bool closed =
      llvm::any_of(ops, [](Operation *op) { return isa<UnpermuteOp>(op); });
  if (!closed)
    return fail("the permuted rows never return to flat rows");
  // Source and offsets may serve only ops of this region.
  for (Value table : {permute.getResults()[1], permute.getResults()[2]})
    for (Operation *user : table.getUsers())
      if (!seen.contains(user))
        return fail("source or offsets are used outside the GEMMs");
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return true;
}

/// An uninitialised tensor with the rows of the permuted rows and the columns
/// and type of `like`.
static Value emptyFlatRows(RewriterBase &rewriter, PermuteOp permute,
                           Value like) {
  Location loc = permute.getLoc();
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, like);
  return tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
}

void PermutedRegion::rewriteGemm(RewriterBase &rewriter, GroupedGemmOp gemm) {
  bool gathers = gemm.getA() == permute.getResults()[0];
  Value a = gathers ? permute.getX() : flat.lookup(gemm.getA());
  Value c = emptyFlatRows(rewriter, permute, gemm.getC());
  auto newGemm = cast<GroupedGemmOp>(rewriter.clone(*gemm));
  newGemm.getAMutable().assign(a);
  newGemm.getRowsMutable().assign(permute.getIds());
  if (permute.getExpertMap())
    newGemm.getExpertMapMutable().assign(permute.getExpertMap());
  newGemm.getCMutable().assign(c);
  newGemm.getResult(0).setType(cast<RankedTensorType>(c.getType()));
  newGemm.setGrouping(Grouping::Ids);
  newGemm.setRowSource(gathers ? RowSource::Token : RowSource::Flat);
  flat.map(gemm.getResult(0), newGemm.getResult(0));
}

void PermutedRegion::rewriteActivation(RewriterBase &rewriter,
                                       ActivationOp activation) {
  Value a = emptyFlatRows(rewriter, permute, activation.getA());
  auto newOp = ActivationOp::create(
      rewriter, activation.getLoc(), TypeRange{a.getType()},
      flat.lookup(activation.getH()), a, activation.getActivation());
  flat.map(activation.getResult(0), newOp.getResult(0));
}

void PermutedRegion::rewrite(RewriterBase &rewriter) {
  SmallVector<Operation *> replaced;
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (!isa<UnpermuteOp>(op))
      replaced.push_back(op);
    if (auto gemm = dyn_cast<GroupedGemmOp>(op)) {
      rewriteGemm(rewriter, gemm);
    } else if (auto activation = dyn_cast<ActivationOp>(op)) {
      rewriteActivation(rewriter, activation);
    } else {
      // The last op writes the unpermute's destination: rows without expert
      // keep its values in both forms.
      auto unpermute = cast<UnpermuteOp>(op);
      Value result = flat.lookup(unpermute.getRows());
      auto producer = cast<DestinationStyleOpInterface>(result.getDefiningOp());
      rewriter.moveOpBefore(producer, unpermute);
      rewriter.modifyOpInPlace(producer, [&] {
        producer.getDpsInitsMutable()[0].set(unpermute.getY());
        producer->getResult(0).setType(unpermute.getResult(0).getType());
      });
      rewriter.replaceOp(unpermute, result);
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    rewriter.eraseOp(op);
  if (permute->use_empty())
    rewriter.eraseOp(permute);
}

//===----------------------------------------------------------------------===//
// Activation and router weight
//===----------------------------------------------------------------------===//

/// The GEMM that alone feeds `value` and has no other user, or null with the
/// reason why there is none.
static GroupedGemmOp soleProducer(Value value, StringRef &reason) {
  auto gemm = value.getDefiningOp<GroupedGemmOp>();
  if (!gemm) {
    reason = "its rows do not come from a grouped GEMM";
    return nullptr;
  }
  if (!value.hasOneUse()) {
    reason = "the GEMM's rows have another use";
    return nullptr;
  }
  return gemm;
}

/// True if rows that `gemm` does not write are uninitialised before and after
/// the activation, so that fusing changes no defined value.
static bool leavesNoDefinedRows(GroupedGemmOp gemm, ActivationOp activation) {
  return gemm.getGrouping() == Grouping::Dense ||
         (gemm.getC().getDefiningOp<tensor::EmptyOp>() &&
          activation.getA().getDefiningOp<tensor::EmptyOp>());
}

static bool fuseActivation(RewriterBase &rewriter, ActivationOp activation) {
  StringRef reason;
  GroupedGemmOp gemm = soleProducer(activation.getH(), reason);
  if (gemm && gemm.getActivation())
    reason = "the GEMM has an activation already";
  else if (gemm && gemm.getWeight() == WeightPlace::Output)
    reason = "the GEMM applies the router weight, which comes after the "
             "activation";
  else if (gemm && gemm->getBlock() != activation->getBlock())
    reason = "GEMM and activation are in different blocks";
  else if (gemm && !leavesNoDefinedRows(gemm, activation))
    reason = "rows without an expert hold defined values: start GEMM and "
             "activation from tensor.empty";
  Type type = elementType(activation.getA());
  if (gemm && !type.isF32() && type != elementType(gemm.getA()) &&
      type != elementType(gemm.getB()))
    reason = "the activation's type is none that the GEMM can write";
  if (!reason.empty()) {
    missed(activation, "activation", reason);
    return false;
  }
  rewriter.setInsertionPoint(activation);
  auto fused = cast<GroupedGemmOp>(rewriter.clone(*gemm));
  fused.getCMutable().assign(activation.getA());
  fused.getResult(0).setType(activation.getResult(0).getType());
  fused.setActivationAttr(activation.getActivation());
  remark::passed(activation.getLoc(), remarkNamed("activation"))
      << (stringifyActivationKind(activation.getActivation().getKind()) +
          " moved into the epilogue of the GEMM")
             .str();
  rewriter.replaceOp(activation, fused.getResults());
  rewriter.eraseOp(gemm);
  return true;
}

static bool fuseWeights(RewriterBase &rewriter, CombineOp combine) {
  if (!combine.getWeighted())
    return false;
  StringRef reason;
  GroupedGemmOp gemm = soleProducer(combine.getY(), reason);
  if (gemm && gemm.getWeight() != WeightPlace::None)
    reason = "the GEMM applies a router weight already";
  else if (gemm && gemm.getGrouping() != Grouping::Ids)
    reason = "the GEMM is not grouped by ids";
  else if (gemm && (gemm.getRows().front() != combine.getIds() ||
                    gemm.getExpertMap() != combine.getExpertMap()))
    reason = "GEMM and combine use different ids or expert maps";
  else if (gemm &&
           gemm.getNumExperts() != static_cast<int64_t>(combine.getExperts()))
    reason = "GEMM and combine have different numbers of experts";
  else if (gemm && gemm->getBlock() != combine->getBlock())
    reason = "GEMM and combine are in different blocks";
  if (!reason.empty()) {
    missed(combine, "router-weight", reason);
    return false;
  }
  // The weights may be computed after the GEMM.
  rewriter.moveOpBefore(gemm, combine);
  rewriter.modifyOpInPlace(gemm, [&] {
    gemm.getWeightsMutable().assign(combine.getWeights());
    gemm.setWeight(WeightPlace::Output);
  });
  rewriter.modifyOpInPlace(combine, [&] { combine.setWeighted(false); });
  remark::passed(combine.getLoc(), remarkNamed("router-weight"))
      << "router weight moved into the epilogue of the GEMM";
  return true;
}

namespace {
struct Fuse : moe::impl::FusePassBase<Fuse> {
  void runOnOperation() override;
  void fusePermutes(RewriterBase &rewriter);
};
} // namespace

void Fuse::fusePermutes(RewriterBase &rewriter) {
  SmallVector<PermuteOp> permutes;
  getOperation()->walk([&](PermuteOp op) { permutes.push_back(op); });
  for (PermuteOp permute : permutes) {
    if (!isa<RankedTensorType>(permute.getX().getType()))
      continue;
    PermutedRegion region(permute);
    if (!region.collect()) {
      missed(permute, "permute", region.reason);
      continue;
    }
    remark::passed(permute.getLoc(), remarkNamed("permute"))
        << "permute and unpermute became gather and scatter of the GEMMs";
    region.rewrite(rewriter);
  }
}

void Fuse::runOnOperation() {
  warnAboutUncountedExperts(getOperation());
  IRRewriter rewriter(&getContext());
  fusePermutes(rewriter);
  SmallVector<Operation *> candidates;
  getOperation()->walk([&](Operation *op) {
    if (isa<ActivationOp, CombineOp>(op) && op->getNumResults() != 0)
      candidates.push_back(op);
  });
  for (Operation *op : candidates) {
    if (auto activation = dyn_cast<ActivationOp>(op))
      fuseActivation(rewriter, activation);
    else
      fuseWeights(rewriter, cast<CombineOp>(op));
  }
}
