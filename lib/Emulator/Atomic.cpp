//===- Atomic.cpp - atom and red -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of a grid run on several threads of the host: what several blocks may
// change at once is changed with compare-and-swap of the host.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "AtomicOperations.h"
#include "Coalescing.h"
#include "Lanes.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::atomics;

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

// A vector has its values in the list, and behind them where the old ones go.

static uint32_t elements(const Instruction &i) {
  return i.count ? static_cast<uint32_t>(i.thirdImmediate) : 1;
}

static Operand valueOf(const Warp &warp, const Instruction &i, uint32_t k) {
  return i.count ? listOperand(warp, i, k) : i.b;
}

static Operand resultOf(const Warp &warp, const Instruction &i, uint32_t k) {
  if (i.count == 0)
    return i.d;
  uint32_t behind = elements(i) + k;
  return behind < i.count ? listOperand(warp, i, behind) : Operand();
}

static void atomicPoison(Warp &warp, const Instruction &i,
                         const Access &access) {
  if (warp.poisoned) {
    uint32_t lanes = warp.poisonedLanes(i.c, i.size);
    for (uint32_t k = 0; k < elements(i); ++k) {
      lanes |= warp.poisonedLanes(valueOf(warp, i, k), i.size);
      warp.setPoison(resultOf(warp, i, k), i.widths[0], 0);
    }
    lanes &= warp.active;
    if (lanes)
      warp.reportUndefined(i, lanes, "an operand of an atomic operation");
  }
  if (!access.hasShadow)
    return;
  uint32_t undefined = 0, bytes = i.size * elements(i);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    for (uint32_t byte = 0; byte < bytes && access.shadow[lane]; ++byte)
      undefined |= uint32_t(access.shadow[lane][byte] != 0) << lane;
    if (access.shadow[lane])
      std::memset(access.shadow[lane], 0, bytes);
  }
  // An exchange may well be the first write.
  if (undefined && i.option != 0)
    warp.reportUndefined(i, undefined, "the memory of an atomic operation");
}

/// `InGlobal` is what global memory does, where that differs.
template <typename T, typename Function, typename InGlobal>
static void updateLanes(Warp &warp, const Instruction &i, const Access &access,
                        uint32_t k) {
  const T *b = warp.read<T>(valueOf(warp, i, k));
  const T *c = i.c.exists() ? warp.read<T>(i.c) : b;
  T old[kLanes];
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    uint8_t *data = access.data[lane] + sizeof(T) * k;
    old[lane] = access.global ? update<T, InGlobal>(data, b[lane], c[lane])
                              : update<T, Function>(data, b[lane], c[lane]);
  }
  Operand d = resultOf(warp, i, k);
  if (d.exists())
    forLanes<T>(warp, d, [&](uint32_t lane) { return old[lane]; });
}

