//===- RemoteStore.cpp - stores that tell an mbarrier -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// st.async and red.async: registers go to shared memory of a block of the
// cluster, some time later, and an mbarrier there learns of the bytes.
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "MBarrier.h"
#include "ReduceDecode.h"

#include <cstring>

using namespace mlir::moe::emulator;

/// Positions in the list: the reduction, then the values.
enum ListPosition : uint32_t { kReduction, kValues };

static void checkUndefined(Warp &warp, const Instruction &i) {
  uint32_t lanes = warp.poisonedLanes(i.b, i.widths[3]);
  for (uint32_t k = kValues; k < i.count; ++k)
    lanes |= warp.poisonedLanes(listOperand(warp, i, k), i.size);
  if (lanes & warp.active)
    warp.reportUndefined(i, lanes & warp.active,
                         "an operand of an asynchronous store");
}

static BulkCopy valuesOf(Warp &warp, const Instruction &i, uint32_t lane) {
  BulkCopy copy{};
  copy.warp = &warp;
  copy.instruction = &i;
  copy.lane = lane;
  copy.bytes = (i.count - kValues) * i.size;
  copy.data.resize(copy.bytes);
  copy.shadow.assign(copy.bytes, 0);
  for (uint32_t k = 0; k + kValues < i.count; ++k)
    std::memcpy(copy.data.data() + size_t(k) * i.size,
                warp.read<uint8_t>(listOperand(warp, i, kValues + k)) +
                    size_t(lane) * i.size,
                i.size);
  copy.isRead = true;
  return copy;
}

static void storeAsync(Warp &warp, const Instruction &i) {
  if (warp.poisoned)
    checkUndefined(warp, i);
  uint64_t addresses[kLanes], barriers[kLanes];
  addressesOf<true>(warp, i, addresses);
  secondAddressesOf<true>(warp, i, barriers);
  const auto *reduction = warp.read<uint32_t>(listOperand(warp, i, kReduction));
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes), bit = 1u << lane;
    BulkCopy copy = valuesOf(warp, i, lane);
    resolveOne(warp, i, Space::SharedCluster, AccessKind::AsyncWrite,
               addresses[lane], copy.bytes, copy.bytes, bit);
    copy.to.blocks = {&blockOf(warp, i, addresses[lane], bit)};
    copy.to.offset = addresses[lane] & kSharedOffsetMask;
    MBarrierPlace place =
        findMBarrier(warp, i, Space::SharedCluster, barriers[lane], bit);
    if (place.block != copy.to.blocks[0])
      warp.stop(i, HazardKind::BarrierMisuse, bit,
                "the mbarrier and the destination are in different blocks");
    copy.barrier = place.offset;
    copy.reduce = reducerOf(reduction[lane]);
    copy.elementBytes = i.size;
    issueBulkCopy(*warp.block->cluster, std::move(copy));
  }
}

void mlir::moe::emulator::decodeAsyncStore(DecodeContext &context,
                                           bool reduces) {
  Instruction &out = context.out();
  out.kind = Class::AsyncCopy;
  out.poison = Poison::Own;
  context.takeMemoryOrder();
  context.needOneOf({"shared::cluster"});
  context.needOneOf({"mbarrier::complete_tx::bytes"});
  bool vector = !context.takeOneOf({"v2", "v4"}).empty();
  context.needOperands(3);
  context.address(0);
  context.secondAddress(2);
  ReduceOperation operation =
      reduces ? takeReduceOperation(context) : ReduceOperation::None;
  Type type = context.takeType();
  if (type.bits != 32 && type.bits != 64)
    context.fail("elements have 32 or 64 bits");
  context.append(context.constant(reductionOf(context, operation, type), 32),
                 2);
  if (vector)
    context.appendVector(1, type.bits, 2);
  else
    context.append(context.source(context.operand(1), type.bits), 2);
  out.size = type.bits / 8;
  context.run(storeAsync);
}
