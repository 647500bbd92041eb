//===- MBarrier.cpp - barriers that live in shared memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MBarrier.h"

#include "Lanes.h"

#include <cstring>

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
  uint64_t bytes =
      static_cast<uint64_t>(transactions) & ((1u << kBytesBits) - 1);
  return uint64_t(pending) | uint64_t(expected) << kExpectedShift |
         bytes << kBytesShift | uint64_t(phase) << kPhaseShift;
}

static MBarrierState readState(MBarrierPlace place) {
  return MBarrierState::unpack(
      place.block->mbarriers.find(place.offset)->second.word);
}

static void writeState(MBarrierPlace place, const MBarrierState &state) {
  uint64_t word = state.pack();
  std::memcpy(place.block->shared + place.offset, &word, sizeof(word));
  place.block->mbarriers.find(place.offset)->second.word = word;
}

static std::string at(uint32_t offset) {
  return "the mbarrier at byte " + std::to_string(offset - kSharedStart) +
         " of shared memory";
}

static std::string count(int64_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string mlir::moe::emulator::describeMBarrier(const Block &block,
                                                  uint32_t offset) {
  auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end())
    return at(offset) + ", which was invalidated";
  const MBarrierInfo &info = found->second;
  MBarrierState state = MBarrierState::unpack(info.word);
  std::string text = at(offset) + ", initialised in line " +
                     std::to_string(info.line) + "; " +
                     count(int64_t(info.phases), "phase") + " ended, and the " +
                     "next one lacks " + count(state.pending, "arrival") +
                     " of " + std::to_string(state.expected);
  if (state.transactions > 0)
    text += " and " + count(state.transactions, "byte");
  if (state.transactions < 0)
    text += " and got " + count(-state.transactions, "byte") +
            " that nothing announced";
  return text;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

void mlir::moe::emulator::checkMBarrier(Warp &warp, const Instruction &i,
                                        Block &block, uint32_t offset,
                                        uint32_t lanes) {
  auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end())
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(offset) + " was not initialised");
  MBarrierInfo &info = found->second;
  if (std::memcmp(block.shared + offset, &info.word, sizeof(info.word)) != 0)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(offset) + ", initialised in line " +
                  std::to_string(info.line) +
                  ", was overwritten by something that is no mbarrier "
                  "instruction");
  if (knows(warp, info.stamp))
    return;
  warp.report(i, HazardKind::Race, lanes,
              at(offset) +
                  " is used without a barrier behind its "
                  "initialisation in line " +
                  std::to_string(info.line) + " by " +
                  writerOf(warp, info.stamp));
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
  resolveOne(warp, i, Space::SharedCluster, AccessKind::AsyncWrite, address, 8,
             8, lanes);
  MBarrierPlace place{&blockOf(warp, i, address, lanes),
                      static_cast<uint32_t>(address & kSharedOffsetMask)};
  checkMBarrier(warp, i, *place.block, place.offset, lanes);
  return place;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// Ends the phase when nothing is missing.
static void settle(MBarrierPlace place, MBarrierState state) {
  if (state.pending == 0 && state.transactions == 0) {
    state.phase = !state.phase;
    state.pending = state.expected;
    MBarrierInfo &info = place.block->mbarriers.find(place.offset)->second;
    ++info.phases;
    info.order.finish();
  }
  writeState(place, state);
}

void mlir::moe::emulator::arriveAt(Warp &warp, const Instruction &i,
                                   MBarrierPlace place, uint32_t arrivals,
                                   uint32_t lanes) {
  MBarrierState state = readState(place);
  if (arrivals > state.pending)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(place.offset) + " expects " +
                  count(state.expected, "arrival") +
                  " a phase, and there are more");
  release(warp,
          place.block->mbarriers.find(place.offset)->second.order.arrived);
  state.pending -= arrivals;
  settle(place, state);
}

void mlir::moe::emulator::expectArrivals(Warp &warp, const Instruction &i,
                                         MBarrierPlace place, uint32_t arrivals,
                                         uint32_t lanes) {
  MBarrierState state = readState(place);
  if (state.pending + arrivals > kMaxArrivals)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(place.offset) + " waits for more than 2^20 - 1 arrivals");
  state.pending += arrivals;
  writeState(place, state);
}

/// The state with `bytes` more, or less, to come.
static MBarrierState addBytes(Warp &warp, const Instruction &i,
                              MBarrierPlace place, int64_t bytes,
                              uint32_t lanes) {
  MBarrierState state = readState(place);
  bytes += state.transactions;
  if (bytes > kMaxBytes || bytes < -kMaxBytes)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(place.offset) + " waits for " + std::to_string(bytes) +
                  " bytes: the limit is 2^20 - 1");
  state.transactions = static_cast<int32_t>(bytes);
  return state;
}

void mlir::moe::emulator::expectBytes(Warp &warp, const Instruction &i,
                                      MBarrierPlace place, int64_t bytes,
                                      uint32_t lanes) {
  writeState(place, addBytes(warp, i, place, bytes, lanes));
}

