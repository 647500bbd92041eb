//===- BulkReduce.cpp - what bulk reductions do with elements -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomicOperations.h"
#include "BulkCopy.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::atomics;

template <typename T, typename Function>
static void combine(uint8_t *data, const uint8_t *value) {
  T b;
  std::memcpy(&b, value, sizeof(T));
  update<T, Function>(data, b, b);
}

namespace {
/// Subnormal numbers count as zero.
struct AddFlushed {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    float sum = flushToZero(floatOfBits(old)) + flushToZero(floatOfBits(b));
    return sum != sum ? kNaN32 : bitsOfFloat(flushToZero(sum));
  }
};
} // namespace

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
    return add ? combine<uint32_t, AddFlushed> : nullptr;
  case ElementType::Float64:
    return add ? combine<uint64_t, AddF64> : nullptr;
  default:
    return nullptr;
  }
}
