//===- LowerMoEBlock.cpp - nn.moe_block as moe ops -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a compiler does that keeps a layer as one op of its own until it lowers:
// builds the layer from moe ops, in its own function, between its own ops.
//
//===----------------------------------------------------------------------===//

#include "NNDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace {
/// The sizes of a block and what its ops have in common.
struct BlockBuilder {
  explicit BlockBuilder(nn::MoEBlockOp op)
      : op(op), b(op), loc(op.getLoc()), topK(op.getTopK()) {
    auto router = cast<RankedTensorType>(op.getRouter().getType());
    auto up = cast<RankedTensorType>(op.getUp().getType());
    auto down = cast<RankedTensorType>(op.getDown().getType());
    experts = router.getDimSize(0);
    upColumns = up.getDimSize(1);
    intermediate = down.getDimSize(2);
    hidden = down.getDimSize(1);
    element = cast<RankedTensorType>(op.getX().getType()).getElementType();
    tokens = tensor::DimOp::create(b, loc, op.getX(), 0);
    Value k = arith::ConstantIndexOp::create(b, loc, topK);
    rows = arith::MulIOp::create(b, loc, tokens, k);
  }

  /// A destination of `columns` columns, a row for each of `count`.
  Value destination(Value count, int64_t columns, Type type) {
    return tensor::EmptyOp::create(
        b, loc, ArrayRef<OpFoldResult>{count, b.getIndexAttr(columns)}, type);
  }

  std::pair<Value, Value> route();
  Value gemm(Value a, Value weights, Value ids, int64_t columns,
             moe::RowSource source);
  Value build();

  nn::MoEBlockOp op;
  OpBuilder b;
  Location loc;
  int64_t topK, experts, upColumns, intermediate, hidden;
  Type element;
  Value tokens, rows;
};
} // namespace

/// The weights and the experts of each token.
std::pair<Value, Value> BlockBuilder::route() {
  Value logits = destination(tokens, experts, b.getF32Type());
  logits = moe::GateOp::create(b, loc, logits.getType(), op.getX(),
                               op.getRouter(), /*bias=*/Value(), logits)
               ->getResult(0);
  Value weights = destination(tokens, topK, b.getF32Type());
  Value ids = destination(tokens, topK, b.getI32Type());
  auto route = moe::RouteOp::create(
      b, loc, TypeRange{weights.getType(), ids.getType()}, logits,
      /*bias=*/Value(), /*token_ids=*/Value(), /*table=*/Value(),
      /*expert_scale=*/Value(), weights, ids, moe::Score::Softmax,
      moe::Order::ScoreThenTopK, /*groups=*/1, /*keep_groups=*/1,
      moe::GroupRank::Max, /*renormalize=*/true, llvm::APFloat(1.0f),
      /*softcap=*/FloatAttr(), /*jitter=*/llvm::APFloat(0.01f));
  return {route->getResult(0), route->getResult(1)};
}

/// A row for each slot of each token, by the weights of its expert.
Value BlockBuilder::gemm(Value a, Value weights, Value ids, int64_t columns,
                         moe::RowSource source) {
  Value c = destination(rows, columns, element);
  return moe::GroupedGemmOp::create(
             b, loc, c.getType(), a, weights, ids, /*expert_map=*/Value(),
             /*bias=*/Value(), /*scales=*/ValueRange(),
             /*router_weights=*/Value(), c, moe::Grouping::Ids, source,
             moe::BLayout::NK, moe::WeightPlace::None,
             /*activation=*/moe::ActivationAttr(), moe::RowOrder::Flat,
             moe::RowOrder::Flat, /*top_k=*/IntegerAttr(),
             /*block=*/IntegerAttr(), /*schedule=*/moe::ScheduleAttr())
      ->getResult(0);
}

Value BlockBuilder::build() {
  auto [weights, ids] = route();
  Value h = gemm(op.getX(), op.getUp(), ids, upColumns, moe::RowSource::Token);
  Value a = destination(rows, intermediate, element);
  a = moe::ActivationOp::create(b, loc, a.getType(), h, a, op.getActivation())
          ->getResult(0);
  Value y = gemm(a, op.getDown(), ids, hidden, moe::RowSource::Flat);
  Value out = destination(tokens, hidden, element);
  return moe::CombineOp::create(
             b, loc, out.getType(), y, weights, ids, /*expert_map=*/Value(),
             /*identity=*/Value(), /*residual=*/Value(), out, experts,
             /*identity_experts=*/0, /*scale=*/llvm::APFloat(1.0f),
             /*routed_scale=*/llvm::APFloat(1.0f),
             /*residual_scale=*/llvm::APFloat(1.0f))
      ->getResult(0);
}

namespace {
struct LowerMoEBlockPass
    : PassWrapper<LowerMoEBlockPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMoEBlockPass)

  StringRef getArgument() const override { return "nn-lower-moe-block"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, tensor::TensorDialect, moe::MoEDialect>();
  }
  void runOnOperation() override {
    getOperation().walk([](nn::MoEBlockOp op) {
      op.replaceAllUsesWith(BlockBuilder(op).build());
      op.erase();
    });
  }
};
} // namespace

std::unique_ptr<Pass> nn::createLowerMoEBlockPass() {
  return std::make_unique<LowerMoEBlockPass>();
}