void mlir::moe::emulator::completeBytes(Warp &warp, const Instruction &i,
                                        MBarrierPlace place, int64_t bytes,
                                        uint32_t lanes) {
  settle(place, addBytes(warp, i, place, -bytes, lanes));
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
    function(lane,
             findMBarrier(warp, i, Space(i.size), addresses[lane], 1u << lane));
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
    uint32_t lane = firstLane(lanes), arrivals = countOf(warp, i, lane);
    uint32_t bit = 1u << lane;
    auto [data, shadow] = resolveOne(warp, i, Space(i.size), AccessKind::Write,
                                     addresses[lane], 8, 8, bit);
    Block &block = *warp.block;
    if (data < block.shared ||
        data >= block.shared + kSharedStart + block.cluster->grid.sharedBytes)
      warp.stop(i, HazardKind::BarrierMisuse, bit,
                "an mbarrier is initialised by its own block, in shared "
                "memory");
    if (arrivals == 0 || arrivals > kMaxArrivals)
      warp.stop(i, HazardKind::BarrierMisuse, bit,
                "an mbarrier of " + std::to_string(arrivals) +
                    " arrivals: 1 to 2^20 - 1 are possible");
    auto offset = static_cast<uint32_t>(data - block.shared);
    auto [entry, isNew] = block.mbarriers.insert({offset, MBarrierInfo()});
    if (!isNew)
      warp.report(i, HazardKind::BarrierMisuse, bit,
                  at(offset) + " is initialised again, after line " +
                      std::to_string(entry->second.line) +
                      ", without mbarrier.inval in between");
    entry->second = MBarrierInfo();
    entry->second.line = i.line;
    entry->second.stamp = stampOf(warp);
    writeState({&block, offset}, {arrivals, arrivals, 0, false});
    if (shadow)
      std::memset(shadow, 0, 8);
  }
}

/// The bytes are ordinary memory again.
static void invalidate(Warp &warp, const Instruction &i) {
  forBarriers(warp, i, [&](uint32_t, MBarrierPlace place) {
    place.block->mbarriers.erase(place.offset);
    if (warp.block->cluster->grid.program.checks)
      std::memset(place.block->sharedShadow + place.offset, 1, 8);
  });
}

namespace {
/// What Instruction::option says of an arrival.
enum ArriveOption : uint8_t {
  kArrive = 1,
  /// Fewer arrivals from the next phase on.
  kDrop = 2,
  /// b is a number of bytes to come.
  kExpect = 4,
  /// b is a number of bytes that have come.
  kComplete = 8,
  /// The phase has to go on.
  kNoComplete = 16,
};
} // namespace

static void dropArrivals(Warp &warp, const Instruction &i, MBarrierPlace place,
                         uint32_t arrivals, uint32_t lanes) {
  MBarrierState state = readState(place);
  if (arrivals > state.expected)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              at(place.offset) + " expects " +
                  count(state.expected, "arrival") + " a phase, and " +
                  std::to_string(arrivals) + " are dropped");
  state.expected -= arrivals;
  writeState(place, state);
}

static void arriveOne(Warp &warp, const Instruction &i, MBarrierPlace place,
                      uint32_t value, uint32_t lanes) {
  if (i.option & kComplete)
    return completeBytes(warp, i, place, value, lanes);
  if (i.option & kExpect)
    expectBytes(warp, i, place, value, lanes);
  if (!(i.option & kArrive))
    return;
  uint32_t arrivals = i.option & kExpect ? 1 : value;
  if (arrivals == 0 || arrivals > kMaxArrivals)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              "an arrival of " + std::to_string(arrivals) +
                  ": 1 to 2^20 - 1 are possible");
  if ((i.option & kNoComplete) && arrivals >= readState(place).pending)
    warp.stop(i, HazardKind::BarrierMisuse, lanes,
              "the arrival completes a phase of " + at(place.offset) +
                  ", which .noComplete rules out");
  if (i.option & kDrop)
    dropArrivals(warp, i, place, arrivals, lanes);
  arriveAt(warp, i, place, arrivals, lanes);
}

static void arrive(Warp &warp, const Instruction &i) {
  reportUndefinedCount(warp, i);
  uint64_t before[kLanes] = {};
  forBarriers(warp, i, [&](uint32_t lane, MBarrierPlace place) {
    before[lane] = readState(place).pack();
    arriveOne(warp, i, place, countOf(warp, i, lane), 1u << lane);
  });
  if (!i.d.exists())
    return;
  forLanes<uint64_t>(warp, i.d, [&](uint32_t lane) { return before[lane]; });
  if (warp.poisoned)
    warp.setPoison(i.d, 8, 0);
}

namespace {
enum WaitOption : uint8_t { kTry = 1, kParity = 2, kLimited = 4 };
} // namespace

