//===- AsyncCopy.cpp - cp.async and its groups -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"

#include "Access.h"
#include "Coalescing.h"
#include "MBarrier.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

static void land(Warp &warp, AsyncCopy &copy, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t lane = firstLane(rest);
    if (copy.arrival) {
      arriveAt(warp, *copy.instruction, {copy.block[lane], copy.offset[lane]},
               1, 1u << lane);
      continue;
    }
    uint32_t read = copy.read[lane];
    std::memcpy(copy.to[lane], copy.from[lane], read);
    std::memset(copy.to[lane] + read, 0, copy.bytes - read);
    if (warp.block->stamps.tracked())
      warp.block->stamps.write(
          static_cast<uint32_t>(copy.to[lane] - warp.block->shared), copy.bytes,
          stampOf(warp));
    noteLanding(warp, *warp.block,
                static_cast<uint32_t>(copy.to[lane] - warp.block->shared),
                copy.bytes);
    if (!copy.toShadow[lane])
      continue;
    std::memset(copy.toShadow[lane], 0, copy.bytes);
    if (copy.fromShadow[lane])
      std::memcpy(copy.toShadow[lane], copy.fromShadow[lane], read);
  }
  copy.lanes &= ~lanes;
}

/// Lands what each of `lanes` has issued and that is no newer than its newest
/// `keep` groups. An arrival lands once all copies of its lane before it have.
static void landUpTo(Warp &warp, uint32_t lanes, uint32_t keep, bool open) {
  if (!warp.copies)
    return;
  AsyncCopies &copies = *warp.copies;
  for (AsyncCopy &copy : copies.waiting) {
    uint32_t ready = 0;
    for (uint32_t rest = copy.lanes & lanes; rest; rest &= rest - 1) {
      uint32_t lane = firstLane(rest);
      if (open || copy.group[lane] + keep < copies.committed[lane])
        ready |= 1u << lane;
    }
    if (ready)
      land(warp, copy, ready);
  }
  copies.waiting.erase(
      std::remove_if(copies.waiting.begin(), copies.waiting.end(),
                     [](const AsyncCopy &copy) { return copy.lanes == 0; }),
      copies.waiting.end());
}

bool mlir::moe::emulator::completeAsyncCopies(Warp &warp) {
  if (!warp.copies || warp.copies->waiting.empty())
    return false;
  landUpTo(warp, kAllLanes, 0, true);
  return true;
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// Instruction::option of a copy: c is a predicate that asks for zeros instead
/// of a number of bytes to read.
static constexpr uint8_t kIgnoreSource = 1;

static AsyncCopy &issue(Warp &warp, const Instruction &i, bool arrival) {
  if (!warp.copies)
    warp.copies = std::make_unique<AsyncCopies>();
  AsyncCopy &copy = warp.copies->waiting.emplace_back();
  copy.instruction = &i;
  copy.lanes = warp.active;
  copy.bytes = i.size;
  copy.arrival = arrival;
  copy.group = warp.copies->committed;
  return copy;
}

/// Global memory of the lanes, each for the bytes that it reads.
static void resolveSource(Warp &warp, const Instruction &i,
                          const uint64_t addresses[kLanes], AsyncCopy &copy) {
  bool ignores = i.option & kIgnoreSource;
  const uint32_t *sizes =
      i.c.exists() && !ignores ? warp.read<uint32_t>(i.c) : nullptr;
  uint32_t ignored = ignores ? warp.predicate(i.c) : 0;
  uint32_t whole = warp.active, active = warp.active;
  for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    copy.read[lane] = ignored >> lane & 1 ? 0 : sizes ? sizes[lane] : i.size;
    copy.from[lane] = nullptr;
    copy.fromShadow[lane] = nullptr;
    if (copy.read[lane] == i.size)
      continue;
    whole &= ~(1u << lane);
    if (copy.read[lane] > i.size)
      warp.stop(i, HazardKind::InvalidValue, 1u << lane,
                "a copy of " + std::to_string(i.size) + " bytes reads " +
                    std::to_string(copy.read[lane]));
    if (copy.read[lane] == 0)
      copy.from[lane] = copy.to[lane]; // not looked at
    else
      std::tie(copy.from[lane], copy.fromShadow[lane]) =
          resolveOne(warp, i, Space::Global, AccessKind::AsyncRead,
                     addresses[lane], copy.read[lane], i.size, 1u << lane);
  }
  Access access;
  warp.active = whole;
  resolve(warp, i, Space::Global, AccessKind::AsyncRead, addresses, i.size,
          access);
  countTraffic(warp, access, i.size);
  warp.active = active;
  for (uint32_t lanes = whole; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    copy.from[lane] = access.data[lane];
    if (access.hasShadow)
      copy.fromShadow[lane] = access.shadow[lane];
  }
}

