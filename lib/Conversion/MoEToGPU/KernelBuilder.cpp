//===- KernelBuilder.cpp - writes SIMT kernels like pseudo code -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Val Operand::as(KernelBuilder &kernel, Type type) const {
  return value.kernel ? value : kernel.number(type, number);
}

/// FloatOp on floats, IntOp on integers.
template <typename FloatOp, typename IntOp>
static Val binary(Val a, Operand b) {
  ImplicitLocOpBuilder &builder = a.kernel->b;
  Value rhs = b.as(a);
  if (a.isFloat())
    return {a.kernel, FloatOp::create(builder, a, rhs)};
  return {a.kernel, IntOp::create(builder, a, rhs)};
}

template <typename IntOp>
static Val integer(Val a, Operand b) {
  return {a.kernel, IntOp::create(a.kernel->b, a, b.as(a))};
}

static Val compare(Val a, Operand b, arith::CmpFPredicate forFloats,
                   arith::CmpIPredicate forIntegers) {
  ImplicitLocOpBuilder &builder = a.kernel->b;
  Value rhs = b.as(a);
  if (a.isFloat())
    return {a.kernel, arith::CmpFOp::create(builder, forFloats, a, rhs)};
  return {a.kernel, arith::CmpIOp::create(builder, forIntegers, a, rhs)};
}

