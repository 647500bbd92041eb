//===- TensorCopy.cpp - bulk copies, plain and by tensor map -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One thread starts a copy; it lands later, in the order that the schedule
// chooses. Between the two its destination counts as undefined. A load tells an
// mbarrier how many bytes have come; a store belongs to a group of its thread.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "MBarrier.h"
#include "TensorBox.h"

#include <cstring>

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// Operands of one thread
//===----------------------------------------------------------------------===//

namespace {
/// What Instruction::option says.
enum CopyOption : uint8_t { kMulticast = 1, kTensor = 2 };

/// Positions in an instruction's list: its barrier and its offset are always
/// there, then the mask of a multicast, then the coordinates.
enum ListPosition : uint32_t { kBarrier, kMask, kCoordinates };

/// Where a load goes: the blocks of its multicast, or one.
struct Destination {
  std::vector<Block *> blocks;
  uint32_t offset;
  uint32_t barrier;
};
} // namespace

static uint64_t addressIn(const Warp &warp, Operand operand, uint32_t width,
                          uint32_t lane) {
  return width == 4 ? warp.read<uint32_t>(operand)[lane]
                    : warp.read<uint64_t>(operand)[lane];
}

static void checkUndefined(Warp &warp, const Instruction &i) {
  if (!warp.poisoned)
    return;
  uint32_t lanes = warp.poisonedLanes(i.a, i.widths[2]) |
                   warp.poisonedLanes(i.b, i.widths[3]) |
                   warp.poisonedLanes(i.c, i.widths[4]);
  for (uint32_t k = 0; k < i.count; ++k)
    lanes |= warp.poisonedLanes(listOperand(warp, i, k), k == kMask ? 2 : 4);
  lanes &= warp.active;
  if (lanes)
    warp.reportUndefined(i, lanes, "an operand of a copy");
}

static TensorMap tensorMapAt(Warp &warp, const Instruction &i, uint64_t address,
                             uint32_t lanes) {
  auto [data, shadow] =
      resolveOne(warp, i, Space::Generic, AccessKind::AsyncRead, address,
                 kTensorMapBytes, 64, lanes);
  TensorMap map;
  if (!TensorMap::decode(data, map))
    warp.stop(i, HazardKind::TensorMap, lanes,
              "the 128 bytes are no tensor map of this device");
  return map;
}

static Destination destinationOf(Warp &warp, const Instruction &i,
                                 uint64_t bytes, uint64_t alignment,
                                 uint32_t lane) {
  uint32_t bit = 1u << lane;
  uint64_t address =
      addressIn(warp, i.a, i.widths[2], lane) + uint64_t(i.immediate);
  Operand barrier = listOperand(warp, i, kBarrier);
  uint64_t barrierAddress =
      addressIn(warp, barrier, i.size, lane) + uint64_t(i.thirdImmediate);
  resolveOne(warp, i, Space::SharedCluster, AccessKind::AsyncWrite, address,
             bytes, alignment, bit);
  MBarrierPlace place =
      findMBarrier(warp, i, Space::SharedCluster, barrierAddress, bit);
  Destination to;
  to.offset = address & kSharedOffsetMask;
  to.barrier = place.offset;
  if (!(i.option & kMulticast)) {
    to.blocks.push_back(&blockOf(warp, i, address, bit));
    if (to.blocks[0] != place.block)
      warp.stop(i, HazardKind::BarrierMisuse, bit,
                "the mbarrier and the destination are in different blocks");
    return to;
  }
  uint32_t mask = warp.read<uint16_t>(listOperand(warp, i, kMask))[lane];
  std::vector<Block> &blocks = warp.block->cluster->blocks;
  for (uint32_t rank = 0; rank < 16; ++rank) {
    if (!(mask >> rank & 1))
      continue;
    if (rank >= blocks.size())
      warp.stop(i, HazardKind::InvalidValue, bit,
                "the mask names block " + std::to_string(rank) +
                    " of a cluster of " + std::to_string(blocks.size()));
    if (!blocks[rank].mbarriers.count(to.barrier))
      warp.stop(i, HazardKind::BarrierMisuse, bit,
                "block " + std::to_string(rank) +
                    " of the cluster has not initialised the mbarrier");
    to.blocks.push_back(&blocks[rank]);
  }
  return to;
}