template <bool Checks>
static void copyAsync(Warp &warp, const Instruction &i) {
  uint64_t to[kLanes], from[kLanes];
  addressesOf<Checks>(warp, i, to);
  secondAddressesOf<Checks>(warp, i, from);
  if (Checks && warp.poisoned && i.c.exists())
    if (uint32_t lanes = warp.poisonedLanes(i.c, i.widths[4]) & warp.active)
      warp.reportUndefined(i, lanes, "the size of a copy");
  Access access;
  resolve(warp, i, Space::Shared, AccessKind::AsyncWrite, to, i.size, access);
  countTraffic(warp, access, i.size);
  AsyncCopy &copy = issue(warp, i, false);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    copy.to[lane] = access.data[lane];
    copy.toShadow[lane] = access.hasShadow ? access.shadow[lane] : nullptr;
    if (Checks && copy.toShadow[lane])
      std::memset(copy.toShadow[lane], 1, i.size);
  }
  resolveSource(warp, i, from, copy);
  Counts &counts = warp.block->cluster->counts;
  uint64_t lanes = __builtin_popcount(warp.active);
  counts.sharedBytesWritten += lanes * i.size;
  for (uint32_t rest = warp.active; rest; rest &= rest - 1)
    counts.globalBytesRead += copy.read[firstLane(rest)];
}

static void commitGroup(Warp &warp, const Instruction &) {
  if (!warp.copies)
    warp.copies = std::make_unique<AsyncCopies>();
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
    ++warp.copies->committed[firstLane(lanes)];
}

static void waitGroup(Warp &warp, const Instruction &i) {
  landUpTo(warp, warp.active, static_cast<uint32_t>(i.immediate), false);
}

static void waitAll(Warp &warp, const Instruction &) {
  landUpTo(warp, warp.active, 0, true);
}

template <bool Checks>
static void arriveWhenCopied(Warp &warp, const Instruction &i) {
  uint64_t addresses[kLanes];
  addressesOf<Checks>(warp, i, addresses);
  // A copy of the record: finding a barrier may report.
  AsyncCopy &copy = issue(warp, i, true);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    MBarrierPlace place =
        findMBarrier(warp, i, Space::Shared, addresses[lane], 1u << lane);
    copy.block[lane] = place.block;
    copy.offset[lane] = place.offset;
    if (!i.option)
      expectArrivals(warp, i, place, 1, 1u << lane);
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static void decodeCopy(DecodeContext &context) {
  context.needOneOf({"ca", "cg"});
  context.needOneOf({"shared", "shared::cta"});
  context.needOneOf({"global"});
  bool hint = context.take("L2::cache_hint");
  context.takeCacheHints();
  context.needOperands(3, 5);
  context.address(0);
  context.secondAddress(1);
  Instruction &out = context.out();
  int64_t bytes = context.integer(2);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    context.fail("copies have 4, 8 or 16 bytes");
  out.size = static_cast<uint8_t>(bytes);
  size_t next = 3;
  if (context.operandCount() > next + (hint ? 1 : 0)) {
    bool ignores = context.registerBits(context.syntax().operands[next]) == 1;
    out.option = ignores ? kIgnoreSource : 0;
    context.c(next++, ignores ? 1 : 32);
  }
  if (hint)
    context.source(context.operand(next), 64);
  context.run(copyAsync<false>, copyAsync<true>);
}

static void decodeAsyncCopy(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::AsyncCopy;
  out.poison = Poison::Own;
  context.needOneOf({"async"});
  if (context.take("bulk"))
    return decodeBulkCopy(context);
  if (context.take("commit_group")) {
    context.needOperands(0);
    return context.run(commitGroup);
  }
  if (context.take("wait_group")) {
    context.needOperands(1);
    out.immediate = context.integer(0);
    return context.run(waitGroup);
  }
  if (context.take("wait_all")) {
    context.needOperands(0);
    return context.run(waitAll);
  }
  if (context.take("mbarrier")) {
    context.needOneOf({"arrive"});
    out.option = context.take("noinc");
    context.takeOneOf({"shared", "shared::cta"});
    context.needOneOf({"b64"});
    context.needOperands(1);
    context.address(0);
    return context.run(arriveWhenCopied<false>, arriveWhenCopied<true>);
  }
  decodeCopy(context);
}

void mlir::moe::emulator::addAsyncCopyInstructions(InstructionTable &table) {
  table.add("cp", decodeAsyncCopy);
}