template <typename T, typename Function, typename InGlobal = Function>
static void atomic(Warp &warp, const Instruction &i) {
  uint64_t addresses[kLanes];
  Access access;
  uint32_t bytes = sizeof(T) * elements(i);
  addressesOf<true>(warp, i, addresses);
  resolve(warp, i, Space(i.secondImmediate), AccessKind::Atomic, addresses,
          bytes, access);
  atomicPoison(warp, i, access);
  for (uint32_t k = 0; k < elements(i); ++k)
    updateLanes<T, Function, InGlobal>(warp, i, access, k);
  Counts &counts = warp.block->cluster->counts;
  uint64_t all = bytes * uint64_t(__builtin_popcount(warp.active));
  (access.global ? counts.globalBytesRead : counts.sharedBytesRead) += all;
  (access.global ? counts.globalBytesWritten : counts.sharedBytesWritten) +=
      all;
  countTraffic(warp, access, bytes);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <template <typename> typename Function>
static Handler onIntegers(Type type) {
  return type.bits == 16 ? Handler(nullptr) // only cas
                         : forInteger(type, [](auto tag) -> Handler {
                             using T = typename decltype(tag)::type;
                             return atomic<T, Function<T>>;
                           });
}

template <HalfOperation Operation>
static Handler onHalves(Type type) {
  if (type.bits != 16)
    return nullptr;
  if (type.kind == Type::BFloat)
    return type.lanes == 2 ? atomic<uint32_t, HalfPair<true, Operation>>
                           : atomic<uint16_t, HalfLane<true, Operation>>;
  return type.lanes == 2 ? atomic<uint32_t, HalfPair<false, Operation>>
                         : atomic<uint16_t, HalfLane<false, Operation>>;
}

static Handler floatAtomic(std::string_view operation, Type type) {
  if (operation == "add")
    return type.is(Type::Float, 32)   ? atomic<uint32_t, AddF32, AddF32Flushed>
           : type.is(Type::Float, 64) ? atomic<uint64_t, AddF64>
                                      : onHalves<kAddHalf>(type);
  if (operation == "min")
    return onHalves<kMinHalf>(type);
  return operation == "max" ? onHalves<kMaxHalf>(type) : nullptr;
}

static Handler integerAtomic(std::string_view operation, Type type) {
  struct Row {
    std::string_view name;
    Handler (*choose)(Type);
  };
  static constexpr Row kRows[] = {
      {"add", onIntegers<Add>},       {"min", onIntegers<Minimum>},
      {"max", onIntegers<Maximum>},   {"and", onIntegers<And>},
      {"or", onIntegers<Or>},         {"xor", onIntegers<Xor>},
      {"exch", onIntegers<Exchange>}, {"cas", onIntegers<CompareAndSwap>},
      {"inc", onIntegers<Increment>}, {"dec", onIntegers<Decrement>}};
  if (operation == "cas" && type.is(Type::Bits, 16))
    return atomic<uint16_t, CompareAndSwap<uint16_t>>;
  for (const Row &row : kRows)
    if (row.name == operation)
      return row.choose(type);
  return nullptr;
}

/// The operands of a vector: {b, ...} and, for atom, {d, ...}.
static void vectorOperands(DecodeContext &context, std::string_view vector,
                           Type type, bool returns) {
  Instruction &out = context.out();
  auto count = static_cast<uint32_t>(vector[1] - '0');
  size_t first = returns ? 1 : 0;
  context.appendVector(first + 1, type.width(), 2);
  uint32_t values = out.count;
  if (returns)
    context.appendVector(0, type.width(), 1);
  if (values != count || (returns && out.count != 2 * count))
    context.fail("needs " + std::to_string(count) + " elements");
  out.thirdImmediate = count;
}

/// atom d, [a], b {, c} and red [a], b; a cache policy may follow.
static void decodeAtomic(DecodeContext &context, bool returns) {
  Instruction &out = context.out();
  out.kind = Class::Atomic;
  out.poison = Poison::Own;
  context.takeMemoryOrder();
  Space space = takeSpace(context);
  std::string_view operation = context.needOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  context.take("noftz");
  context.takeCacheHints();
  bool policy = context.take("L2::cache_hint");
  std::string_view vector = context.takeOneOf({"v2", "v4", "v8"});
  Type type = context.takeType();
  size_t first = returns ? 1 : 0, count = first + (operation == "cas" ? 3 : 2);
  context.needOperands(policy ? count + 1 : count);
  if (policy)
    context.source(context.operand(count), 64);
  context.address(first);
  if (!vector.empty() && (!type.isFloat() || space != Space::Global))
    context.fail("vectors are of floats in global memory");
  if (!vector.empty())
    vectorOperands(context, vector, type, returns);
  else if (returns)
    context.d(0, type.width());
  if (vector.empty())
    context.b(first + 1, type.width());
  if (operation == "cas")
    context.c(first + 2, type.width());
  out.size = static_cast<uint8_t>(type.width() / 8);
  out.option = operation == "exch" ? 0 : 1;
  context.run(type.isFloat() ? floatAtomic(operation, type)
                             : integerAtomic(operation, type));
  out.secondImmediate = static_cast<int64_t>(space);
}

static void decodeAtom(DecodeContext &context) { decodeAtomic(context, true); }
static void decodeRed(DecodeContext &context) {
  if (context.take("async"))
    return decodeAsyncStore(context, true);
  decodeAtomic(context, false);
}

void mlir::moe::emulator::addAtomicInstructions(InstructionTable &table) {
  table.add("atom", decodeAtom);
  table.add("red", decodeRed);
}
