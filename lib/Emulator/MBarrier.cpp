//===- MBarrier.cpp - barriers that live in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MBarrier.h"

#include "Lanes.h"

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

static constexpr int kExpectedShift = 20;
static constexpr int kBytesShift = 40;
static constexpr int kBytesBits = 22;
static constexpr int kPhaseShift = 62;
static constexpr int64_t kMaxBytes = (1 << 20) - 1;

MBarrierState MBarrierState::unpack(uint64_t word) {
  MBarrierState state;
  state.pending = word & kMaxArrivals;
  state.expected = word >> kExpectedShift & kMaxArrivals;
  // The sign is the highest of the 22 bits.
  state.transactions = static_cast<int32_t>(
      static_cast<int64_t>(word << (64 - kBytesShift - kBytesBits)) >>
      (64 - kBytesBits));
  state.phase = word >> kPhaseShift & 1;
  return state;
}

uint64_t MBarrierState::pack() const {
  uint64_t bytes = static_cast<uint64_t>(transactions) & ((1u << kBytesBits) - 1);
  return uint64_t(pending) | uint64_t(expected) << kExpectedShift |
         bytes << kBytesShift | uint64_t(phase) << kPhaseShift;
}

static MBarrierState readState(const Block &block, uint32_t offset) {
  uint64_t word;
  std::memcpy(&word, block.shared + offset, sizeof(word));
  return MBarrierState::unpack(word);
}

static void writeState(Block &block, uint32_t offset,
                       const MBarrierState &state) {
  uint64_t word = state.pack();
  std::memcpy(block.shared + offset, &word, sizeof(word));
}

static std::string at(uint32_t offset) {
  return "the mbarrier at byte " + std::to_string(offset - kSharedStart) +
         " of shared memory";
}

MBarrierPlace mlir::moe::emulator::findMBarrier(Warp &warp,
                                                const Instruction &i,
                                                Space space, uint64_t address,
                                                uint32_t lanes) {
  if (space == Space::Generic) {
    if ((address & ~kWindowMask) != kSharedWindow)
      warp.stop(i, HazardKind::OutOfBounds, lanes,
                "an mbarrier that is not in shared memory");
    address &= kWindowMask;
  }
  resolveOne(warp, i, Space::SharedCluster, AccessKind::Atomic, address, 8, 8,
             lanes);
  MBarrierPlace place{&blockOf(warp, i, address, lanes),
                      static_cast<uint32_t>(address & kSharedOffsetMask)};
  if (!place.block->mbarriers.count(place.offset))
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(place.offset) + " was not initialised");
  return place;
}

/// Ends the phase when nothing is missing.
static void settle(Block &block, uint32_t offset, MBarrierState state) {
  if (state.pending == 0 && state.transactions == 0) {
    state.phase = !state.phase;
    state.pending = state.expected;
  }
  writeState(block, offset, state);
}

void mlir::moe::emulator::arriveAt(Warp &warp, const Instruction &i,
                                   Block &block, uint32_t offset,
                                   uint32_t arrivals, uint32_t lanes) {
  MBarrierState state = readState(block, offset);
  if (arrivals > state.pending)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(offset) + " expects " + std::to_string(state.expected) +
                  " arrivals a phase, and there are more");
  state.pending -= arrivals;
  settle(block, offset, state);
}

void mlir::moe::emulator::expectArrivals(Warp &warp, const Instruction &i,
                                         Block &block, uint32_t offset,
                                         uint32_t arrivals, uint32_t lanes) {
  MBarrierState state = readState(block, offset);
  if (state.pending + arrivals > kMaxArrivals)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(offset) + " waits for more than 2^20 - 1 arrivals");
  state.pending += arrivals;
  writeState(block, offset, state);
}

static void checkBytes(Warp &warp, const Instruction &i, uint32_t offset,
                       int64_t bytes, uint32_t lanes) {
  if (bytes > kMaxBytes || bytes < -kMaxBytes)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(offset) + " waits for " + std::to_string(bytes) +
                  " bytes: the limit is 2^20 - 1");
}

