//===- TensorCopy.cpp - bulk copies, plain and by tensor map -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk, cp.async.bulk.tensor and their reductions. A copy to shared
// memory tells an mbarrier how many bytes have come; one to global memory
// belongs to a group of its thread. What happens between the two is in
// BulkCopy.cpp.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "BulkCopy.h"
#include "MBarrier.h"
#include "MatrixProducts.h"
#include "ReduceDecode.h"

#include <cstring>

using namespace mlir::moe::emulator;

static constexpr uint64_t kBulkAlignment = 16;
static constexpr uint64_t kTensorAlignment = 128;
static constexpr uint32_t kMaxMaskBits = 16;

//===----------------------------------------------------------------------===//
// Operands of one thread
//===----------------------------------------------------------------------===//

namespace {
/// What Instruction::option says.
enum CopyOption : uint8_t { kMulticast = 1, kFromShared = 2, kReadOnly = 4 };

/// Positions in an instruction's list, which a store leaves empty: its barrier,
/// the mask of a multicast, the reduction; then the coordinates.
enum ListPosition : uint32_t { kBarrier, kMask, kReduction, kCoordinates };

/// One thread of an instruction.
struct Thread {
  Warp &warp;
  const Instruction &i;
  uint32_t lane;

  uint32_t bit() const { return 1u << lane; }
  [[noreturn]] void stop(HazardKind kind, const std::string &text) const {
    warp.stop(i, kind, bit(), text);
  }
  uint64_t address(Operand operand, uint32_t width, int64_t offset) const {
    return uint64_t(offset) + (width == 4 ? warp.read<uint32_t>(operand)[lane]
                                          : warp.read<uint64_t>(operand)[lane]);
  }
  uint64_t first() const { return address(i.a, i.widths[2], i.immediate); }
  uint64_t second() const {
    return address(i.b, i.widths[3], i.secondImmediate);
  }
  Operand list(uint32_t position) const {
    return listOperand(warp, i, position);
  }
  BulkCopy copy(uint32_t bytes) const {
    BulkCopy copy{};
    copy.warp = &warp;
    copy.instruction = &i;
    copy.lane = lane;
    copy.bytes = bytes;
    return copy;
  }
};
} // namespace

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
    warp.reportUndefined(i, lanes, "an operand of a bulk copy");
}

/// The tensor map that operand b points to, at the coordinates of the list.
static TensorBox boxOf(const Thread &thread) {
  auto [data, shadow] =
      resolveOne(thread.warp, thread.i, Space::Generic, AccessKind::Read,
                 thread.second(), kTensorMapBytes, 64, thread.bit());
  if (shadow && std::memchr(shadow, 1, kTensorMapBytes))
    thread.warp.reportUndefined(thread.i, thread.bit(), "a tensor map");
  TensorBox box;
  if (!TensorMap::decode(data, box.map))
    thread.stop(HazardKind::TensorMap,
                "the 128 bytes are no tensor map of this device");
  uint32_t rank = thread.i.count - kCoordinates;
  if (box.map.rank != rank)
    thread.stop(HazardKind::TensorMap,
                "a tensor map of rank " + std::to_string(box.map.rank) +
                    " where " + std::to_string(rank) + " is needed");
  for (uint32_t k = 0; k < rank; ++k)
    box.at[k] =
        thread.warp.read<int32_t>(thread.list(kCoordinates + k))[thread.lane];
  return box;
}

/// Finds shared memory of a copy.
static BulkCopy::SharedSide sharedSide(const Thread &thread, Space space,
                                       AccessKind kind, uint64_t address,
                                       const BulkCopy &copy) {
  resolveOne(thread.warp, thread.i, space, kind, address, copy.sharedBytes(),
             copy.box ? kTensorAlignment : kBulkAlignment, thread.bit());
  BulkCopy::SharedSide side;
  side.blocks = {&blockOf(thread.warp, thread.i, address, thread.bit())};
  side.offset = address & kSharedOffsetMask;
  return side;
}