static void wait(Warp &warp, const Instruction &i) {
  reportUndefinedCount(warp, i);
  uint32_t done = 0;
  uint32_t offset = 0;
  forBarriers(warp, i, [&](uint32_t lane, MBarrierPlace place) {
    bool awaited =
        i.option & kParity
            ? warp.read<uint32_t>(i.b)[lane] & 1
            : MBarrierState::unpack(warp.read<uint64_t>(i.b)[lane]).phase;
    if (readState(place).phase == awaited) {
      offset = place.offset;
      return;
    }
    done |= 1u << lane;
    acquire(warp,
            place.block->mbarriers.find(place.offset)->second.order.complete);
  });
  // Returning false for all would only make the kernel ask again, unless time
  // is up; who only tests lets the others run first.
  bool limited = i.option & kLimited;
  // With a seed time is sometimes up at once: a kernel has to ask again.
  Cluster &cluster = *warp.block->cluster;
  bool isUp = cluster.grid.launch.seed != 0 && cluster.random() % 8 == 0;
  if (done == 0 && (i.option & kTry) && !isUp && !(limited && warp.timedOut))
    return warp.waitFor(WaitKind::MBarrier, offset, limited);
  if (done == 0 && !(i.option & kTry) && warp.wait.kind != WaitKind::Yield)
    return warp.waitFor(WaitKind::Yield);
  warp.wait = {};
  warp.timedOut = false;
  if (done != 0)
    warp.patience = kPatience;
  ++cluster.counts.barrierWaits;
  warp.setPredicate(i.d, done);
  if (warp.poisoned)
    warp.setPoison(i.d, 0, 0);
}

static void pendingCount(Warp &warp, const Instruction &i) {
  const auto *states = warp.read<uint64_t>(i.a);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return MBarrierState::unpack(states[lane]).pending;
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static void decodeInitialise(DecodeContext &context) {
  context.needOperands(2);
  context.address(0);
  context.b(1, 32);
  context.run(initialise);
}

/// [state,] [address] [, count]
static void decodeArrive(DecodeContext &context, uint8_t option, bool remote) {
  bool returns = option & kArrive;
  size_t first = returns ? 1 : 0;
  context.needOperands(first + 1, first + 2);
  if (returns)
    context.d(0, 64);
  if (remote && context.out().d.exists())
    context.fail("an arrival at a barrier of another block gives no state: "
                 "write _");
  context.address(first);
  if (context.operandCount() == first + 2)
    context.b(first + 1, 32);
  else if (option & (kExpect | kComplete))
    context.fail("needs a number of bytes");
  else if (option & kNoComplete)
    context.fail("needs a number of arrivals");
  context.out().option = option;
  context.run(arrive);
}

static void decodeWait(DecodeContext &context, bool tries) {
  bool parity = context.take("parity");
  context.needOperands(3, tries ? 4 : 3);
  context.d(0, 1);
  context.address(1);
  context.b(2, parity ? 32 : 64);
  // How long to suspend at most.
  bool limited = context.operandCount() == 4;
  if (limited)
    context.source(context.operand(3), 32);
  context.out().option =
      (tries ? kTry : 0) | (parity ? kParity : 0) | (limited ? kLimited : 0);
  context.run(wait);
}

static void decodePendingCount(DecodeContext &context) {
  context.needOneOf({"b64"});
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, 64);
  context.out().poison = Poison::Mix;
  context.run(pendingCount);
}

/// What an instruction that changes the counts does; 0 for others.
static uint8_t takeArriveOption(DecodeContext &context, std::string_view what) {
  if (what == "expect_tx")
    return kExpect;
  if (what == "complete_tx")
    return kComplete;
  if (what != "arrive" && what != "arrive_drop")
    return 0;
  uint8_t option = kArrive | (what == "arrive_drop" ? kDrop : 0);
  if (context.take("expect_tx"))
    option |= kExpect;
  else if (context.take("noComplete"))
    option |= kNoComplete;
  return option;
}

static void decodeMBarrier(DecodeContext &context) {
  Instruction &out = context.out();
  out.kind = Class::Barrier;
  out.poison = Poison::Own;
  std::string_view what = context.needOneOf(
      {"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx",
       "test_wait", "try_wait", "pending_count"});
  if (what == "pending_count")
    return decodePendingCount(context);
  uint8_t option = takeArriveOption(context, what);
  context.takeMemoryOrder();
  Space space = takeSpace(context);
  bool remote = space == Space::SharedCluster;
  if (space != Space::Generic && space != Space::Shared && !remote)
    context.fail("an mbarrier is in shared memory");
  if (remote && !option)
    context.fail("only arrivals and bytes are for barriers of other blocks");
  out.size = static_cast<uint8_t>(space);
  context.needOneOf({"b64"});
  if (option)
    return decodeArrive(context, option, remote);
  if (what == "init")
    return decodeInitialise(context);
  if (what != "inval")
    return decodeWait(context, what == "try_wait");
  context.needOperands(1);
  context.address(0);
  context.run(invalidate);
}

void mlir::moe::emulator::addMBarrierInstructions(InstructionTable &table) {
  table.add("mbarrier", decodeMBarrier);
}