/// What was there may no longer be used.
static void markInFlight(const Warp &warp, const Destination &to,
                         uint64_t bytes) {
  if (!warp.block->cluster->grid.program.checks)
    return;
  for (Block *block : to.blocks)
    std::memset(block->sharedShadow + to.offset, 1, bytes);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static void loadTensor(Warp &warp, const Instruction &i) {
  checkUndefined(warp, i);
  uint32_t rank = i.count - kCoordinates;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes), bit = 1u << lane;
    TensorMap map = tensorMapAt(warp, i,
                                addressIn(warp, i.b, i.widths[3], lane) +
                                    uint64_t(i.secondImmediate),
                                bit);
    if (map.rank != rank)
      warp.stop(i, HazardKind::TensorMap, bit,
                "a tensor map of rank " + std::to_string(map.rank) + " where " +
                    std::to_string(rank) + " is needed");
    TensorBox box(map);
    for (uint32_t k = 0; k < rank; ++k)
      box.at[k] =
          warp.read<int32_t>(listOperand(warp, i, kCoordinates + k))[lane];
    uint64_t bytes = map.boxBytes();
    Destination to = destinationOf(warp, i, bytes, 128, lane);
    checkTensorMemory(warp, i, box, bit);
    markInFlight(warp, to, bytes);
    Cluster &cluster = *warp.block->cluster;
    cluster.counts.sharedBytesWritten += bytes * to.blocks.size();
    cluster.counts.globalBytesRead += bytes;
    cluster.pending.push_back([&warp, &i, box, to, bytes, bit] {
      for (Block *block : to.blocks) {
        box.load(*block, to.offset);
        completeBytes(warp, i, {block, to.barrier}, int64_t(bytes), bit);
      }
    });
  }
}

static void loadBulk(Warp &warp, const Instruction &i) {
  checkUndefined(warp, i);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes), bit = 1u << lane;
    uint32_t bytes = warp.read<uint32_t>(i.c)[lane];
    if (bytes % 16 != 0)
      warp.stop(i, HazardKind::Misaligned, bit,
                "a copy of " + std::to_string(bytes) +
                    " bytes, which is no multiple of 16");
    if (bytes == 0)
      continue;
    uint64_t address =
        addressIn(warp, i.b, i.widths[3], lane) + uint64_t(i.secondImmediate);
    auto [from, shadow] = resolveOne(
        warp, i, Space::Global, AccessKind::AsyncRead, address, bytes, 16, bit);
    Destination to = destinationOf(warp, i, bytes, 16, lane);
    markInFlight(warp, to, bytes);
    Cluster &cluster = *warp.block->cluster;
    cluster.counts.sharedBytesWritten += uint64_t(bytes) * to.blocks.size();
    cluster.counts.globalBytesRead += bytes;
    cluster.pending.push_back(
        [&warp, &i, from = from, shadow = shadow, to, bytes, bit] {
          for (Block *block : to.blocks) {
            std::memcpy(block->shared + to.offset, from, bytes);
            if (shadow)
              std::memcpy(block->sharedShadow + to.offset, shadow, bytes);
            else
              std::memset(block->sharedShadow + to.offset, 0, bytes);
            completeBytes(warp, i, {block, to.barrier}, bytes, bit);
          }
        });
  }
}

//===----------------------------------------------------------------------===//
// Stores and their groups
//===----------------------------------------------------------------------===//

static void addStore(Warp &warp, uint32_t lane, Completion action) {
  if (!warp.copies)
    warp.copies = std::make_unique<AsyncCopies>();
  warp.copies->stores.push_back(
      {lane, warp.copies->committedStores[lane], std::move(action)});
}

