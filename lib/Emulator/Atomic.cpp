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
#include "Lanes.h"

using namespace mlir::moe;
using namespace mlir::moe::emulator;
using namespace mlir::moe::emulator::atomics;

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

static void atomicPoison(Warp &warp, const Instruction &i,
                         const Access &access) {
  if (warp.poisoned) {
    uint32_t lanes =
        (warp.poisonedLanes(i.b, i.size) | warp.poisonedLanes(i.c, i.size)) &
        warp.active;
    if (lanes)
      warp.reportUndefined(i, lanes, "an operand of an atomic operation");
    warp.setPoison(i.d, i.widths[0], 0);
  }
  if (!access.hasShadow)
    return;
  uint32_t undefined = 0;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    for (uint32_t byte = 0; byte < i.size && access.shadow[lane]; ++byte)
      undefined |= uint32_t(access.shadow[lane][byte] != 0) << lane;
    if (access.shadow[lane])
      std::memset(access.shadow[lane], 0, i.size);
  }
  // An exchange may well be the first write.
  if (undefined && i.option != 0)
    warp.reportUndefined(i, undefined, "the memory of an atomic operation");
}

template <typename T, typename Function>
static void atomic(Warp &warp, const Instruction &i) {
  uint64_t addresses[kLanes];
  Access access;
  addressesOf<true>(warp, i, addresses);
  resolve(warp, i, Space(i.secondImmediate), AccessKind::Atomic, addresses,
          sizeof(T), access);
  atomicPoison(warp, i, access);
  const T *b = warp.read<T>(i.b);
  const T *c = i.c.exists() ? warp.read<T>(i.c) : b;
  T old[kLanes];
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    old[lane] = update<T, Function>(access.data[lane], b[lane], c[lane]);
  }
  Counts &counts = warp.block->cluster->counts;
  uint64_t bytes = sizeof(T) * uint64_t(__builtin_popcount(warp.active));
  (access.global ? counts.globalBytesRead : counts.sharedBytesRead) += bytes;
  (access.global ? counts.globalBytesWritten : counts.sharedBytesWritten) +=
      bytes;
  if (i.d.exists())
    forLanes<T>(warp, i.d, [&](uint32_t lane) { return old[lane]; });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <template <typename> typename Function>
static Handler onIntegers(Type type) {
  return type.bits == 16 ? Handler(nullptr)
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
    return type.is(Type::Float, 32)   ? atomic<uint32_t, AddF32>
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
  for (const Row &row : kRows)
    if (row.name == operation)
      return row.choose(type);
  return nullptr;
}

/// atom d, [a], b {, c} and red [a], b.
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
  Type type = context.takeType();
  size_t first = returns ? 1 : 0, count = first + (operation == "cas" ? 3 : 2);
  context.needOperands(count);
  if (returns)
    context.d(0, type.width());
  context.address(first);
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