void mlir::moe::emulator::expectBytes(Warp &warp, const Instruction &i,
                                      Block &block, uint32_t offset,
                                      int64_t bytes, uint32_t lanes) {
  MBarrierState state = readState(block, offset);
  bytes += state.transactions;
  checkBytes(warp, i, offset, bytes, lanes);
  state.transactions = static_cast<int32_t>(bytes);
  writeState(block, offset, state);
}

void mlir::moe::emulator::completeBytes(Warp &warp, const Instruction &i,
                                        Block &block, uint32_t offset,
                                        int64_t bytes, uint32_t lanes) {
  MBarrierState state = readState(block, offset);
  bytes = state.transactions - bytes;
  checkBytes(warp, i, offset, bytes, lanes);
  state.transactions = static_cast<int32_t>(bytes);
  settle(block, offset, state);
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// Calls `function(lane, place)` for each of the running lanes.
template <typename Function>
static void forBarriers(Warp &warp, const Instruction &i, Function function) {
  uint64_t addresses[kLanes];
  addressesOf<true>(warp, i, addresses);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    function(lane, findMBarrier(warp, i, Space(i.size), addresses[lane],
                                1u << lane));
  }
}

/// The value of b in a lane; 1 where the instruction has none.
static uint32_t countOf(const Warp &warp, const Instruction &i, uint32_t lane) {
  return i.b.exists() ? warp.read<uint32_t>(i.b)[lane] : 1;
}

static void reportUndefinedCount(Warp &warp, const Instruction &i) {
  if (!warp.poisoned || !i.b.exists())
    return;
  if (uint32_t lanes = warp.poisonedLanes(i.b, i.widths[3]) & warp.active)
    warp.reportUndefined(i, lanes, "an operand of an mbarrier");
}

static void initialise(Warp &warp, const Instruction &i) {
  uint64_t addresses[kLanes];
  addressesOf<true>(warp, i, addresses);
  reportUndefinedCount(warp, i);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes), count = countOf(warp, i, lane);
    auto [data, shadow] =
        resolveOne(warp, i, Space(i.size), AccessKind::Write, addresses[lane],
                   8, 8, 1u << lane);
    if (count == 0 || count > kMaxArrivals)
      warp.stop(i, HazardKind::BarrierMisuse, 1u << lane,
                "an mbarrier of " + std::to_string(count) +
                    " arrivals: 1 to 2^20 - 1 are possible");
    auto offset = static_cast<uint32_t>(data - warp.block->shared);
    writeState(*warp.block, offset, {count, count, 0, false});
    if (shadow)
      std::memset(shadow, 0, 8);
    warp.block->mbarriers[offset].line = i.line;
  }
}

static void invalidate(Warp &warp, const Instruction &i) {
  forBarriers(warp, i, [&](uint32_t, MBarrierPlace place) {
    place.block->mbarriers.erase(place.offset);
  });
}

namespace {
enum ArriveMode : uint8_t { kArrive, kArriveExpect, kExpect, kComplete };
} // namespace

static void arrive(Warp &warp, const Instruction &i) {
  reportUndefinedCount(warp, i);
  uint64_t before[kLanes] = {};
  forBarriers(warp, i, [&](uint32_t lane, MBarrierPlace place) {
    uint32_t count = countOf(warp, i, lane), bit = 1u << lane;
    Block &block = *place.block;
    std::memcpy(&before[lane], block.shared + place.offset, 8);
    switch (i.option) {
    case kArrive:
      return arriveAt(warp, i, block, place.offset, count, bit);
    case kArriveExpect:
      expectBytes(warp, i, block, place.offset, count, bit);
      return arriveAt(warp, i, block, place.offset, 1, bit);
    case kExpect:
      return expectBytes(warp, i, block, place.offset, count, bit);
    default:
      return completeBytes(warp, i, block, place.offset, count, bit);
    }
  });
  if (!i.d.exists())
    return;
  forLanes<uint64_t>(warp, i.d, [&](uint32_t lane) { return before[lane]; });
  if (warp.poisoned)
    warp.setPoison(i.d, 8, 0);
}