static void storeTensor(Warp &warp, const Instruction &i) {
  checkUndefined(warp, i);
  uint32_t rank = i.count - kCoordinates;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes), bit = 1u << lane;
    TensorMap map = tensorMapAt(warp, i,
                                addressIn(warp, i.b, i.widths[3], lane) +
                                    uint64_t(i.secondImmediate),
                                bit);
    if (map.rank != rank)
      warp.stop(i, HazardKind::TensorMap, bit,
                "a tensor map of rank " + std::to_string(map.rank) + " where " +
                    std::to_string(rank) + " is needed");
    TensorBox box(map);
    for (uint32_t k = 0; k < rank; ++k)
      box.at[k] =
          warp.read<int32_t>(listOperand(warp, i, kCoordinates + k))[lane];
    uint64_t bytes = map.boxBytes();
    uint64_t address =
        addressIn(warp, i.a, i.widths[2], lane) + uint64_t(i.immediate);
    resolveOne(warp, i, Space::Shared, AccessKind::AsyncRead, address, bytes,
               128, bit);
    checkTensorMemory(warp, i, box, bit);
    Counts &counts = warp.block->cluster->counts;
    counts.sharedBytesRead += bytes;
    counts.globalBytesWritten += bytes;
    uint32_t offset = address & kSharedOffsetMask;
    addStore(warp, lane, [&warp, &i, box, offset, bit] {
      if (!box.store(*warp.block, offset))
        warp.reportUndefined(i, bit, "what is stored in global memory");
    });
  }
}

static void storeBulk(Warp &warp, const Instruction &i) {
  checkUndefined(warp, i);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes), bit = 1u << lane;
    uint32_t bytes = warp.read<uint32_t>(i.c)[lane];
    if (bytes % 16 != 0)
      warp.stop(i, HazardKind::Misaligned, bit,
                "a copy of " + std::to_string(bytes) +
                    " bytes, which is no multiple of 16");
    if (bytes == 0)
      continue;
    auto [to, toShadow] = resolveOne(
        warp, i, Space::Global, AccessKind::AsyncWrite,
        addressIn(warp, i.a, i.widths[2], lane) + uint64_t(i.immediate), bytes,
        16, bit);
    auto [from, fromShadow] = resolveOne(
        warp, i, Space::Shared, AccessKind::AsyncRead,
        addressIn(warp, i.b, i.widths[3], lane) + uint64_t(i.secondImmediate),
        bytes, 16, bit);
    Counts &counts = warp.block->cluster->counts;
    counts.sharedBytesRead += bytes;
    counts.globalBytesWritten += bytes;
    addStore(warp, lane,
             [&warp, &i, to = to, toShadow = toShadow, from = from,
              fromShadow = fromShadow, bytes, bit] {
               std::memcpy(to, from, bytes);
               if (fromShadow && std::memchr(fromShadow, 1, bytes))
                 warp.reportUndefined(i, bit,
                                      "what is stored in global memory");
               if (toShadow && fromShadow)
                 std::memcpy(toShadow, fromShadow, bytes);
             });
  }
}

static void commitStores(Warp &warp, const Instruction &) {
  if (!warp.copies)
    warp.copies = std::make_unique<AsyncCopies>();
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
    ++warp.copies->committedStores[firstLane(lanes)];
}

