//===- Emitter.cpp - loops, scalars and vectors in few words -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::cpu;

/// `type` with its elements replaced by `element`.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
Value Emitter::f32(double value) { return constantLike(getF32Type(), value); }
Value Emitter::f64(double value) { return constantLike(getF64Type(), value); }
Value Emitter::boolean(bool value) {
  return arith::ConstantOp::create(*this, getBoolAttr(value));
}
Value Emitter::constantLike(Type type, double value) {
  TypedAttr attr = getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(*this, attr);
}

//===----------------------------------------------------------------------===//
// Whole numbers
//===----------------------------------------------------------------------===//

Value Emitter::add(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}
Value Emitter::sub(Value a, Value b) {
  return arith::SubIOp::create(*this, a, b);
}
Value Emitter::mul(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}
Value Emitter::div(Value a, Value b) {
  return arith::DivUIOp::create(*this, a, b);
}
Value Emitter::rem(Value a, Value b) {
  return arith::RemUIOp::create(*this, a, b);
}
Value Emitter::min(Value a, Value b) {
  return arith::MinSIOp::create(*this, a, b);
}
Value Emitter::max(Value a, Value b) {
  return arith::MaxSIOp::create(*this, a, b);
}
Value Emitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, predicate, a, b);
}
Value Emitter::isBelow(Value a, Value b) {
  return compare(arith::CmpIPredicate::ult, a, b);
}
Value Emitter::both(Value a, Value b) {
  return arith::AndIOp::create(*this, a, b);
}
Value Emitter::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

Value Emitter::addf(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}
Value Emitter::subf(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}
Value Emitter::mulf(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}
Value Emitter::divf(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}
Value Emitter::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}
Value Emitter::toFloat(Value value, Type element) {
  Type type = withElement(value.getType(), element);
  unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from < to)
    return arith::ExtFOp::create(*this, type, value);
  return arith::TruncFOp::create(*this, type, value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::dim(Value memref, int64_t i) {
  int64_t extent = cast<MemRefType>(memref.getType()).getDimSize(i);
  if (!ShapedType::isDynamic(extent))
    return index(extent);
  return memref::DimOp::create(*this, memref, i);
}

Value Emitter::sharedDim(ValueRange memrefs) {
  Value shared;
  for (Value memref : memrefs) {
    if (!memref)
      continue;
    Value extent = dim(memref, 0);
    shared = shared ? min(shared, extent) : extent;
  }
  return shared;
}

Value Emitter::load(Value memref, ValueRange indices) {
  Value value = memref::LoadOp::create(*this, memref, indices);
  if (value.getType().isInteger(32))
    return arith::IndexCastOp::create(*this, getIndexType(), value);
  if (value.getType().isBF16() || value.getType().isF16())
    return toFloat(value, getF32Type());
  return value;
}

void Emitter::store(Value value, Value memref, ValueRange indices) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  if (element.isInteger(32))
    value = arith::IndexCastOp::create(*this, element, value);
  else if (isa<FloatType>(element))
    value = toFloat(value, element);
  memref::StoreOp::create(*this, value, memref, indices);
}

Value Emitter::loadVector(Value memref, ValueRange indices, int64_t width) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Value value = vector::LoadOp::create(*this, VectorType::get(width, element),
                                       memref, indices);
  return toFloat(value, getF32Type());
}

Value Emitter::loadVectorPrefix(Value memref, ValueRange indices, Value count) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get(lanes, element);
  Value mask = vector::CreateMaskOp::create(
      *this, VectorType::get(lanes, getI1Type()), ValueRange{count});
  Value value = vector::MaskedLoadOp::create(*this, type, memref, indices, mask,
                                             constantLike(type, 0));
  return toFloat(value, getF32Type());
}

Value Emitter::padVector(Value vector) {
  if (cast<VectorType>(vector.getType()).getNumElements() == lanes)
    return vector;
  Value zeros = constantLike(VectorType::get(lanes, getF32Type()), 0);
  return vector::InsertStridedSliceOp::create(
      *this, vector, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
}

void Emitter::storeVector(Value vector, Value memref, ValueRange indices) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  vector::StoreOp::create(*this, toFloat(vector, element), memref, indices);
}

Value Emitter::splat(Value scalar, int64_t width) {
  return vector::BroadcastOp::create(
      *this, VectorType::get(width, scalar.getType()), scalar);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Emitter::loop(Value begin, Value end, int64_t step,
                   function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(*this, begin, end, index(step));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

SmallVector<Value>
Emitter::loop(Value begin, Value end, int64_t step, ValueRange initial,
              function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(*this, begin, end, index(step), initial);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return op.getResults();
}

void Emitter::columnLoop(int64_t columns,
                         function_ref<void(Value, int64_t)> body) {
  int64_t whole = columns / lanes * lanes;
  if (whole == lanes) {
    body(index(0), lanes);
  } else if (whole > 0) {
    Value first = index(0);
    loop(first, index(whole), lanes,
         [&](Value column) { body(column, lanes); });
  }
  if (columns > whole)
    body(index(whole), columns - whole);
}

void Emitter::when(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  body();
}

void Emitter::whenElse(Value condition, function_ref<void()> thenBody,
                       function_ref<void()> elseBody) {
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  thenBody();
  setInsertionPointToStart(op.elseBlock());
  elseBody();
}

SmallVector<Value>
Emitter::choose(Value condition, function_ref<SmallVector<Value>()> thenBody,
                function_ref<SmallVector<Value>()> elseBody) {
  auto op = scf::IfOp::create(
      *this, condition,
      [&](OpBuilder &builder, Location) {
        OpBuilder::InsertionGuard guard(*this);
        restoreInsertionPoint(builder.saveInsertionPoint());
        scf::YieldOp::create(*this, thenBody());
      },
      [&](OpBuilder &builder, Location) {
        OpBuilder::InsertionGuard guard(*this);
        restoreInsertionPoint(builder.saveInsertionPoint());
        scf::YieldOp::create(*this, elseBody());
      });
  return op.getResults();
}

//===----------------------------------------------------------------------===//
// Scratch memory and the rule of slots
//===----------------------------------------------------------------------===//

Value Emitter::scratch(ArrayRef<int64_t> shape, Type element,
                       ValueRange sizes) {
  // A cache line, so that no vector of an aligned row straddles two.
  constexpr int64_t kAlignment = 64;
  Value buffer = memref::AllocOp::create(*this, MemRefType::get(shape, element),
                                         sizes, getI64IntegerAttr(kAlignment));
  buffers.push_back(buffer);
  return buffer;
}

void Emitter::freeScratch() {
  for (Value buffer : buffers)
    memref::DeallocOp::create(*this, buffer);
  buffers.clear();
}

Value Emitter::localExpert(Value id, Value expertMap, int64_t experts) {
  Value global = expertMap ? dim(expertMap, 0) : index(experts);
  Value exists = isBelow(id, global);
  Value local = id;
  if (expertMap) {
    // Ids outside the map read its first entry, which is then dropped.
    local = load(expertMap, {select(exists, id, index(0))});
    exists = both(exists, isBelow(local, experts));
  }
  return select(exists, local, index(-1));
}