Val moe::operator+(Val a, Operand b) {
  return binary<arith::AddFOp, arith::AddIOp>(a, b);
}
Val moe::operator-(Val a, Operand b) {
  return binary<arith::SubFOp, arith::SubIOp>(a, b);
}
Val moe::operator*(Val a, Operand b) {
  return binary<arith::MulFOp, arith::MulIOp>(a, b);
}
Val moe::operator/(Val a, Operand b) {
  return binary<arith::DivFOp, arith::DivUIOp>(a, b);
}
Val moe::operator%(Val a, Operand b) { return integer<arith::RemUIOp>(a, b); }
Val moe::operator&(Val a, Operand b) { return integer<arith::AndIOp>(a, b); }
Val moe::operator|(Val a, Operand b) { return integer<arith::OrIOp>(a, b); }
Val moe::operator^(Val a, Operand b) { return integer<arith::XOrIOp>(a, b); }
Val moe::operator<<(Val a, Operand b) { return integer<arith::ShLIOp>(a, b); }
Val moe::operator>>(Val a, Operand b) { return integer<arith::ShRUIOp>(a, b); }
Val moe::operator<(Val a, Operand b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Val moe::operator<=(Val a, Operand b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Val moe::operator>(Val a, Operand b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Val moe::operator>=(Val a, Operand b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Val moe::operator==(Val a, Operand b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Val moe::operator!=(Val a, Operand b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}
Val moe::operator!(Val a) { return a ^ a.kernel->boolean(true); }
Val moe::operator-(Val a) {
  if (a.isFloat())
    return {a.kernel, arith::NegFOp::create(a.kernel->b, a)};
  return a.kernel->number(a.type(), 0) - a;
}
Val moe::isBelow(Val a, Operand b) {
  Val other = b.as(a);
  Val notNegative = a >= 0;
  return notNegative & (a < other);
}
Val moe::select(Val condition, Val a, Operand b) {
  return {a.kernel,
          arith::SelectOp::create(a.kernel->b, condition, a, b.as(a))};
}
Val moe::select(Val condition, double a, Val b) {
  return select(condition, Operand(a).as(b), b);
}
Val moe::min(Val a, Operand b) {
  Val other = b.as(a);
  return select(other < a, other, a);
}
Val moe::max(Val a, Operand b) {
  Val other = b.as(a);
  return select(other > a, other, a);
}

//===----------------------------------------------------------------------===//
// Constants and ids
//===----------------------------------------------------------------------===//

Val KernelBuilder::number(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return wrap(arith::ConstantOp::create(b, b.getFloatAttr(floatType, value)));
  return wrap(arith::ConstantOp::create(
      b, b.getIntegerAttr(type, static_cast<int64_t>(value))));
}

Val KernelBuilder::i32(int64_t value) {
  return wrap(arith::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(value))));
}
Val KernelBuilder::i64(int64_t value) {
  return wrap(arith::ConstantOp::create(b, b.getI64IntegerAttr(value)));
}
Val KernelBuilder::f32(double value) { return number(b.getF32Type(), value); }
Val KernelBuilder::f64(double value) { return number(b.getF64Type(), value); }
Val KernelBuilder::boolean(bool value) {
  return wrap(arith::ConstantOp::create(b, b.getBoolAttr(value)));
}

Val KernelBuilder::thread() {
  return wrap(NVVM::ThreadIdXOp::create(b, b.getI32Type()));
}
Val KernelBuilder::block(int dim) {
  if (dim == 0)
    return wrap(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  if (dim == 1)
    return wrap(NVVM::BlockIdYOp::create(b, b.getI32Type()));
  return wrap(NVVM::BlockIdZOp::create(b, b.getI32Type()));
}
Val KernelBuilder::gridSize() {
  return wrap(NVVM::GridDimXOp::create(b, b.getI32Type()));
}
Val KernelBuilder::globalThread(int dim) {
  Val first = block(dim) * threads;
  return first + thread();
}
Val KernelBuilder::lane() { return thread() & 31; }
Val KernelBuilder::warp() { return thread() >> 5; }

//===----------------------------------------------------------------------===//
// Conversions and math
//===----------------------------------------------------------------------===//

Val KernelBuilder::extend(Val v) {
  if (v.type().isInteger(64))
    return v;
  return wrap(arith::ExtSIOp::create(b, b.getI64Type(), v));
}
Val KernelBuilder::truncate(Val v) {
  return wrap(arith::TruncIOp::create(b, b.getI32Type(), v));
}
Val KernelBuilder::toF64(Val v) {
  return wrap(arith::ExtFOp::create(b, b.getF64Type(), v.value));
}
Val KernelBuilder::toF32(Val v) {
  return wrap(arith::TruncFOp::create(b, b.getF32Type(), v.value));
}
Val KernelBuilder::toFloat(Val v, Type type) {
  return wrap(arith::SIToFPOp::create(b, type, v.value));
}
Val KernelBuilder::bits(Val v) {
  return wrap(arith::BitcastOp::create(b, b.getI32Type(), v));
}
Val KernelBuilder::fromBits(Val v) {
  return wrap(arith::BitcastOp::create(b, b.getF32Type(), v));
}
Val KernelBuilder::fma(Val a, Operand x, Operand c) {
  Val factor = x.as(a), addend = c.as(a);
  return wrap(LLVM::FMAOp::create(b, a.type(), a, factor, addend));
}
Val KernelBuilder::sqrt(Val v) {
  return wrap(LLVM::SqrtOp::create(b, v.type(), v));
}
Val KernelBuilder::abs(Val v) {
  return wrap(LLVM::FAbsOp::create(b, v.type(), v));
}
Val KernelBuilder::isNaN(Val v) {
  return wrap(
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v.value, v.value));
}
Val KernelBuilder::popcount(Val v) {
  return wrap(LLVM::CtPopOp::create(b, v.type(), v));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t Buffer::elementBytes() const {
  return element.getIntOrFloatBitWidth() / 8;
}

Buffer Buffer::inner() const {
  Buffer result = *this;
  result.strides.erase(result.strides.begin());
  return result;
}

Val KernelBuilder::at(const Buffer &buffer, ArrayRef<Val> indices) {
  bool narrow = buffer.isNarrow && llvm::all_of(indices, [](Val index) {
                  return index.type().isInteger(32);
                });
  Val sum;
  for (auto [index, stride] : llvm::zip_equal(indices, buffer.strides)) {
    Val term = narrow ? index : extend(index);
    if (!stride.isNumber(1))
      term = term * stride;
    sum = sum.kernel ? sum + term : term;
  }
  return sum.kernel ? sum : i64(0);
}

Value KernelBuilder::address(Buffer buffer, Val offset) {
  return LLVM::GEPOp::create(b, buffer.pointer.type(), buffer.element,
                             buffer.pointer, ValueRange{extend(offset)});
}

Val KernelBuilder::offset(Val row, Operand columns, Val column) {
  Val start = extend(row) * columns;
  return start + extend(column);
}

/// True for the floats that kernels compute in f32.
static bool isHalf(Type type) { return type.isBF16() || type.isF16(); }

Val KernelBuilder::load(Buffer buffer, Val offset) {
  Value value = LLVM::LoadOp::create(b, buffer.element, address(buffer, offset),
                                     buffer.elementBytes());
  if (isHalf(buffer.element))
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
  return wrap(value);
}

SmallVector<Val> KernelBuilder::loadVector(Buffer buffer, Val offset,
                                           int64_t count) {
  if (count == 1)
    return {load(buffer, offset)};
  auto type = VectorType::get(count, buffer.element);
  Value loaded = LLVM::LoadOp::create(b, type, address(buffer, offset),
                                      count * buffer.elementBytes());
  SmallVector<Val> values;
  for (int64_t i = 0; i < count; ++i) {
    Value value = LLVM::ExtractElementOp::create(b, loaded, i32(i));
    if (isHalf(buffer.element))
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    values.push_back(wrap(value));
  }
  return values;
}

void KernelBuilder::store(Buffer buffer, Val offset, Operand value) {
  Value stored = value.as(*this, buffer.element);
  if (isHalf(buffer.element) && stored.getType() != buffer.element)
    stored = arith::TruncFOp::create(b, buffer.element, stored);
  LLVM::StoreOp::create(b, stored, address(buffer, offset),
                        buffer.elementBytes());
}

void KernelBuilder::storeVector(Buffer buffer, Val offset,
                                ArrayRef<Val> values) {
  if (values.size() == 1)
    return store(buffer, offset, values.front());
  int64_t count = values.size();
  auto type = VectorType::get(count, buffer.element);
  Value vector = LLVM::UndefOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value element = value;
    if (isHalf(buffer.element))
      element = arith::TruncFOp::create(b, buffer.element, element);
    vector = LLVM::InsertElementOp::create(b, vector, element, i32(i));
  }
  LLVM::StoreOp::create(b, vector, address(buffer, offset),
                        count * buffer.elementBytes());
}

Buffer KernelBuilder::shared(StringRef name, Type element, int64_t count) {
  auto type = LLVM::LLVMArrayType::get(element, count);
  std::string symbol = (func.getSymName() + "_" + name).str();
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(func);
    global = LLVM::GlobalOp::create(b, type, /*isConstant=*/false,
                                    LLVM::Linkage::Internal, symbol,
                                    Attribute(), /*alignment=*/16,
                                    /*addrSpace=*/3);
  }
  Val pointer = wrap(LLVM::AddressOfOp::create(b, global));
  return {pointer, element};
}

void KernelBuilder::atomicMax(Buffer buffer, Val offset, Val value) {
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::max, address(buffer, offset),
                            value, LLVM::AtomicOrdering::monotonic, "device");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

static SmallVector<Value> valuesOf(ArrayRef<Val> values) {
  return SmallVector<Value>(values.begin(), values.end());
}

static SmallVector<Val> wrapAll(KernelBuilder *kernel, ValueRange values) {
  SmallVector<Val> wrapped;
  for (Value value : values)
    wrapped.emplace_back(kernel, value);
  return wrapped;
}

void KernelBuilder::yield(ArrayRef<Val> values) {
  scf::YieldOp::create(b, valuesOf(values));
}

void KernelBuilder::ifThen(Val condition, function_ref<void()> then) {
  auto op = scf::IfOp::create(b, TypeRange{}, condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  then();
  yield({});
}

SmallVector<Val>
KernelBuilder::ifElse(Val condition, function_ref<SmallVector<Val>()> then,
                      function_ref<SmallVector<Val>()> otherwise) {
  // The result types are those of the then branch, which is built first.
  OpBuilder::InsertionGuard guard(b);
  OpBuilder::InsertPoint before = b.saveInsertionPoint();
  Region thenRegion;
  b.createBlock(&thenRegion);
  SmallVector<Val> results = then();
  yield(results);
  SmallVector<Type> types;
  for (Val result : results)
    types.push_back(result.type());
  b.restoreInsertionPoint(before);
  auto op = scf::IfOp::create(b, types, condition, /*addThenBlock=*/false,
                              /*addElseBlock=*/false);
  op.getThenRegion().takeBody(thenRegion);
  b.createBlock(&op.getElseRegion());
  yield(otherwise());
  return wrapAll(this, op.getResults());
}

void KernelBuilder::forLoop(Operand from, Operand to, Operand step,
                            function_ref<void(Val)> body) {
  forLoop(from, to, step, {}, [&](Val i, ArrayRef<Val>) -> SmallVector<Val> {
    body(i);
    return {};
  });
}

SmallVector<Val> KernelBuilder::forLoop(
    Operand from, Operand to, Operand step, ArrayRef<Val> inits,
    function_ref<SmallVector<Val>(Val, ArrayRef<Val>)> body) {
  Val first = from.as(*this, i32Type());
  Val end = to.as(first), stride = step.as(first);
  auto op = scf::ForOp::create(b, first, end, stride, valuesOf(inits),
                               [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  yield(
      body(wrap(op.getInductionVar()), wrapAll(this, op.getRegionIterArgs())));
  return wrapAll(this, op.getResults());
}

SmallVector<Val>
KernelBuilder::whileLoop(ArrayRef<Val> inits,
                         function_ref<Val(ArrayRef<Val>)> condition,
                         function_ref<SmallVector<Val>(ArrayRef<Val>)> body) {
  SmallVector<Value> values = valuesOf(inits);
  SmallVector<Type> types(ValueRange(values).getTypes());
  auto op = scf::WhileOp::create(
      b, types, values,
      [&](OpBuilder &, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(carried.front().getParentBlock());
        Val holds = condition(wrapAll(this, carried));
        scf::ConditionOp::create(b, holds, carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(carried.front().getParentBlock());
        yield(body(wrapAll(this, carried)));
      });
  return wrapAll(this, op.getResults());
}

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

static constexpr int64_t kAllLanes = -1;

void KernelBuilder::barrier() { NVVM::Barrier0Op::create(b); }
void KernelBuilder::warpBarrier() {
  NVVM::SyncWarpOp::create(b, i32(kAllLanes));
}

Val KernelBuilder::shuffle(Val v, Val offset, int64_t clamp, int kind) {
  // 64-bit values travel as two halves.
  if (v.type().getIntOrFloatBitWidth() == 64) {
    Type pairType = VectorType::get(2, b.getI32Type());
    Value pair = LLVM::BitcastOp::create(b, pairType, v);
    Value result = LLVM::UndefOp::create(b, pairType);
    for (int64_t half : {0, 1}) {
      Val part = wrap(LLVM::ExtractElementOp::create(b, pair, i32(half)));
      Val moved = shuffle(part, offset, clamp, kind);
      result = LLVM::InsertElementOp::create(b, result, moved, i32(half));
    }
    return wrap(LLVM::BitcastOp::create(b, v.type(), result));
  }
  Val lanes = i32(kAllLanes), bound = i32(clamp);
  return wrap(NVVM::ShflOp::create(b, v.type(), lanes, v, offset, bound,
                                   static_cast<NVVM::ShflKind>(kind),
                                   UnitAttr()));
}

Val KernelBuilder::shuffleXor(Val v, int64_t mask) {
  return shuffle(v, i32(mask), 31, static_cast<int>(NVVM::ShflKind::bfly));
}
Val KernelBuilder::shuffleUp(Val v, int64_t delta) {
  return shuffle(v, i32(delta), 0, static_cast<int>(NVVM::ShflKind::up));
}
Val KernelBuilder::shuffleFrom(Val v, Val source) {
  return shuffle(v, source, 31, static_cast<int>(NVVM::ShflKind::idx));
}

Val KernelBuilder::matchAny(Val v) {
  return wrap(NVVM::MatchSyncOp::create(b, b.getI32Type(), i32(kAllLanes), v,
                                        NVVM::MatchSyncKind::any));
}

Val KernelBuilder::warpReduce(Val v, function_ref<Val(Val, Val)> combine) {
  for (int64_t mask = 16; mask > 0; mask /= 2)
    v = combine(v, shuffleXor(v, mask));
  return v;
}
Val KernelBuilder::warpSum(Val v) {
  return warpReduce(v, [](Val x, Val y) { return x + y; });
}
Val KernelBuilder::warpMax(Val v) {
  return warpReduce(v, [](Val x, Val y) { return max(x, y); });
}