namespace {
enum WaitMode : uint8_t { kTry = 1, kParity = 2 };
} // namespace

static void wait(Warp &warp, const Instruction &i) {
  reportUndefinedCount(warp, i);
  uint32_t done = 0;
  uint64_t address = 0;
  forBarriers(warp, i, [&](uint32_t lane, MBarrierPlace place) {
    bool phase = readState(*place.block, place.offset).phase;
    bool awaited = i.option & kParity
                       ? warp.read<uint32_t>(i.b)[lane] & 1
                       : MBarrierState::unpack(warp.read<uint64_t>(i.b)[lane])
                             .phase;
    done |= uint32_t(phase != awaited) << lane;
    address = place.offset;
  });
  // Returning false for all would only make the kernel ask again.
  if ((i.option & kTry) && done == 0)
    return warp.waitFor(WaitKind::MBarrier, address);
  warp.wait = {};
  ++warp.block->cluster->counts.barrierWaits;
  warp.setPredicate(i.d, done);
  if (warp.poisoned)
    warp.setPoison(i.d, 0, 0);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static void decodeInitialise(DecodeContext &context, Space space) {
  context.needOneOf({"b64"});
  context.needOperands(2);
  context.address(0);
  context.b(1, 32);
  context.out().size = static_cast<uint8_t>(space);
  context.run(initialise);
}

/// [state,] [address] [, count]
static void decodeArrive(DecodeContext &context, ArriveMode mode) {
  context.needOneOf({"b64"});
  bool returns = mode == kArrive || mode == kArriveExpect;
  size_t first = returns ? 1 : 0;
  context.needOperands(first + 1, first + 2);
  if (returns)
    context.d(0, 64);
  context.address(first);
  if (context.operandCount() == first + 2)
    context.b(first + 1, 32);
  else if (mode != kArrive)
    context.fail("needs a number of bytes");
  context.out().option = mode;
  context.run(arrive);
}

static void decodeWait(DecodeContext &context, bool tries) {
  bool parity = context.take("parity");
  context.needOneOf({"b64"});
  context.needOperands(3, tries ? 4 : 3);
  context.d(0, 1);
  context.address(1);
  context.b(2, parity ? 32 : 64);
  // How long to suspend: a hint.
  if (context.operandCount() == 4)
    context.source(context.operand(3), 32);
  context.out().option = (tries ? kTry : 0) | (parity ? kParity : 0);
  context.run(wait);
}

static void decodeMBarrier(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::Barrier;
  out.poison = Poison::Own;
  std::string_view what =
      context.needOneOf({"init", "inval", "arrive", "expect_tx", "complete_tx",
                         "test_wait", "try_wait"});
  bool expect = what == "arrive" && context.take("expect_tx");
  context.takeMemoryOrder();
  Space space = takeSpace(context);
  if (space != Space::Generic && space != Space::Shared &&
      space != Space::SharedCluster)
    context.fail("an mbarrier is in shared memory");
  out.size = static_cast<uint8_t>(space);
  if (what == "init")
    return decodeInitialise(context, space);
  if (what == "inval") {
    context.needOneOf({"b64"});
    context.needOperands(1);
    context.address(0);
    return context.run(invalidate);
  }
  if (what == "arrive")
    return decodeArrive(context, expect ? kArriveExpect : kArrive);
  if (what == "expect_tx")
    return decodeArrive(context, kExpect);
  if (what == "complete_tx")
    return decodeArrive(context, kComplete);
  decodeWait(context, what == "try_wait");
}

void mlir::moe::emulator::addMBarrierInstructions(InstructionTable &table) {
  table.add("mbarrier", decodeMBarrier);
}