/// The blocks that the mask of a multicast names, in place of the one that the
/// address is in.
static void multicast(const Thread &thread, BulkCopy &copy) {
  uint32_t mask = thread.warp.read<uint16_t>(thread.list(kMask))[thread.lane];
  std::vector<Block> &blocks = thread.warp.block->cluster->blocks;
  const Block *addressed = copy.to.blocks[0];
  copy.to.blocks.clear();
  for (uint32_t rank = 0; rank < kMaxMaskBits; ++rank) {
    if (!(mask >> rank & 1))
      continue;
    if (rank >= blocks.size())
      thread.stop(HazardKind::InvalidValue,
                  "the mask names block " + std::to_string(rank) +
                      " of a cluster of " + std::to_string(blocks.size()));
    checkMBarrier(thread.warp, thread.i, blocks[rank], copy.barrier,
                  thread.bit());
    // What the address names was looked at with the address.
    if (&blocks[rank] != addressed)
      checkTileReads(thread.warp, thread.i, thread.bit(), blocks[rank],
                     copy.to.offset, copy.sharedBytes());
    copy.to.blocks.push_back(&blocks[rank]);
  }
}

/// Where a copy to shared memory goes, and the mbarriers that it tells.
static void setSharedTarget(const Thread &thread, BulkCopy &copy) {
  copy.to = sharedSide(thread, Space::SharedCluster, AccessKind::AsyncWrite,
                       thread.first(), copy);
  uint64_t barrier = thread.address(thread.list(kBarrier), thread.i.size,
                                    thread.i.thirdImmediate);
  MBarrierPlace place = findMBarrier(
      thread.warp, thread.i, Space::SharedCluster, barrier, thread.bit());
  copy.barrier = place.offset;
  if (thread.i.option & kMulticast)
    return multicast(thread, copy);
  if (copy.to.blocks[0] != place.block)
    thread.stop(HazardKind::BarrierMisuse,
                "the mbarrier and the destination are in different blocks");
}

/// Whose group it belongs to, and what it does besides copying.
static void setGroup(const Thread &thread, BulkCopy &copy) {
  if (!thread.warp.copies)
    thread.warp.copies = std::make_unique<AsyncCopies>();
  copy.group = thread.warp.copies->committedBulk[thread.lane];
}

static void setReduction(const Thread &thread, BulkCopy &copy,
                         ElementType type) {
  auto operation = ReduceOperation(
      thread.warp.read<uint32_t>(thread.list(kReduction))[thread.lane] & 0xff);
  if (operation == ReduceOperation::None)
    return;
  copy.reduce = findReducer(operation, type);
  copy.elementBytes = bytesOf(type);
  if (!copy.reduce)
    thread.stop(HazardKind::TensorMap,
                "elements of the tensor map's type cannot be combined so");
}

