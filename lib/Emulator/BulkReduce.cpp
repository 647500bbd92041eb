//===- BulkReduce.cpp - what bulk reductions do with elements -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomicOperations.h"
#include "BulkCopy.h"
#include "ReduceDecode.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::atomics;

template <typename T, typename Function>
static void combine(uint8_t *data, const uint8_t *value) {
  T b;
  std::memcpy(&b, value, sizeof(T));
  update<T, Function>(data, b, b);
}

template <typename T>
static Reducer onBits(ReduceOperation operation) {
  switch (operation) {
  case ReduceOperation::And:
    return combine<T, And<T>>;
  case ReduceOperation::Or:
    return combine<T, Or<T>>;
  case ReduceOperation::Xor:
    return combine<T, Xor<T>>;
  case ReduceOperation::Increment:
    return sizeof(T) == 4 ? combine<T, Increment<T>> : nullptr;
  case ReduceOperation::Decrement:
    return sizeof(T) == 4 ? combine<T, Decrement<T>> : nullptr;
  default:
    return nullptr;
  }
}

template <typename T>
static Reducer onNumbers(ReduceOperation operation) {
  switch (operation) {
  case ReduceOperation::Add:
    return combine<T, Add<T>>;
  case ReduceOperation::Minimum:
    return combine<T, Minimum<T>>;
  case ReduceOperation::Maximum:
    return combine<T, Maximum<T>>;
  default:
    return onBits<std::make_unsigned_t<T>>(operation);
  }
}

template <bool BFloat>
static Reducer onHalves(ReduceOperation operation) {
  switch (operation) {
  case ReduceOperation::Add:
    return combine<uint16_t, HalfLane<BFloat, kAddHalf>>;
  case ReduceOperation::Minimum:
    return combine<uint16_t, HalfLane<BFloat, kMinHalf>>;
  case ReduceOperation::Maximum:
    return combine<uint16_t, HalfLane<BFloat, kMaxHalf>>;
  default:
    return nullptr;
  }
}

Reducer mlir::moe::emulator::findReducer(ReduceOperation operation,
                                         ElementType type) {
  bool add = operation == ReduceOperation::Add;
  switch (type) {
  case ElementType::UInt32:
    return onNumbers<uint32_t>(operation);
  case ElementType::Int32:
    return onNumbers<int32_t>(operation);
  case ElementType::UInt64:
    return onNumbers<uint64_t>(operation);
  case ElementType::Int64:
    return onNumbers<int64_t>(operation);
  case ElementType::Float16:
    return onHalves<false>(operation);
  case ElementType::BFloat16:
    return onHalves<true>(operation);
  case ElementType::Float32:
    return add ? combine<uint32_t, AddF32> : nullptr;
  case ElementType::Float64:
    return add ? combine<uint64_t, AddF64> : nullptr;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

ReduceOperation
mlir::moe::emulator::takeReduceOperation(DecodeContext &context) {
  struct Row {
    std::string_view name;
    ReduceOperation operation;
  };
  static constexpr Row kRows[] = {
      {"add", ReduceOperation::Add},       {"min", ReduceOperation::Minimum},
      {"max", ReduceOperation::Maximum},   {"inc", ReduceOperation::Increment},
      {"dec", ReduceOperation::Decrement}, {"and", ReduceOperation::And},
      {"or", ReduceOperation::Or},         {"xor", ReduceOperation::Xor}};
  std::string_view name = context.needOneOf(
      {"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  for (const Row &row : kRows)
    if (row.name == name)
      return row.operation;
  return ReduceOperation::None;
}

static ElementType elementTypeOf(DecodeContext &context, Type type) {
  bool isSigned = type.kind == Type::Signed;
  if (type.lanes == 1 && type.isInteger() && type.bits == 32)
    return isSigned ? ElementType::Int32 : ElementType::UInt32;
  if (type.lanes == 1 && type.isInteger() && type.bits == 64)
    return isSigned ? ElementType::Int64 : ElementType::UInt64;
  if (type.is(Type::Float, 16))
    return ElementType::Float16;
  if (type.is(Type::BFloat, 16))
    return ElementType::BFloat16;
  if (type.is(Type::Float, 32))
    return ElementType::Float32;
  if (type.is(Type::Float, 64))
    return ElementType::Float64;
  context.fail("elements of this type cannot be combined by bulk copies");
}

uint32_t mlir::moe::emulator::reductionOf(DecodeContext &context,
                                          ReduceOperation operation,
                                          Type type) {
  if (operation == ReduceOperation::None)
    return 0;
  ElementType element = elementTypeOf(context, type);
  if (!findReducer(operation, element))
    context.fail("elements of this type cannot be combined so");
  return static_cast<uint32_t>(operation) | static_cast<uint32_t>(element) << 8;
}

Reducer mlir::moe::emulator::reducerOf(uint32_t reduction) {
  return findReducer(ReduceOperation(reduction & 0xff),
                     ElementType(reduction >> 8));
}