/// Landing is reading and writing at once: `.read` waits for no less.
static void waitStores(Warp &warp, const Instruction &i) {
  if (!warp.copies)
    return;
  AsyncCopies &copies = *warp.copies;
  std::vector<BulkStore> rest;
  for (BulkStore &store : copies.stores) {
    bool waited = warp.active >> store.lane & 1;
    if (waited && store.group + uint64_t(i.immediate) <
                      copies.committedStores[store.lane])
      store.land();
    else
      rest.push_back(std::move(store));
  }
  copies.stores = std::move(rest);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// An operand that the list keeps for all threads: an address without offset.
static void appendBarrier(DecodeContext &context, size_t index) {
  Instruction &out = context.out();
  const OperandSyntax &barrier = context.operand(index);
  if (barrier.kind != OperandSyntax::Address || !barrier.elements.empty())
    context.fail("operand " + std::to_string(index + 1) +
                 " has to be the address of an mbarrier");
  OperandSyntax base = barrier;
  base.kind = barrier.base;
  base.value = 0;
  uint32_t bits = context.registerBits(base);
  out.size = static_cast<uint8_t>(bits == 32 ? 4 : 8);
  out.thirdImmediate = static_cast<int64_t>(barrier.value);
  context.append(context.source(base, bits == 32 ? 32 : 64), 2);
}

/// Barrier, mask and coordinates; `next` is the operand after the barrier.
static void decodeLoad(DecodeContext &context, size_t barrier) {
  Instruction &out = context.out();
  context.needOneOf({"mbarrier::complete_tx::bytes"});
  bool multicast = context.take("multicast::cluster");
  bool hint = context.take("L2::cache_hint");
  context.needOperands(barrier + 1 + multicast + hint);
  context.address(0);
  context.secondAddress(1);
  appendBarrier(context, barrier);
  out.option |= multicast ? kMulticast : 0;
  context.append(multicast ? context.source(context.operand(barrier + 1), 16)
                           : context.constant(0, 16),
                 2);
  if (hint)
    context.source(context.operand(barrier + 1 + multicast), 64);
}

static void appendCoordinates(DecodeContext &context, size_t index,
                              uint32_t rank) {
  const OperandSyntax &map = context.operand(index);
  if (map.elements.size() != rank)
    context.fail("has " + std::to_string(map.elements.size()) +
                 " coordinates, but needs " + std::to_string(rank));
  for (const OperandSyntax &element : map.elements)
    context.append(context.source(element, 32), 2);
}

static void decodeTensor(DecodeContext &context) {
  std::string_view dimensions =
      context.needOneOf({"1d", "2d", "3d", "4d", "5d"});
  auto rank = static_cast<uint32_t>(dimensions[0] - '0');
  context.out().option = kTensor;
  bool store = context.take("global");
  if (store && context.take("shared::cta")) {
    context.take("tile");
    context.needOneOf({"bulk_group"});
    bool hint = context.take("L2::cache_hint");
    context.needOperands(hint ? 3 : 2);
    context.secondAddress(0);
    context.address(1);
    // The positions of a barrier and a mask stay empty.
    context.append(context.constant(0, 64), 2);
    context.append(context.constant(0, 16), 2);
    appendCoordinates(context, 0, rank);
    if (hint)
      context.source(context.operand(2), 64);
    return context.run(storeTensor);
  }
  context.needOneOf({"shared::cluster", "shared::cta"});
  context.take("tile");
  decodeLoad(context, 2);
  appendCoordinates(context, 1, rank);
  context.run(loadTensor);
}

void mlir::moe::emulator::decodeBulkCopy(DecodeContext &context) {
  if (context.take("commit_group")) {
    context.needOperands(0);
    return context.run(commitStores);
  }
  if (context.take("wait_group")) {
    context.take("read");
    context.needOperands(1);
    context.out().immediate = context.integer(0);
    return context.run(waitStores);
  }
  if (context.take("tensor"))
    return decodeTensor(context);
  std::string_view to =
      context.needOneOf({"shared::cluster", "shared::cta", "global"});
  if (to == "global") {
    context.needOneOf({"shared::cta"});
    context.needOneOf({"bulk_group"});
    context.needOperands(3);
    context.address(0);
    context.secondAddress(1);
    context.c(2, 32);
    return context.run(storeBulk);
  }
  context.needOneOf({"global"});
  decodeLoad(context, 3);
  context.c(2, 32);
  context.run(loadBulk);
}

void mlir::moe::emulator::addTensorCopyInstructions(InstructionTable &) {
  // All of them begin with `cp`, which AsyncCopy.cpp enters.
}