static uint32_t bytesToCopy(const Thread &thread) {
  uint32_t bytes = thread.warp.read<uint32_t>(thread.i.c)[thread.lane];
  if (bytes % kBulkAlignment != 0)
    thread.stop(HazardKind::Misaligned,
                "a copy of " + std::to_string(bytes) +
                    " bytes, which is no multiple of 16");
  return bytes;
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

template <typename Function>
static void forThreads(Warp &warp, const Instruction &i, Function function) {
  checkUndefined(warp, i);
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
    function(Thread{warp, i, firstLane(lanes)});
}

static void issue(const Thread &thread, BulkCopy copy) {
  issueBulkCopy(*thread.warp.block->cluster, std::move(copy));
}

static BulkCopy tensorCopy(const Thread &thread) {
  TensorBox box = boxOf(thread);
  int64_t begin = box.at[0] * int64_t(bytesOf(box.map.type));
  if (begin % int64_t(kBulkAlignment) != 0)
    thread.stop(HazardKind::TensorMap,
                "a box that begins " + std::to_string(begin) +
                    " bytes into a row of the tensor: a multiple of 16 is "
                    "needed");
  uint64_t bytes = box.map.boxBytes();
  uint64_t shared = thread.warp.block->cluster->grid.sharedBytes;
  if (bytes > shared)
    thread.stop(HazardKind::OutOfBounds,
                "a box of " + std::to_string(bytes) +
                    " bytes, where shared memory has " +
                    std::to_string(shared));
  BulkCopy copy = thread.copy(static_cast<uint32_t>(bytes));
  copy.box = box;
  return copy;
}

static void loadTensor(Warp &warp, const Instruction &i) {
  forThreads(warp, i, [](const Thread &thread) {
    BulkCopy copy = tensorCopy(thread);
    setSharedTarget(thread, copy);
    issue(thread, std::move(copy));
  });
}

static void storeTensor(Warp &warp, const Instruction &i) {
  forThreads(warp, i, [](const Thread &thread) {
    BulkCopy copy = tensorCopy(thread);
    for (uint32_t k = 0; k < copy.box->map.rank; ++k)
      if (copy.box->at[k] < 0)
        thread.stop(HazardKind::TensorMap,
                    "a store at coordinate " + std::to_string(copy.box->at[k]) +
                        " of dimension " + std::to_string(k) +
                        ": only loads may begin before the tensor");
    copy.from = sharedSide(thread, Space::Shared, AccessKind::AsyncRead,
                           thread.first(), copy);
    setReduction(thread, copy, copy.box->map.type);
    setGroup(thread, copy);
    issue(thread, std::move(copy));
  });
}

static ElementType reducedType(const Thread &thread) {
  return ElementType(
      thread.warp.read<uint32_t>(thread.list(kReduction))[thread.lane] >> 8);
}

/// To shared memory, from global memory or another block.
static void loadBulk(Warp &warp, const Instruction &i) {
  forThreads(warp, i, [](const Thread &thread) {
    BulkCopy copy = thread.copy(bytesToCopy(thread));
    if (copy.bytes == 0)
      return;
    setSharedTarget(thread, copy);
    setReduction(thread, copy, reducedType(thread));
    copy.address = thread.second();
    if (thread.i.option & kFromShared)
      copy.from = sharedSide(thread, Space::Shared, AccessKind::AsyncRead,
                             copy.address, copy);
    else
      resolveOne(thread.warp, thread.i, Space::Global, AccessKind::AsyncRead,
                 copy.address, copy.bytes, kBulkAlignment, thread.bit());
    issue(thread, std::move(copy));
  });
}

static void storeBulk(Warp &warp, const Instruction &i) {
  forThreads(warp, i, [](const Thread &thread) {
    BulkCopy copy = thread.copy(bytesToCopy(thread));
    if (copy.bytes == 0)
      return;
    copy.address = thread.first();
    resolveOne(thread.warp, thread.i, Space::Global, AccessKind::AsyncWrite,
               copy.address, copy.bytes, kBulkAlignment, thread.bit());
    copy.from = sharedSide(thread, Space::Shared, AccessKind::AsyncRead,
                           thread.second(), copy);
    setReduction(thread, copy, reducedType(thread));
    setGroup(thread, copy);
    issue(thread, std::move(copy));
  });
}

/// Bytes come to the cache: values do not change, but have to be there.
static void prefetchBulk(Warp &warp, const Instruction &i) {
  forThreads(warp, i, [](const Thread &thread) {
    if (uint32_t bytes = bytesToCopy(thread))
      resolveOne(thread.warp, thread.i, Space::Global, AccessKind::AsyncRead,
                 thread.second(), bytes, kBulkAlignment, thread.bit());
  });
}

static void prefetchTensor(Warp &warp, const Instruction &i) {
  forThreads(warp, i, [](const Thread &thread) { boxOf(thread); });
}

static void commitGroup(Warp &warp, const Instruction &) {
  if (!warp.copies)
    warp.copies = std::make_unique<AsyncCopies>();
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
    ++warp.copies->committedBulk[firstLane(lanes)];
}

static void waitGroup(Warp &warp, const Instruction &i) {
  waitBulkCopies(warp, warp.active, static_cast<uint32_t>(i.immediate),
                 i.option & kReadOnly);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The policy that .L2::cache_hint announces: operand `index`.
static void takePolicy(DecodeContext &context, bool hint, size_t index) {
  if (hint)
    context.source(context.operand(index), 64);
}

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

static void appendCoordinates(DecodeContext &context, size_t index,
                              uint32_t rank) {
  const OperandSyntax &map = context.operand(index);
  if (map.elements.size() != rank)
    context.fail("has " + std::to_string(map.elements.size()) +
                 " coordinates, but needs " + std::to_string(rank));
  for (const OperandSyntax &element : map.elements)
    context.append(context.source(element, 32), 2);
}

/// ListPosition::kReduction: the operation and the type, or 0.
static void appendReduction(DecodeContext &context, bool reduces, bool tensor) {
  uint32_t value = 0;
  if (reduces) {
    ReduceOperation operation = takeReduceOperation(context);
    context.take("noftz");
    value = tensor ? static_cast<uint32_t>(operation)
                   : reductionOf(context, operation, context.takeType());
  }
  context.append(context.constant(value, 32), 2);
}

/// To shared memory: [to], [from], ..., [mbarrier] {, mask} {, policy}
static void decodeToShared(DecodeContext &context, size_t barrier, bool reduces,
                           bool tensor) {
  Instruction &out = context.out();
  context.needOneOf({"mbarrier::complete_tx::bytes"});
  bool cast = context.take("multicast::cluster");
  bool hint = context.take("L2::cache_hint");
  context.needOperands(barrier + 1 + cast + hint);
  context.address(0);
  context.secondAddress(1);
  appendBarrier(context, barrier);
  out.option |= cast ? kMulticast : 0;
  context.append(cast ? context.source(context.operand(barrier + 1), 16)
                      : context.constant(0, 16),
                 2);
  appendReduction(context, reduces, tensor);
  takePolicy(context, hint, barrier + 1 + cast);
}

/// To global memory; .bulk_group was taken.
static void decodeToGlobal(DecodeContext &context, size_t operands,
                           bool reduces, bool tensor) {
  context.needOneOf({"global"});
  context.needOneOf({"shared::cta"});
  bool hint = context.take("L2::cache_hint");
  context.needOperands(operands + hint);
  takePolicy(context, hint, operands);
  // The positions of a barrier and a mask stay empty.
  context.append(context.constant(0, 64), 2);
  context.append(context.constant(0, 16), 2);
  appendReduction(context, reduces, tensor);
}

static uint32_t takeRank(DecodeContext &context) {
  std::string_view dimensions =
      context.needOneOf({"1d", "2d", "3d", "4d", "5d"});
  return static_cast<uint32_t>(dimensions[0] - '0');
}

static void decodeTensor(DecodeContext &context, bool reduces) {
  uint32_t rank = takeRank(context);
  context.take("tile");
  if (context.take("bulk_group")) {
    decodeToGlobal(context, 2, reduces, true);
    context.secondAddress(0);
    context.address(1);
    appendCoordinates(context, 0, rank);
    return context.run(storeTensor);
  }
  if (reduces)
    context.fail("a reduction by tensor map goes to global memory");
  context.needOneOf({"shared::cluster", "shared::cta"});
  context.needOneOf({"global"});
  decodeToShared(context, 2, false, true);
  appendCoordinates(context, 1, rank);
  context.run(loadTensor);
}

static void decodeLinear(DecodeContext &context, bool reduces) {
  context.operand(2);
  if (context.take("bulk_group")) {
    decodeToGlobal(context, 3, reduces, false);
    context.address(0);
    context.secondAddress(1);
    context.c(2, 32);
    return context.run(storeBulk);
  }
  bool fromGlobal = context.take("global");
  bool toCluster = context.take("shared::cluster");
  if (!toCluster || !fromGlobal)
    context.needOneOf({"shared::cta"});
  if (!toCluster && !fromGlobal)
    context.fail("copies within a block's shared memory do not exist");
  if (!fromGlobal)
    context.out().option |= kFromShared;
  else if (reduces)
    context.fail("a reduction reads shared memory");
  decodeToShared(context, 3, reduces, false);
  context.c(2, 32);
  context.run(loadBulk);
}

static void decodePrefetch(DecodeContext &context) {
  bool tensor = context.take("tensor");
  uint32_t rank = tensor ? takeRank(context) : 0;
  context.needOneOf({"L2"});
  context.needOneOf({"global"});
  bool hint = context.take("L2::cache_hint");
  size_t operands = tensor ? 1 : 2;
  context.needOperands(operands + hint);
  takePolicy(context, hint, operands);
  context.secondAddress(0);
  if (!tensor) {
    context.c(1, 32);
    return context.run(prefetchBulk);
  }
  context.take("tile");
  context.append(context.constant(0, 64), 2);
  context.append(context.constant(0, 16), 2);
  context.append(context.constant(0, 32), 2);
  appendCoordinates(context, 0, rank);
  context.run(prefetchTensor);
}

void mlir::moe::emulator::decodeBulkCopy(DecodeContext &context) {
  bool reduces = context.take("reduce");
  if (context.take("commit_group")) {
    context.needOperands(0);
    return context.run(commitGroup);
  }
  if (context.take("wait_group")) {
    context.out().option = context.take("read") ? kReadOnly : 0;
    context.needOperands(1);
    context.out().immediate = context.integer(0);
    return context.run(waitGroup);
  }
  if (context.take("prefetch"))
    return decodePrefetch(context);
  if (context.take("tensor"))
    return decodeTensor(context, reduces);
  decodeLinear(context, reduces);
}
