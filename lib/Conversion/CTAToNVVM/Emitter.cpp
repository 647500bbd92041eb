//===- Emitter.cpp - scalar code between instructions -----------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::cta;

Value Emitter::i32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}
Value Emitter::i64(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value Emitter::like(Value value, int64_t constant) {
  return value.getType().isInteger(64) ? i64(constant) : i32(constant);
}
Value Emitter::add(Value a, Value c) {
  return arith::AddIOp::create(b, loc, a, c);
}
Value Emitter::sub(Value a, Value c) {
  return arith::SubIOp::create(b, loc, a, c);
}
Value Emitter::mul(Value a, Value c) {
  return arith::MulIOp::create(b, loc, a, c);
}
Value Emitter::udiv(Value a, Value c) {
  return arith::DivUIOp::create(b, loc, a, c);
}
Value Emitter::urem(Value a, Value c) {
  return arith::RemUIOp::create(b, loc, a, c);
}
Value Emitter::umin(Value a, Value c) {
  return arith::MinUIOp::create(b, loc, a, c);
}
Value Emitter::bitAnd(Value a, int64_t c) {
  return arith::AndIOp::create(b, loc, a, like(a, c));
}
Value Emitter::bitXor(Value a, Value c) {
  return arith::XOrIOp::create(b, loc, a, c);
}
Value Emitter::shl(Value a, int64_t bits) {
  return arith::ShLIOp::create(b, loc, a, like(a, bits));
}
Value Emitter::shr(Value a, int64_t bits) {
  return arith::ShRUIOp::create(b, loc, a, like(a, bits));
}
Value Emitter::compare(arith::CmpIPredicate predicate, Value a, Value c) {
  return arith::CmpIOp::create(b, loc, predicate, a, c);
}
Value Emitter::select(Value condition, Value a, Value c) {
  return arith::SelectOp::create(b, loc, condition, a, c);
}
Value Emitter::zext(Value a) {
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), a);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value Emitter::threadId() {
  return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
}
Value Emitter::laneId() { return bitAnd(threadId(), kWarpThreads - 1); }
Value Emitter::warpInGroup() { return bitAnd(shr(threadId(), 5), 3); }

Value Emitter::shuffle(Value value, Value lane) {
  Value allLanes = i32(-1), lastLane = i32(kWarpThreads - 1);
  return NVVM::ShflOp::create(b, loc, value.getType(), allLanes, value, lane,
                              lastLane, NVVM::ShflKind::idx, UnitAttr());
}
Value Emitter::broadcast(Value value) { return shuffle(value, i32(0)); }

Value Emitter::uniformWarp(Operation *op) {
  OpBuilder::InsertionGuard guard(b);
  if (auto func = op->getParentOfType<LLVM::LLVMFuncOp>())
    b.setInsertionPointToStart(&func.getBody().front());
  return broadcast(shr(threadId(), 5));
}

void Emitter::syncWarp() { NVVM::SyncWarpOp::create(b, loc, i32(-1)); }
void Emitter::syncBlock() { NVVM::BarrierOp::create(b, loc); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
Value Emitter::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  if (bytes == static_cast<int32_t>(bytes))
    return LLVM::GEPOp::create(
        b, loc, pointer.getType(), b.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  return offset(pointer, i64(bytes));
}
Value Emitter::load(Type type, Value pointer, unsigned alignment) {
  return LLVM::LoadOp::create(b, loc, type, pointer, alignment);
}
void Emitter::store(Value value, Value pointer, unsigned alignment) {
  LLVM::StoreOp::create(b, loc, value, pointer, alignment);
}

//===----------------------------------------------------------------------===//
// Aggregates
//===----------------------------------------------------------------------===//

Value Emitter::extract(Value aggregate, int64_t index) {
  return LLVM::ExtractValueOp::create(b, loc, aggregate, index);
}
Value Emitter::pack(Type structType, ValueRange values) {
  Value aggregate = LLVM::UndefOp::create(b, loc, structType);
  for (auto [index, value] : llvm::enumerate(values))
    aggregate = LLVM::InsertValueOp::create(b, loc, aggregate, value,
                                            static_cast<int64_t>(index));
  return aggregate;
}
SmallVector<Value> Emitter::unpack(Value aggregate) {
  SmallVector<Value> values;
  auto type = cast<LLVM::LLVMStructType>(aggregate.getType());
  for (size_t index = 0; index < type.getBody().size(); ++index)
    values.push_back(extract(aggregate, index));
  return values;
}

Value Emitter::roundPair(Value low, Value high, Type element) {
  auto type = VectorType::get(2, b.getF32Type());
  Value pair = LLVM::UndefOp::create(b, loc, type);
  pair = LLVM::InsertElementOp::create(b, loc, pair, low, i32(0));
  pair = LLVM::InsertElementOp::create(b, loc, pair, high, i32(1));
  if (element.isF32())
    return pair;
  return LLVM::FPTruncOp::create(b, loc, VectorType::get(2, element), pair);
}

//===----------------------------------------------------------------------===//
// Tiles and rings
//===----------------------------------------------------------------------===//

Value Emitter::swizzled(Value row, Value chunk) {
  Value rowStart = shl(row, 7);
  return add(rowStart, shl(bitXor(chunk, bitAnd(row, 7)), 4));
}
Value Emitter::stageAddress(RingType type, Value ring, Value stage) {
  return offset(ring, mul(stage, type.getStageBytes()));
}
Value Emitter::fullBarrier(RingType type, Value ring, Value stage) {
  Value barriers = offset(ring, type.getFullOffset());
  return offset(barriers, shl(stage, 3));
}
Value Emitter::emptyBarrier(RingType type, Value ring, Value stage) {
  Value barriers = offset(ring, type.getEmptyOffset());
  return offset(barriers, shl(stage, 3));
}

Value cta::threadColumn(Emitter &e, FragmentType type) {
  Value column = e.shl(e.bitAnd(e.laneId(), 3), 1);
  if (type.getMma() == Mma::Wgmma)
    return column;
  int64_t warpColumns = type.getCols() / type.getParts() / 4;
  return e.add(column, e.mul(e.warpInGroup(), warpColumns));
}
